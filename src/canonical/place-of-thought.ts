/**
 * Where in its answer a model thought; encoded in the ids of pieces of thinking, for a dialect that keeps thinking apart from text
 * and calls.
 */

export interface PlaceOfThought {
  /** UTF-16 units of the answer's text before the thought, breaks included. */
  readonly text: number
  /** Number of earlier calls that the client runs. */
  readonly calls: number
}

/**
 * Builds the id of piece `index`: the provider's own id, if any, followed by the place. All ids of an answer differ, because some
 * clients keep only the first of several items with one id. All characters are ones that providers allow in ids.
 */
export const placedId = (id: string | undefined, index: number, { text, calls }: PlaceOfThought): string =>
  `${id === undefined ? '' : `${id}_`}pbt${index}t${text}c${calls}`

/** Returns the provider's own id and the place; either may be missing. */
export const readPlacedId = (given: string | null): { readonly id: string | null; readonly place: PlaceOfThought | null } => {
  const mark = given === null ? null : PLACE.exec(given)
  if (given === null || mark === null) return { id: given, place: null }
  const id = given.slice(0, mark.index)
  return { id: id === '' ? null : id, place: { text: Number(mark[1]), calls: Number(mark[2]) } }
}

const PLACE = /(?:^|_)pbt\d{1,9}t(\d{1,9})c(\d{1,9})$/
