/** The parts of a preset that are for management keys only (docs/contract/presets.md#secrets): its system prompt, the instructions and the credentials of its tools. */
import { once } from '../lib/once.ts'
import { markedAt, quotesOf, type Range } from '../lib/hide-quotes.ts'
import { HIDDEN_MARK } from './preset-secrets.ts'

export interface HiddenTexts {
  /** The hidden texts, the longest first. Wherever the request is shown, a mark replaces them. */
  readonly texts: readonly string[]
  readonly credentials: readonly string[]
}

export interface HiddenPrompt extends HiddenTexts {
  /** The client's own `instructions`; null: it gave none. */
  readonly ownInstructions: string | null
}

/** This many characters of a text in a row count as a quotation of it. */
const PROMPT_RUN = 16
const CREDENTIAL_RUN = 8

/** Takes them, and quotations of them, out of a text. */
export const hiderOf = (hidden: HiddenTexts): ((text: string) => string) => {
  const quotes = quotesFinder(hidden)
  return (text) => markedAt(text, quotes(text), HIDDEN_MARK)
}

/** Finds where a text quotes them. It is built when the first text is looked at. */
export const quotesFinder = ({ texts, credentials }: HiddenTexts): ((text: string) => readonly Range[]) => {
  const quotes = once(() =>
    quotesOf([...texts.map((text) => ({ text, run: PROMPT_RUN })), ...credentials.map((text) => ({ text, run: CREDENTIAL_RUN }))]),
  )
  return (text) => quotes()(text)
}
