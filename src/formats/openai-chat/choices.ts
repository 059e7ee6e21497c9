/** Edits the `choices` of an upstream's own completion or chunk without touching what is not ours. */
import { JsonBody } from '../../lib/json/json-body.ts'
import { scanElements } from '../../lib/json/json-scan.ts'
import { JsonTextError } from '../../lib/json/json-limits.ts'
import { editElements, editElementsInSteps, editMembers } from '../../lib/json/json-splice.ts'
import { LARGE_BYTES, type Steps } from '../../lib/steps.ts'
import { missingMembers } from '../missing-members.ts'
import type { Ending } from '../ending.ts'

/** Returns each choice with its original text. `raw` is the JSON text of the array. Throws JsonTextError. */
export const readChoices = (raw: string): readonly JsonBody[] => {
  if (!raw.startsWith('[')) return []
  const inside = raw.slice(1, -1).trim()
  if (inside === '') return []
  try {
    return [JsonBody.ofParsed(inside)] // there is nearly always one, and its text stays as it is
  } catch (error) {
    if (!(error instanceof JsonTextError)) throw error
    return (JSON.parse(raw) as unknown[]).map((choice) => JsonBody.read(JSON.stringify(choice)))
  }
}

export const choicesText = (choices: readonly string[]): string => `[${choices.join(',')}]`

export const choiceIndex = (choice: JsonBody): number => {
  const index = choice.get('index')
  return typeof index === 'number' ? index : 0
}

/**
 * Returns a choice that has ended, with the finish reason as this service names it and the upstream's own reason beside it. The
 * events are those of the first choice only; the adapter has named the reasons of further choices.
 */
export const finishedChoice = (choice: JsonBody, ending: Ending): string => {
  const given = choice.get('finish_reason') ?? null
  const own = given === '' ? null : given
  const reason = choiceIndex(choice) === 0 && (ending.reported || own === null) ? ending.reason : own
  return choice.textWith({
    finish_reason: given === reason ? undefined : JSON.stringify(reason),
    native_finish_reason: choice.has('native_finish_reason') ? undefined : JSON.stringify(own),
  })
}

/** Returns true if the choice has a finish reason. Some servers write an empty one until the end. */
export const hasEnded = (choice: JsonBody): boolean => typeof choice.get('finish_reason') === 'string' && choice.get('finish_reason') !== ''

/** Returns a choice of a stream that continues, with `finish_reason`, because strict clients require the key. */
export const openChoice = (choice: JsonBody): string =>
  choice.has('finish_reason') && choice.get('finish_reason') !== '' ? choice.text : choice.textWith({ finish_reason: 'null' })

/** Returns true if a choice that arrives after the end of its answer still has content. */
export const saysMore = (choice: JsonBody): boolean => {
  if (choice.keys.some((key) => !CHOICE_KEYS.has(key))) return true
  if ((choice.raw('logprobs') ?? 'null') !== 'null') return true
  const delta = JsonBody.ofParsed(objectText(choice.raw('delta')))
  return delta.keys.some((key) => key !== 'role' && !SAYS_NOTHING.test(delta.raw(key) ?? ''))
}

const CHOICE_KEYS: ReadonlySet<string> = new Set(['index', 'delta', 'finish_reason', 'native_finish_reason', 'logprobs'])

const SAYS_NOTHING = /^(?:null|""|\[\s*\])$/

const objectText = (json: string | undefined): string => (json?.startsWith('{') === true ? json : '{}')

/** Assigns an index to each call of a stream. */
export interface CallNumbers {
  /** `opens`: the piece contains the call's name. */
  next(opens: boolean): number
}

export const numberCalls = (): CallNumbers => {
  let count = 0
  return {
    next(opens) {
      if (opens || count === 0) count += 1
      return count - 1
    },
  }
}

/**
 * Returns true if the choices of a chunk have what strict clients need. It searches the text, which is safe because a quote within
 * a JSON string is preceded by a backslash.
 */
export const looksComplete = (choices: string): boolean => {
  const index = choices.indexOf('"index"')
  if (index < 0 || !choices.includes('"delta"') || choices.includes('"role":""') || BLANK.test(choices)) return false
  // Besides the choice's own index, each call needs one.
  return !choices.includes('"tool_calls"') || choices.includes('"index"', index + 1)
}

