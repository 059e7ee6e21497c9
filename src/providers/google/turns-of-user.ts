/** Adds turns of the user without which Google refuses a conversation. */
import type { JsonObject } from '../../lib/json/json.ts'
import { firstWords, lastWords } from '../roles/lacking-turns.ts'
import type { Losses } from '../losses/losses.ts'
import type { GeminiModel } from './gemini-model.ts'

interface Turn {
  readonly role: 'user' | 'model'
  readonly parts: readonly JsonObject[]
  /** The client's path of the place at which the turn begins. */
  readonly at: string
}

export const withTurnsOfUser = (turns: readonly Turn[], { name: model, prefill }: GeminiModel, { mapped }: Losses): readonly Turn[] => {
  const first = turns[0]
  const last = turns.at(-1)
  const context = { model, mapped }
  return [
    ...(first !== undefined && isCalling(first) ? [saying(firstWords(first.at, context), first.at)] : []),
    ...turns,
    ...(last?.role === 'model' && !prefill ? [saying(lastWords(last.at, context), last.at)] : []),
  ]
}

/**
 * A text of the model may begin a conversation, but a "function call turn comes immediately after a user turn or after a function response
 * turn".
 */
const isCalling = ({ role, parts }: Turn): boolean => role === 'model' && parts.some((part) => part['functionCall'] !== undefined)

const saying = (text: string, at: string): Turn => ({ role: 'user', parts: [{ text }], at })
