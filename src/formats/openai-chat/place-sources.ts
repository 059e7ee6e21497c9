/** Places the sources of a message's text that was split because the model thought in the middle of it. */
import { PARAGRAPH_BREAK } from '../../canonical/event.ts'
import type { Part, UrlCitation } from '../../canonical/prompt.ts'

/**
 * `whole`: the original single text, whose positions the sources use; null if there were several texts, in which case the sources
 * go to the last one.
 */
export const withSources = (parts: readonly Part[], urls: readonly UrlCitation[], whole: string | null): readonly Part[] => {
  if (urls.length === 0) return parts
  const last = parts.findLastIndex(({ type }) => type === 'text')
  if (last < 0) return parts
  const pieces = whole === null ? [] : piecesOf(parts, whole)
  const own = pieces.length > 1 ? sourcesByPart(pieces, urls) : new Map([[last, urls]])
  return parts.map((part, index) => {
    const annotations = own.get(index)
    return part.type === 'text' && annotations !== undefined ? { ...part, annotations } : part
  })
}

/** A piece of the text: the index of its part, and its position in the whole. */
interface Piece {
  readonly index: number
  readonly start: number
  readonly length: number
}

const piecesOf = (parts: readonly Part[], whole: string): readonly Piece[] => {
  const pieces: Piece[] = []
  let end = 0
  for (const [index, part] of parts.entries()) {
    if (part.type !== 'text') continue
    // A break between two pieces may have been left out.
    const start = whole.startsWith(part.text, end) ? end : end + PARAGRAPH_BREAK.length
    pieces.push({ index, start, length: part.text.length })
    end = start + part.text.length
  }
  return pieces
}

/**
 * Sources keyed by the index of the part in which each begins, or of the last part if it states no position; positions are
 * relative to that part.
 */
const sourcesByPart = (pieces: readonly Piece[], urls: readonly UrlCitation[]): ReadonlyMap<number, readonly UrlCitation[]> => {
  const own = new Map<number, UrlCitation[]>()
  let at = 0
  for (const url of urls.toSorted((a, b) => beginning(a) - beginning(b))) {
    while (at < pieces.length - 1 && beginning(url) >= (pieces[at + 1]?.start ?? 0)) at += 1
    const piece = pieces[at]
    if (piece === undefined) break
    const given = own.get(piece.index)
    if (given === undefined) own.set(piece.index, [within(piece, url)])
    else given.push(within(piece, url))
  }
  return own
}

const beginning = ({ start }: UrlCitation): number => start ?? Number.MAX_SAFE_INTEGER

const within = ({ start: before, length }: Piece, url: UrlCitation): UrlCitation => {
  const { start, end } = url
  return start === null || end === null ? url : { ...url, start: Math.max(start - before, 0), end: Math.min(end - before, length) }
}
