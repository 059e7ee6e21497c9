/** The `choices` of an upstream's own completion or chunk, changed without touching what is not ours. */
import { JsonBody } from '../../lib/json-body.ts'
import { JsonTextError } from '../../lib/json-scan.ts'
import type { Ending } from '../ending.ts'

/** Each choice as the text it came in. `raw` is the JSON text of the array. Throws JsonTextError. */
export const readChoices = (raw: string): readonly JsonBody[] => {
  if (!raw.startsWith('[')) return []
  const inside = raw.slice(1, -1).trim()
  if (inside === '') return []
  try {
    return [JsonBody.ofParsed(inside)] // nearly always there is one, and its text stays as it is
  } catch (error) {
    if (!(error instanceof JsonTextError)) throw error
    return (JSON.parse(raw) as unknown[]).map((choice) => JsonBody.read(JSON.stringify(choice)))
  }
}

/** The array of them. */
export const choicesText = (choices: readonly string[]): string => `[${choices.join(',')}]`

export const choiceIndex = (choice: JsonBody): number => {
  const index = choice.get('index')
  return typeof index === 'number' ? index : 0
}

/**
 * A choice that has ended, with the reason as this service names it and the upstream's own word beside it. The events
 * tell of the first choice only; further ones keep what the upstream says.
 */
export const finishedChoice = (choice: JsonBody, ending: Ending): string => {
  const own = choice.get('finish_reason') ?? null
  const reason = choiceIndex(choice) === 0 && (ending.told || own === null) ? ending.reason : own
  return choice.textWith({
    ...(own === reason ? {} : { finish_reason: JSON.stringify(reason) }),
    ...(choice.has('native_finish_reason') ? {} : { native_finish_reason: JSON.stringify(own) }),
  })
}

/** A choice of a stream that goes on: strict clients need the key. */
export const openChoice = (choice: JsonBody): string =>
  choice.has('finish_reason') ? choice.text : choice.textWith({ finish_reason: 'null' })

/** Whether a choice that comes after the end of its answer still carries anything to read. */
export const saysMore = (choice: JsonBody): boolean => {
  if (choice.keys.some((key) => !CHOICE_KEYS.has(key))) return true
  if ((choice.get('logprobs') ?? null) !== null) return true
  const delta = choice.get('delta') ?? {}
  return Object.entries(delta).some(([key, value]) => key !== 'role' && value !== null && value !== '' && !isEmptyList(value))
}

const CHOICE_KEYS: ReadonlySet<string> = new Set(['index', 'delta', 'finish_reason', 'native_finish_reason', 'logprobs'])

const isEmptyList = (value: unknown): boolean => Array.isArray(value) && value.length === 0
