/** A prompt with no more marks of what to cache than the provider takes. */
import type { Message, Part, Prompt } from '../canonical/prompt.ts'
import type { Warning } from '../canonical/warning.ts'
import { keptMarks, MARKS_MAX, tooManyMarks } from './cache-marks.ts'

export const withinMarks = (prompt: Prompt, providerName: string, warn: (warning: Warning) => void): Prompt => {
  const most = MARKS_MAX - (prompt.settings.cacheControl === undefined ? 0 : 1)
  const first = prompt.messages.findIndex(({ role }) => role !== 'system' && role !== 'developer')
  const conversation = first < 0 ? prompt.messages.length : first
  const marksIn = (messages: readonly Message[]): number => messages.flatMap(({ parts }) => parts).filter(isMarked).length
  const before = prompt.tools.filter(isMarked).length + marksIn(prompt.messages.slice(0, conversation))
  const inside = marksIn(prompt.messages.slice(conversation))
  if (before + inside <= most) return prompt
  warn(tooManyMarks(providerName, before + inside - most))
  const isKept = keptMarks(before, inside, most)
  let position = -1
  const limited = <One extends object>(one: One): One => {
    if (!isMarked(one)) return one
    position += 1
    return isKept(position) ? one : { ...one, cache: undefined }
  }
  // In the order in which the model reads them.
  const tools = prompt.tools.map(limited)
  return { ...prompt, tools, messages: prompt.messages.map((message) => ({ ...message, parts: message.parts.map(limited<Part>) })) }
}

const isMarked = (one: object): boolean => 'cache' in one && one.cache !== undefined
