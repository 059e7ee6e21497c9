/**
 * The words with which servers of this dialect end an answer. Sources: the API references of the vendors named below, and the
 * types of the `openai` package.
 */
import type { FinishReason } from '../../canonical/event.ts'
import { isObject, textOf } from '../../lib/json/json.ts'

/** Null for a failure, which is no end by the model (`failureOfFinish`). Some servers end an answer with calls with `stop`. */
export const finishReason = (native: string, called: boolean): FinishReason | null => {
  if (failureOfFinish(native) !== null) return null
  const reason = FINISH.get(wordOf(native)) ?? 'stop'
  return reason === 'stop' && called ? 'tool_calls' : reason
}

/** The word that ends a choice; '' if it goes on. SGLang's own form is an object: `{"type": "length", "length": 100}`. */
export const finishWord = ({ finish_reason: finish }: Readonly<Record<string, unknown>>): string =>
  textOf(isObject(finish) ? finish['type'] : finish)

/** The error that the word reports, if the choice has none of its own; null if the word is none of a failure. */
export const failureOfFinish = (native: string): Readonly<Record<string, unknown>> | null => FAILURES.get(wordOf(native)) ?? null

/** Google's endpoint of this dialect adds its own word: `content_filter: PROHIBITED_CONTENT`. Some servers write words in capitals. */
const wordOf = (native: string): string => (native.split(':', 1)[0] ?? '').trim().toLowerCase()

const FAILURES: ReadonlyMap<string, Readonly<Record<string, unknown>>> = new Map<string, Readonly<Record<string, unknown>>>([
  // Routers report the error beside the choice; vLLM and Mistral do not say more.
  ['error', {}],
  // DeepSeek
  ['insufficient_system_resource', { code: 503, message: 'The answer was broken off for want of resources.' }],
  // Z.ai
  ['network_error', { code: 502, message: 'The answer was broken off by an error of the model server.' }],
  // vLLM and SGLang
  ['abort', { code: 502, message: 'The server gave the answer up.' }],
  // Google
  ['function_call_filter', { code: 502, message: 'The model made a call that cannot be read.' }],
])

const FINISH: ReadonlyMap<string, FinishReason> = new Map<string, FinishReason>([
  ['length', 'length'],
  ['max_tokens', 'length'],
  ['model_length', 'length'],
  ['length_limit', 'length'],
  ['token_limit', 'length'],
  ['time_limit', 'length'],
  // Z.ai and Anthropic
  ['model_context_window_exceeded', 'length'],
  // MiniMax
  ['max_output', 'length'],
  // vLLM, where the model repeats itself without end
  ['repetition', 'length'],
  ['pause_turn', 'length'],
  ['tool_calls', 'tool_calls'],
  ['tool_call', 'tool_calls'],
  ['tool_use', 'tool_calls'],
  ['function_call', 'tool_calls'],
  ['content_filter', 'content_filter'],
  ['refusal', 'content_filter'],
  // Z.ai and Tencent
  ['sensitive', 'content_filter'],
  // Google's own words, and Bedrock's, behind routers
  ['safety', 'content_filter'],
  ['recitation', 'content_filter'],
  ['prohibited_content', 'content_filter'],
  ['guardrail_intervened', 'content_filter'],
])
