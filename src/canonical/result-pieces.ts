/** A result of texts and media: one text for dialects that take only text, and its pieces in their order for the others. */
import type { Part } from './prompt.ts'

type Result = Extract<Part, { type: 'tool-result' }>

/** The words of a result, and its pieces if they are more than one text. */
export const joinedResult = (pieces: readonly Part[]): Pick<Result, 'text' | 'pieces'> => {
  const text = joined(pieces)
  return pieces.length === 0 || (pieces.length === 1 && pieces[0]?.type === 'text') ? { text } : { text, pieces }
}

/** The pieces of a result in their order. If its text was replaced since, that is one text before the media. */
export const piecesOfResult = (result: Pick<Result, 'text' | 'pieces'>): readonly Part[] => {
  const { text, pieces = [] } = result
  return joined(pieces) === text ? pieces : [{ type: 'text', text }, ...mediaOfResult(result)]
}

export const mediaOfResult = ({ pieces = [] }: Pick<Result, 'pieces'>): readonly Part[] => pieces.filter(({ type }) => type !== 'text')

const joined = (pieces: readonly Part[]): string => pieces.flatMap((piece) => (piece.type === 'text' ? [piece.text] : [])).join('\n')
