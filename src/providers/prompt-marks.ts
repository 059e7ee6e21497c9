/** Limits the cache marks of a prompt to as many as the provider takes, with long-lived marks before short-lived ones. */
import type { CacheMark, Message, Part, Prompt } from '../canonical/prompt.ts'
import type { Warning } from '../canonical/warning.ts'
import { isObject } from '../lib/json/json.ts'
import { inOrderOfLifetimes, keptMarks, MARKS_MAX, shortenedMark, tooManyMarks } from './cache-marks.ts'

export const withLawfulMarks = (prompt: Prompt, providerName: string, warn: (warning: Warning) => void): Prompt => {
  const { cacheControl } = prompt.settings
  const most = MARKS_MAX - (cacheControl === undefined || endsInMark(prompt.messages) ? 0 : 1)
  const first = prompt.messages.findIndex(({ role }) => role !== 'system' && role !== 'developer')
  const conversation = first < 0 ? prompt.messages.length : first
  const marksIn = (messages: readonly Message[]): number => messages.flatMap(({ parts }) => parts).filter(isMarked).length
  const before = prompt.tools.filter(isMarked).length + marksIn(prompt.messages.slice(0, conversation))
  const inside = marksIn(prompt.messages.slice(conversation))
  const all = before + inside
  if (all === 0) return prompt
  if (all > most) warn(tooManyMarks(providerName, all - most))
  const isKept = all > most ? keptMarks(before, inside, most) : () => true
  const settle = inOrderOfLifetimes()
  let position = -1
  let shortened = false
  const lawful = <One extends object>(one: One): One => {
    if (!isMarked(one)) return one
    position += 1
    if (!isKept(position)) return { ...one, cache: undefined }
    if (settle(one.cache.ttl) === 'kept') return one
    shortened = true
    return { ...one, cache: { ttl: '5m' } }
  }
  // Tools come before messages, in the order in which the model reads them.
  const tools = prompt.tools.map(lawful)
  const messages = prompt.messages.map((message) => ({ ...message, parts: message.parts.map(lawful<Part>) }))
  const whole = cacheControl?.value
  const lasts = isObject(whole) && settle(whole['ttl']) === 'shortened'
  if (shortened || lasts) warn(shortenedMark(providerName))
  const settings =
    cacheControl !== undefined && lasts
      ? { ...prompt.settings, cacheControl: { ...cacheControl, value: { ...whole, ttl: '5m' } } }
      : prompt.settings
  return { ...prompt, tools, messages, settings }
}

const isMarked = (one: object): one is { readonly cache: CacheMark } => 'cache' in one && one.cache !== undefined

/** The mark at the end takes the place of that of the request. A last part that the encoder may move or leave out does not count. */
const endsInMark = (messages: readonly Message[]): boolean => {
  const last = messages.at(-1)
  const part = last?.role === 'user' ? last.parts.at(-1) : undefined
  if (part === undefined || !isMarked(part)) return false
  return part.type === 'text' ? part.text.trim() !== '' : last?.parts.every(({ type }) => type === 'tool-result') === true
}
