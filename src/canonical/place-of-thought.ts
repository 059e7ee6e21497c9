/** Where in its answer a model thought, written into the ids of pieces of thinking, in a dialect that keeps thinking apart from words and calls. */

export interface PlaceOfThought {
  /** UTF-16 units of the answer's text before it, breaks included. */
  readonly text: number
  /** Calls before it that the client runs. */
  readonly calls: number
}

/**
 * The id of piece `index`: its maker's own id, if it has one, and its place. No two pieces of an answer have one id, since some
 * programs keep only the first of those that do. All of it are characters that makers allow in ids.
 */
export const placedId = (id: string | undefined, index: number, { text, calls }: PlaceOfThought): string =>
  `${id === undefined ? '' : `${id}_`}pbt${index}t${text}c${calls}`

/** The maker's own id, and the place; either may be missing. */
export const readPlacedId = (given: string | null): { readonly id: string | null; readonly place: PlaceOfThought | null } => {
  const mark = given === null ? null : PLACE.exec(given)
  if (given === null || mark === null) return { id: given, place: null }
  const id = given.slice(0, mark.index)
  return { id: id === '' ? null : id, place: { text: Number(mark[1]), calls: Number(mark[2]) } }
}

const PLACE = /(?:^|_)pbt\d{1,9}t(\d{1,9})c(\d{1,9})$/
