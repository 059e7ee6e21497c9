/** The parts of a preset that are for management keys only (docs/contract/presets.md#secrets): its system prompt, the instructions and the credentials of its tools. */
import { once } from '../lib/once.ts'
import { hideQuotes } from '../lib/hide-quotes.ts'
import { HIDDEN_MARK } from './preset-secrets.ts'

export interface HiddenTexts {
  /** The longest first. Wherever the request is shown, a mark stands for these. */
  readonly texts: readonly string[]
  readonly credentials: readonly string[]
}

export interface HiddenPrompt extends HiddenTexts {
  /** The client's own `instructions`; null: it gave none. */
  readonly ownInstructions: string | null
}

/** So many signs of a text in a row are taken for a quotation of it. */
const PROMPT_RUN = 16
const CREDENTIAL_RUN = 8

/** Takes them, and quotations of them, out of a text. */
export const hiderOf = ({ texts, credentials }: HiddenTexts): ((text: string) => string) => {
  const hide = once(() =>
    hideQuotes(
      [...texts.map((text) => ({ text, run: PROMPT_RUN })), ...credentials.map((text) => ({ text, run: CREDENTIAL_RUN }))],
      HIDDEN_MARK,
    ),
  )
  return (text) => hide()(text)
}
