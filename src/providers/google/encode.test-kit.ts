/** Makes prompts and encodes them. */
import { atOnce } from '../../lib/steps.ts'
import type { ClientDialect } from '../../canonical/call.ts'
import type { Message, Part, Prompt } from '../../canonical/prompt.ts'
import type { ReasoningProof } from '../../canonical/reasoning.ts'
import type { Warning } from '../../canonical/warning.ts'
import { partsOf, promptOf as emptyPrompt } from '../attempt.test-kit.ts'
import type { Target } from '../provider.ts'
import { translate } from '../losses/translation.ts'
import { encodeBody } from './encode.ts'

export const googleTarget: Target = {
  provider: 'google',
  providerName: 'Google AI Studio',
  baseUrl: 'https://generativelanguage.googleapis.com',
  apiKey: 'google-secret-key-0123456789',
  modelId: 'google/gemini-3.5-flash',
  upstreamModel: 'gemini-3.5-flash',
  maxCompletionTokens: null,
}

export const user = (...parts: readonly (Part | string)[]): Message => message('user', parts)
export const assistant = (...parts: readonly (Part | string)[]): Message => message('assistant', parts)
export const system = (...parts: readonly (Part | string)[]): Message => message('system', parts)

const message = (role: Message['role'], parts: readonly (Part | string)[]): Message => ({
  role,
  parts: partsOf(parts),
  at: 'messages[0]',
})

export const promptOf = (more: Partial<Prompt> = {}): Prompt => emptyPrompt({ messages: [user('Hi')], ...more })

export const googleProof = (data: string, model?: string): ReasoningProof => ({
  format: 'google-gemini-v1',
  kind: 'signature',
  data,
  ...(model === undefined ? {} : { model }),
})

export interface Encoded {
  readonly body: Sent
  /** `field: message` of every loss. */
  readonly losses: readonly string[]
}

interface Sent {
  readonly systemInstruction?: unknown
  readonly contents: readonly { readonly role: string; readonly parts: readonly unknown[] }[]
  readonly tools?: unknown
  readonly toolConfig?: unknown
  readonly generationConfig: Readonly<Record<string, unknown>>
  readonly serviceTier?: unknown
}

export const encode = (
  more: Partial<Prompt>,
  { model = 'gemini-3.5-flash', dialect = 'chat' }: { model?: string; dialect?: ClientDialect } = {},
): Encoded => {
  const losses: string[] = []
  const warn = ({ field, message: text }: Warning): void => void losses.push(`${field}: ${text}`)
  const translation = atOnce(translate(promptOf(more), 'google', googleTarget, warn))
  const body = atOnce(encodeBody(translation, { ...googleTarget, upstreamModel: model }, dialect))
  return { body: JSON.parse(JSON.stringify(body)) as Sent, losses }
}
