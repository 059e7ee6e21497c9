/** Turns of the user without which Google refuses a conversation. */
import type { JsonObject } from '../../lib/json.ts'
import { firstWords } from '../lacking-turns.ts'
import type { Losses } from '../losses.ts'
import type { GeminiModel } from './gemini-model.ts'

interface Turn {
  readonly role: 'user' | 'model'
  readonly parts: readonly JsonObject[]
  /** Where the turn begins in the request. */
  readonly at: string
}

/** Words of the model may begin a conversation, but "function call turn comes immediately after a user turn or after a function response turn". */
export const withTurnsOfUser = (turns: readonly Turn[], { name: model }: GeminiModel, { mapped }: Losses): readonly Turn[] => {
  const [first] = turns
  if (first?.role !== 'model' || !first.parts.some((part) => part['functionCall'] !== undefined)) return turns
  return [saying(firstWords(first.at, { model, mapped }), first.at), ...turns]
}

const saying = (text: string, at: string): Turn => ({ role: 'user', parts: [{ text }], at })
