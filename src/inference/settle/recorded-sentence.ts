/**
 * Sentences as a record keeps them: without the texts of the request that they quote. Some servers answer with the input that they refuse,
 * and a record has no prompt (docs/contract/management.md#generations).
 */
import type { Call } from '../../canonical/call.ts'
import { inputTexts } from '../../guardrails/input-texts.ts'
import type { JsonBody } from '../../lib/json/json-body.ts'
import { cutText } from '../../lib/text/cut-text.ts'
import { hideQuotes } from '../../lib/text/hide-quotes.ts'
import { once } from '../../lib/once.ts'
import { atOnce } from '../../lib/steps.ts'

/** The maximum length of a recorded sentence. */
export const SENTENCE_MAX = 2000
const MARK = '[text of the request]'

/** This many consecutive characters of a text count as a quotation of it; a shorter text counts if it is quoted as a whole. */
const QUOTED_RUN = 24
/** Shorter texts are words that any sentence may have. */
const QUOTED_MIN = 12

/** The bytes of a longer request, or one of more short texts, are not searched, which would keep others waiting: its sentences are only shortened. */
const SEARCHED_MAX = 256 * 1024
const UNSEARCHED_MAX = 200
/** Each short text is searched for by itself. */
const SHORT_MAX = 1000

/** The request is read at its first failure. */
export const recordedSentence = ({ body }: Pick<Call, 'body'>): ((sentence: string) => string) => {
  const hide = once(() => (body.byteLength > SEARCHED_MAX ? shortened : hiderOf(body)))
  return (sentence) => (sentence.length < QUOTED_MIN ? sentence : cutText(hide()(cutText(sentence, 2 * SENTENCE_MAX)), SENTENCE_MAX))
}

const shortened = (sentence: string): string => cutText(sentence, UNSEARCHED_MAX)

const hiderOf = (body: JsonBody): ((sentence: string) => string) => {
  const { texts } = atOnce(inputTexts(body))
  const quotable = texts.flatMap(({ isProse, isJson, value }) => ((isProse || isJson) && value.length >= QUOTED_MIN ? [value] : []))
  const short = new Set(quotable.filter((text) => text.length <= QUOTED_RUN))
  if (short.size > SHORT_MAX) return shortened
  // As one text they are searched for once, however many they are.
  const long = quotable.filter((text) => text.length > QUOTED_RUN).join(BETWEEN)
  return hideQuotes(
    [long, ...short].map((text) => ({ text, run: QUOTED_RUN })),
    MARK,
  )
}

/** No sentence has it. */
const BETWEEN = '\u0001'
