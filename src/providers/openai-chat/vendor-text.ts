/**
 * Makes an upstream's own JSON readable for clients of this dialect. Vendors have members of their own for thinking: an additional member
 * is repeated under the common name, but a list as `content` cannot be passed on. A call in the older form of the dialect
 * (`function_call`) is rewritten in today's.
 */
import type { ModelEvent } from '../../canonical/event.ts'
import { isObject, objectsIn } from '../../lib/json/json.ts'
import { writeInSteps } from '../../lib/json/json-steps.ts'
import { LARGE_BYTES, type Steps } from '../../lib/steps.ts'
import { decodeParts } from './decode-content.ts'
import { modernCalls } from './modern-calls.ts'

/**
 * The text to pass on; null if the answer has to be rendered from its events. `parsed` is the parsed `text`, and may be changed.
 */
export const chatText = (parsed: Record<string, unknown>, text: string, form: ChatForm = PLAIN): string | null => {
  const found = useCommonNames(parsed, text, form)
  if (found === 'changed') return JSON.stringify(parsed)
  return found === 'common' ? text : null
}

/** Like `chatText`, for megabytes of text. */
export function* chatTextInSteps(parsed: Record<string, unknown>, text: string, form: ChatForm): Steps<string | null> {
  const found = useCommonNames(parsed, text, form)
  if (found === 'changed') return yield* writeInSteps(parsed)
  return found === 'common' ? text : null
}

interface ChatForm {
  /** It has answers beyond the first, for which there are no events. */
  readonly several: boolean
  /** `parsed` already differs from the text. */
  readonly renamed: boolean
}

const PLAIN: ChatForm = { several: false, renamed: false }

/** `common`: all members have names that every client reads. `changed`: those of `parsed` now do. `foreign`: they cannot. */
const useCommonNames = (
  parsed: Record<string, unknown>,
  text: string,
  { several, renamed: isRenamed }: ChatForm,
): 'common' | 'changed' | 'foreign' => {
  // Nearly every text has none of these members: after three searches it is passed on as it came. In megabytes full of quotes each search
  // takes long, so large texts are not searched.
  const isLarge = text.length > LARGE_BYTES
  const olderWords = isLarge
    ? saidIn(parsed).some((said) => isObject(said['function_call']))
    : text.includes('"function_call"') && OLDER_WORDS.test(text)
  if (!isLarge && !text.includes('"reasoning_content"') && !CONTENT_NO_TEXT.test(text) && !olderWords)
    return isRenamed ? 'changed' : 'common'
  let renamed = olderWords || isRenamed
  for (const said of saidIn(parsed)) {
    if (Array.isArray(said['content'])) {
      if (!several) return 'foreign'
      Object.assign(said, membersOf(said['content']))
      renamed = true
    } else if (isObject(said['content'])) {
      said['content'] = JSON.stringify(said['content'])
      renamed = true
    }
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

/** The parts of a list as members that every client reads. */
const membersOf = (parts: readonly unknown[]): Record<string, unknown> => {
  const events: ModelEvent[] = []
  decodeParts(parts, events)
  const textOf = (type: 'text' | 'reasoning'): string | null => {
    const pieces = events.flatMap((event) => (event.type === type ? [event.text] : []))
    return pieces.length === 0 ? null : pieces.join('')
  }
  const images = events.flatMap((event) => (event.type === 'image' ? [{ type: 'image_url', image_url: { url: event.url } }] : []))
  const reasoning = textOf('reasoning')
  return { content: textOf('text'), ...(reasoning === null ? {} : { reasoning }), ...(images.length === 0 ? {} : { images }) }
}

const CONTENT_NO_TEXT = /"content"\s*:\s*[[{]/
const OLDER_WORDS = /"function_call"(?!\s*:\s*null)/

const choicesIn = (parsed: Record<string, unknown>): readonly Record<string, unknown>[] => objectsIn(parsed['choices'])

const saidIn = (parsed: Record<string, unknown>): Record<string, unknown>[] =>
  choicesIn(parsed)
    .flatMap((choice) => [choice['delta'], choice['message']])
    .filter(isObject)
