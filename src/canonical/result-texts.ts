/** A result of several texts: one text for dialects that take only one, and each of them for the others. */
import type { Part } from './prompt.ts'

type Result = Extract<Part, { type: 'tool-result' }>

export const joinedResult = (texts: readonly string[]): Pick<Result, 'text' | 'texts'> =>
  texts.length > 1 ? { text: joined(texts), texts } : { text: joined(texts) }

/** The texts of a result, one if its text was replaced since. */
export const textsOfResult = ({ text, texts }: Pick<Result, 'text' | 'texts'>): readonly string[] =>
  texts !== undefined && joined(texts) === text ? texts : [text]

const joined = (texts: readonly string[]): string => texts.join('\n')
