/**
 * The parts of a preset that only management keys may read (docs/contract/presets.md#secrets): its system prompt, and the
 * instructions and credentials of its tools.
 */
import { once } from '../lib/once.ts'
import { markedAt, quotesOf, type Range } from '../lib/text/hide-quotes.ts'
import { HIDDEN_MARK } from './preset-secrets.ts'

export interface HiddenTexts {
  /** The hidden texts, longest first. A mark replaces them wherever the request is shown. */
  readonly texts: readonly string[]
  readonly credentials: readonly string[]
}

export interface HiddenPrompt extends HiddenTexts {
  /** The client's own `instructions`; null if it sent none. */
  readonly ownInstructions: string | null
}

/** This many consecutive characters of a text count as a quotation of it. */
const PROMPT_RUN = 16
export const CREDENTIAL_RUN = 8

/** Returns a function that replaces the hidden texts, and quotations of them, in a text. */
export const hiderOf = (hidden: HiddenTexts): ((text: string) => string) => {
  const quotes = quotesFinder(hidden)
  return (text) => markedAt(text, quotes(text), HIDDEN_MARK)
}

/** Returns a function that finds where a text quotes the hidden texts. The search is built on its first use. */
export const quotesFinder = ({ texts, credentials }: HiddenTexts): ((text: string) => readonly Range[]) => {
  const quotes = once(() =>
    quotesOf([...texts.map((text) => ({ text, run: PROMPT_RUN })), ...credentials.map((text) => ({ text, run: CREDENTIAL_RUN }))]),
  )
  return (text) => quotes()(text)
}
