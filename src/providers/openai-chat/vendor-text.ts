/**
 * An upstream's own JSON as clients of this dialect can read it. Vendors have words of their own for thinking: one that
 * is a further field is repeated under the field's common name, one that changes the type of `content` cannot be passed on.
 * A call in the dialect's older words (`function_call`) is written in today's.
 */
import { isObject } from '../../lib/json.ts'
import { writeInSteps } from '../../lib/json-steps.ts'
import { LARGE_BYTES, type Steps } from '../../lib/steps.ts'
import { modernCalls } from './modern-calls.ts'

/** The text to pass on; null where the answer has to be rendered from its events. `parsed` is `text`, parsed; it may be changed. */
export const chatText = (parsed: Record<string, unknown>, text: string): string | null => {
  const found = useCommonNames(parsed, text)
  return found === 'changed' ? JSON.stringify(parsed) : found === 'common' ? text : null
}

/** The same for megabytes. */
export function* chatTextInSteps(parsed: Record<string, unknown>, text: string): Steps<string | null> {
  const found = useCommonNames(parsed, text)
  return found === 'changed' ? yield* writeInSteps(parsed) : found === 'common' ? text : null
}

/** `common`: all members have names that every client reads. `changed`: those of `parsed` have them now. `foreign`: they cannot. */
const useCommonNames = (parsed: Record<string, unknown>, text: string): 'common' | 'changed' | 'foreign' => {
  // Nearly every text has none of it: three searches, and it goes on as it came. In megabytes of quotes each of them takes long.
  const isLarge = text.length > LARGE_BYTES
  const olderWords = isLarge
    ? saidIn(parsed).some((said) => isObject(said['function_call']))
    : text.includes('"function_call"') && OLDER_WORDS.test(text)
  if (!isLarge && !text.includes('"reasoning_content"') && !CONTENT_LIST.test(text) && !olderWords) return 'common'
  let renamed = olderWords
  for (const said of saidIn(parsed)) {
    if (Array.isArray(said['content'])) return 'foreign'
    if (typeof said['reasoning_content'] === 'string' && said['reasoning'] === undefined) {
      said['reasoning'] = said['reasoning_content']
      renamed = true
    }
    if (olderWords) {
      said['tool_calls'] = modernCalls(said)
      delete said['function_call']
    }
  }
  for (const choice of olderWords ? choicesIn(parsed) : [])
    if (choice['finish_reason'] === 'function_call') choice['finish_reason'] = 'tool_calls'
  return renamed ? 'changed' : 'common'
}

const CONTENT_LIST = /"content"\s*:\s*\[/
const OLDER_WORDS = /"function_call"(?!\s*:\s*null)/

const choicesIn = (parsed: Record<string, unknown>): Record<string, unknown>[] =>
  (Array.isArray(parsed['choices']) ? parsed['choices'] : []).filter(isObject)

const saidIn = (parsed: Record<string, unknown>): Record<string, unknown>[] =>
  choicesIn(parsed)
    .flatMap((choice) => [choice['delta'], choice['message']])
    .filter(isObject)
