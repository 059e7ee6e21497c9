/** Makes prompts and encodes them. */
import { atOnce } from '../../lib/steps.ts'
import type { ClientDialect } from '../../canonical/call.ts'
import type { Message, Part, Prompt } from '../../canonical/prompt.ts'
import type { Settings, SettingValues } from '../../canonical/settings.ts'
import type { Warning } from '../../canonical/warning.ts'
import { JsonBody } from '../../lib/json-body.ts'
import type { Attempt, Target } from '../provider.ts'
import { encodeAnthropicRequest } from './encode.ts'

export interface Sent {
  readonly model: string
  readonly max_tokens: number
  readonly system?: readonly Readonly<Record<string, unknown>>[]
  readonly messages: readonly { readonly role: string; readonly content: readonly Readonly<Record<string, unknown>>[] }[]
  readonly [member: string]: unknown
}

export interface Encoded {
  readonly text: string
  readonly sent: Sent
  readonly warnings: readonly Warning[]
  /** `code field` of each warning. */
  readonly reported: readonly string[]
}

interface Given {
  readonly model?: string
  /** The vendor's slug; Anthropic's if absent. */
  readonly provider?: string
  readonly dialect?: ClientDialect
  readonly stream?: boolean
  readonly maxCompletionTokens?: number | null
}

export const target = (model = 'claude-sonnet-4-5', maxCompletionTokens: number | null = null): Target => ({
  provider: 'anthropic',
  providerName: 'Anthropic',
  baseUrl: 'https://api.example',
  apiKey: 'k',
  modelId: 'anthropic/it',
  upstreamModel: model,
  maxCompletionTokens,
})

export const attemptOf = (prompt: Prompt, warn: (warning: Warning) => void, given: Given = {}, body = '{}'): Attempt => ({
  call: {
    dialect: given.dialect ?? 'chat',
    body: JsonBody.read(body),
    models: ['anthropic/it'],
    stream: given.stream ?? false,
    maxOutputTokens: null,
    sessionId: null,
    user: null,
    passHeaders: {},
    prompt: () => prompt,
    *readingPrompt() {
      yield
    },
  },
  target: { ...target(given.model, given.maxCompletionTokens), ...(given.provider === undefined ? {} : { provider: given.provider }) },
  number: 0,
  warn,
  connection: new AbortController(),
})

const HELLO: readonly Message[] = [{ role: 'user', parts: [{ type: 'text', text: 'Hi' }], at: 'messages[0]' }]

export const promptOf = (more: Partial<Prompt> = {}): Prompt => ({
  messages: HELLO,
  tools: [],
  toolChoice: { type: 'auto' },
  outputFormat: { type: 'text' },
  settings: {},
  otherFields: [],
  ...more,
})

/** Settings whose field has the setting's own name. */
export const settingsOf = (values: Partial<SettingValues>): Settings =>
  Object.fromEntries(Object.entries(values).map(([name, value]) => [name, { value, field: name }]))

export const encode = (more: Partial<Prompt> = {}, given: Given = {}): Encoded => {
  const warnings: Warning[] = []
  const text = atOnce(encodeAnthropicRequest(attemptOf(promptOf(more), (warning) => warnings.push(warning), given)))
  return { text, sent: JSON.parse(text) as Sent, warnings, reported: warnings.map(({ code, field }) => `${code} ${field}`) }
}

/** Encodes a request of a client that speaks the dialect itself. */
export const relay = (body: string, given: Given = {}): { text: string; reported: readonly string[] } => {
  const reported: string[] = []
  const warn = ({ code, field }: Warning): void => void reported.push(`${code} ${field}`)
  return { text: atOnce(encodeAnthropicRequest(attemptOf(promptOf(), warn, { ...given, dialect: 'messages' }, body))), reported }
}

export const message = (role: Message['role'], at: number, ...parts: readonly (Part | string)[]): Message => ({
  role,
  at: `messages[${at}]`,
  parts: parts.map((part) => (typeof part === 'string' ? { type: 'text', text: part } : part)),
})
