/** Encodes for a vendor without sending anything. */
import { atOnce } from '../../lib/steps.ts'
import type { Call, ClientDialect } from '../../canonical/call.ts'
import type { Message, Part, Prompt } from '../../canonical/prompt.ts'
import type { Warning } from '../../canonical/warning.ts'
import { JsonBody } from '../../lib/json/json-body.ts'
import type { JsonObject } from '../../lib/json/json.ts'
import { attemptTo, promptOf } from '../attempt.test-kit.ts'
import type { Target } from '../provider.ts'
import { encodeChatRequest } from './encode.ts'

export { promptOf } from '../attempt.test-kit.ts'

export const targetOf = (provider: string, upstreamModel = 'one-1', maxCompletionTokens: number | null = null): Target => ({
  provider,
  providerName: 'Acme',
  baseUrl: 'https://acme.example/v1',
  apiKey: 'k',
  modelId: 'acme/one',
  upstreamModel,
  maxCompletionTokens,
})

export interface Encoded {
  readonly text: string
  readonly sent: JsonObject
  readonly warnings: readonly Warning[]
  /** The fields of the warnings. */
  readonly lost: readonly string[]
}

interface Given {
  readonly vendor?: string
  readonly model?: string
  readonly dialect?: ClientDialect
  readonly stream?: boolean
  readonly maxCompletionTokens?: number
}

const send = (call: Partial<Call>, given: Given): Encoded => {
  const warnings: Warning[] = []
  const target = targetOf(given.vendor ?? 'acme', given.model, given.maxCompletionTokens)
  const text = atOnce(encodeChatRequest(attemptTo(target, call, (warning) => warnings.push(warning))))
  return { text, sent: JSON.parse(text) as JsonObject, warnings, lost: warnings.map(({ field }) => field) }
}

/** Encodes a prompt that came in another dialect. */
export const encode = (more: Partial<Prompt>, given: Given = {}): Encoded =>
  send({ dialect: given.dialect ?? 'messages', stream: given.stream ?? false, prompt: () => promptOf(more) }, given)

/** Encodes a chat client's own JSON, whose conversation must not be parsed. */
export const relay = (json: string, given: Given = {}): Encoded => {
  const body = JsonBody.read(json)
  const prompt = (): Prompt => {
    throw new Error('It is not to be parsed.')
  }
  return send({ dialect: 'chat', body, stream: body.get('stream') === true, prompt }, given)
}

export const system = (...parts: readonly Part[]): Message => ({ role: 'system', parts, at: 'system' })
export const user = (...parts: readonly Part[]): Message => ({ role: 'user', parts, at: 'messages[0]' })
export const assistant = (...parts: readonly Part[]): Message => ({ role: 'assistant', parts, at: 'messages[1]' })
export const text = (said: string): Part => ({ type: 'text', text: said })
export const call = (id: string, args = '{}'): Part => ({ type: 'tool-call', id, name: 'look', arguments: args })
export const result = (callId: string, said = 'ok'): Part => ({ type: 'tool-result', callId, text: said })
