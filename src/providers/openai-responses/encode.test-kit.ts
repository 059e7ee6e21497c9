/** Encodes for an upstream without sending anything. */
import { atOnce } from '../../lib/steps.ts'
import type { Call } from '../../canonical/call.ts'
import type { Message, Part, Prompt } from '../../canonical/prompt.ts'
import type { ReasoningProof } from '../../canonical/reasoning.ts'
import type { Settings, SettingValues } from '../../canonical/settings.ts'
import type { Warning } from '../../canonical/warning.ts'
import { JsonBody } from '../../lib/json-body.ts'
import type { JsonObject } from '../../lib/json.ts'
import type { Attempt, Target } from '../provider.ts'
import { encodeResponsesRequest } from './encode.ts'

export const target = (upstreamModel = 'gpt-5.4'): Target => ({
  provider: 'openai',
  providerName: 'OpenAI',
  baseUrl: 'https://openai.example/v1',
  apiKey: 'k',
  modelId: 'openai/gpt-5.4',
  upstreamModel,
  maxCompletionTokens: null,
})

export const promptOf = (more: Partial<Prompt>): Prompt => ({
  messages: [],
  tools: [],
  toolChoice: { type: 'auto' },
  outputFormat: { type: 'text' },
  settings: {},
  otherFields: [],
  ...more,
})

export interface Encoded {
  readonly sent: JsonObject
  readonly text: string
  readonly warnings: readonly Warning[]
  /** The fields of the warnings. */
  readonly lost: readonly string[]
}

export const send = (call: Pick<Call, 'dialect' | 'body' | 'stream' | 'prompt'>, model?: string): Encoded => {
  const warnings: Warning[] = []
  const attempt: Attempt = {
    call: {
      models: [],
      maxOutputTokens: null,
      sessionId: null,
      user: null,
      passHeaders: {},
      *readingPrompt() {
        yield
      },
      ...call,
    },
    target: target(model),
    number: 0,
    warn: (warning) => warnings.push(warning),
    connection: new AbortController(),
  }
  const text = atOnce(encodeResponsesRequest(attempt))
  return { sent: JSON.parse(text) as JsonObject, text, warnings, lost: warnings.map(({ field }) => field) }
}

export const encode = (more: Partial<Prompt>, { model, stream = false }: { model?: string; stream?: boolean } = {}): Encoded =>
  send({ dialect: 'chat', body: JsonBody.read('{}'), stream, prompt: () => promptOf(more) }, model)

export const set = <Name extends keyof SettingValues>(name: Name, value: SettingValues[Name], field: string = name): Settings => ({
  [name]: { value, field },
})

export const user = (...parts: readonly Part[]): Message => ({ role: 'user', parts, at: 'messages[0]' })
export const assistant = (...parts: readonly Part[]): Message => ({ role: 'assistant', parts, at: 'messages[1]' })
export const text = (said: string): Part => ({ type: 'text', text: said })

export const proof: ReasoningProof = { format: 'openai-responses-v1', kind: 'encrypted', data: 'gAAA+/=', id: 'rs_1' }