/** Azure ends some streams with `"delta": null`. */
const BLANK = /"(?:index|delta)"\s*:\s*null/

/** The same check for a large choice. */
export function* isCompleteChunkChoice(choice: JsonBody): Steps<boolean> {
  const said = choice.raw('delta')
  if (!IS_NUMBER.test(choice.raw('index') ?? '') || said?.startsWith('{') !== true) return false
  const delta = JsonBody.ofParsed(said)
  yield
  if (delta.raw('role') === '""') return false
  const calls = delta.raw('tool_calls')
  return calls?.startsWith('[') !== true || scanElements(calls).every(({ start, end }) => hasIndex(calls.slice(start, end)))
}

const IS_NUMBER = /^[-\d]/

const hasIndex = (call: string): boolean => call.startsWith('{') && JsonBody.ofParsed(call).has('index')

/** Returns a choice of a chunk with the members that strict clients need and that some vendors omit or leave blank. */
export function* completeChunkChoice(choice: JsonBody, position: number, calls: CallNumbers): Steps<JsonBody> {
  const said = [choice.raw('delta'), choice.raw('message')].find((text) => text?.startsWith('{') === true)
  const delta = JsonBody.ofParsed(said ?? '{}')
  const toolCalls = delta.raw('tool_calls')
  const isLarge = (said?.length ?? 0) > LARGE_BYTES
  if (isLarge) yield
  const text = delta.textWith({
    ...(delta.get('role') === '' ? { role: null } : {}),
    ...(toolCalls?.startsWith('[') === true ? { tool_calls: editElements(toolCalls, (call) => numbered(call, calls)) } : {}),
  })
  const changes = { ...(typeof choice.get('index') === 'number' ? {} : { index: String(position) }), delta: text }
  return isLarge ? yield* choice.changing(changes) : choice.with(changes)
}

/** Returns a choice of the first chunk, with the role, because strict clients take it from there. */
export const withRole = (choice: JsonBody): JsonBody => {
  const delta = JsonBody.ofParsed(choice.raw('delta') ?? '{}')
  return typeof delta.get('role') === 'string' ? choice : choice.with({ delta: delta.textWith({ role: '"assistant"' }) })
}

const numbered = (call: string, calls: CallNumbers): string => {
  if (!call.startsWith('{')) return call
  const body = JsonBody.ofParsed(call)
  return body.has('index') ? call : body.textWith({ index: String(calls.next(body.value('id') !== undefined)) })
}

/** The same for a choice of a whole answer. */
export function* completeChoice(choice: JsonBody, position: number): Steps<JsonBody> {
  const message = choice.raw('message')
  // In a long text full of quotes, the search takes longer than locating the members.
  const isShort = message === undefined || message.length <= LARGE_BYTES
  if (isShort && choice.has('index') && (message === undefined || looksCompleteMessage(message))) return choice
  if (!isShort) yield
  const complete = message?.startsWith('{') === true ? yield* completeMessage(message) : message
  if (choice.has('index') && complete === message) return choice
  return choice.with({
    ...missingMembers(choice, { index: String(position) }),
    ...(complete === undefined ? {} : { message: complete }),
  })
}

/** A message is complete if it has a role, content and no calls; calls could lack their type. */
const looksCompleteMessage = (message: string): boolean => HAS_ROLE.test(message) && HAS_CONTENT.test(message) && !HAS_CALLS.test(message)

const HAS_ROLE = /"role"\s*:\s*"assistant"/
const HAS_CONTENT = /"content"\s*:/
const HAS_CALLS = /"tool_calls"\s*:\s*\[\s*\{/

function* completeMessage(text: string): Steps<string> {
  const message = JsonBody.ofParsed(text)
  if (text.length > LARGE_BYTES) yield
  const calls = message.raw('tool_calls')
  const added = { ...(message.get('role') === 'assistant' ? {} : { role: '"assistant"' }), ...missingMembers(message, { content: 'null' }) }
  if (calls?.startsWith('[') === true) return message.textWith({ ...added, tool_calls: yield* editElementsInSteps(calls, typed) })
  return Object.keys(added).length > 0 ? message.textWith(added) : text
}

const typed = (call: string): string =>
  call.startsWith('{') && !JsonBody.ofParsed(call).has('type') ? editMembers(call, { type: '"function"' }) : call
