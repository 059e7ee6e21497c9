/** Encodes for an upstream without sending anything. */
import { atOnce } from '../../lib/steps.ts'
import type { Call } from '../../canonical/call.ts'
import type { Message, Part, Prompt } from '../../canonical/prompt.ts'
import type { ReasoningProof } from '../../canonical/reasoning.ts'
import type { Settings, SettingValues } from '../../canonical/settings.ts'
import type { Warning } from '../../canonical/warning.ts'
import type { JsonObject } from '../../lib/json/json.ts'
import { attemptTo, promptOf } from '../attempt.test-kit.ts'
import type { Target } from '../provider.ts'
import { encodeResponsesRequest } from './encode.ts'

export { promptOf } from '../attempt.test-kit.ts'

export const target = (upstreamModel = 'gpt-5.4'): Target => ({
  provider: 'openai',
  providerName: 'OpenAI',
  baseUrl: 'https://openai.example/v1',
  apiKey: 'k',
  modelId: 'openai/gpt-5.4',
  upstreamModel,
  maxCompletionTokens: null,
})

export interface Encoded {
  readonly sent: JsonObject
  readonly text: string
  readonly warnings: readonly Warning[]
  /** The fields of the warnings. */
  readonly lost: readonly string[]
}

export const send = (call: Partial<Call>, model?: string, provider = 'openai', more: Partial<Target> = {}): Encoded => {
  const warnings: Warning[] = []
  const text = atOnce(encodeResponsesRequest(attemptTo({ ...target(model), provider, ...more }, call, (warning) => warnings.push(warning))))
  return { sent: JSON.parse(text) as JsonObject, text, warnings, lost: warnings.map(({ field }) => field) }
}

export const encode = (
  more: Partial<Prompt>,
  { model, provider, stream = false }: { model?: string; provider?: string; stream?: boolean } = {},
): Encoded => send({ stream, prompt: () => promptOf(more) }, model, provider)

export const set = <Name extends keyof SettingValues>(name: Name, value: SettingValues[Name], field: string = name): Settings => ({
  [name]: { value, field },
})

export const user = (...parts: readonly Part[]): Message => ({ role: 'user', parts, at: 'messages[0]' })
export const assistant = (...parts: readonly Part[]): Message => ({ role: 'assistant', parts, at: 'messages[1]' })
export const text = (said: string): Part => ({ type: 'text', text: said })

export const proof: ReasoningProof = { format: 'openai-responses-v1', kind: 'encrypted', data: 'gAAA+/=', id: 'rs_1' }
