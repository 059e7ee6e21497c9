import type { JsonMember } from './json-scan.ts'

/** A text to search, and the positions of the members' values in it. */
export interface Searched {
  readonly text: string
  readonly values: readonly { readonly key: string; readonly start: number; readonly end: number }[]
}

/** Leaves out what a search may pass over. */
export const searchedOf = (held: string, members: readonly JsonMember[]): Searched => {
  if (members.every(({ texts }) => texts === undefined)) return { text: held, values: members }
  const pieces: string[] = []
  let from = 0
  let leftOut = 0
  const values = members.map(({ key, start: heldStart, end: heldEnd, texts = [] }) => {
    const start = heldStart - leftOut
    for (let at = 0; at < texts.length; at += 2) {
      const [begin = 0, end = 0] = [texts[at], texts[at + 1]]
      pieces.push(held.slice(from, begin))
      leftOut += end - begin
      from = end
    }
    return { key, start, end: heldEnd - leftOut }
  })
  pieces.push(held.slice(from))
  return { text: pieces.join(''), values }
}
