/** Makes prompts and encodes them. */
import { atOnce } from '../../lib/steps.ts'
import type { ClientDialect } from '../../canonical/call.ts'
import type { Message, Part, Prompt } from '../../canonical/prompt.ts'
import type { Warning } from '../../canonical/warning.ts'
import { attemptTo, HELLO, partsOf, promptOf as emptyPrompt } from '../attempt.test-kit.ts'
import type { Attempt, Target } from '../provider.ts'
import { encodeConverseRequest } from './encode.ts'

export { settingsOf } from '../attempt.test-kit.ts'

type Json = Readonly<Record<string, unknown>>

export interface Sent {
  readonly system?: readonly Json[]
  readonly messages: readonly { readonly role: string; readonly content: readonly Json[] }[]
  readonly toolConfig?: { readonly tools: readonly Json[]; readonly toolChoice?: Json }
  readonly inferenceConfig?: Json
  readonly additionalModelRequestFields?: Json
  readonly outputConfig?: Json
  readonly [member: string]: unknown
}

export interface Encoded {
  readonly text: string
  readonly sent: Sent
  readonly warnings: readonly Warning[]
  /** `code field` of each warning. */
  readonly reported: readonly string[]
}

export interface Given {
  /** The upstream's name of the model. */
  readonly model?: string
  readonly modelId?: string
  readonly dialect?: ClientDialect
  readonly stream?: boolean
}

export const CLAUDE = 'us.anthropic.claude-sonnet-4-5-20250929-v1:0'
export const NOVA = 'us.amazon.nova-pro-v1:0'
export const NOVA_2 = 'global.amazon.nova-2-lite-v1:0'
export const LLAMA = 'meta.llama3-3-70b-instruct-v1:0'
export const MISTRAL = 'mistral.mistral-large-2407-v1:0'
export const GPT = 'openai.gpt-oss-120b-1:0'
export const GPT_6 = 'us.openai.gpt-6-sol'

export const targetOf = ({ model = CLAUDE, modelId = 'bedrock/it' }: Given = {}): Target => ({
  provider: 'bedrock',
  providerName: 'Bedrock',
  baseUrl: 'https://bedrock-runtime.us-east-1.amazonaws.com',
  apiKey: 'k',
  modelId,
  upstreamModel: model,
  maxCompletionTokens: null,
})

export const attemptOf = (prompt: Prompt, warn: (warning: Warning) => void, given: Given = {}): Attempt =>
  attemptTo(targetOf(given), { dialect: given.dialect ?? 'chat', stream: given.stream ?? false, prompt: () => prompt }, warn)

export const promptOf = (more: Partial<Prompt> = {}): Prompt => emptyPrompt({ messages: HELLO, ...more })

export const encode = (more: Partial<Prompt> = {}, given: Given = {}): Encoded => {
  const warnings: Warning[] = []
  const text = atOnce(encodeConverseRequest(attemptOf(promptOf(more), (warning) => warnings.push(warning), given)))
  return { text, sent: JSON.parse(text) as Sent, warnings, reported: warnings.map(({ code, field }) => `${code} ${field}`) }
}

/** Messages from `[role, ...parts]`, where a string stands for a text part. */
export const talk = (...turns: readonly (readonly [Message['role'], ...(string | Part)[]])[]): readonly Message[] =>
  turns.map(([role, ...parts], index) => ({
    role,
    parts: partsOf(parts),
    at: `messages[${index}]`,
  }))
