/** Makes prompts and encodes them. */
import { atOnce } from '../../lib/steps.ts'
import type { ClientDialect } from '../../canonical/call.ts'
import type { Message, Part, Prompt } from '../../canonical/prompt.ts'
import type { Warning } from '../../canonical/warning.ts'
import { JsonBody } from '../../lib/json/json-body.ts'
import { attemptTo, HELLO, partsOf, promptOf as emptyPrompt } from '../attempt.test-kit.ts'
import type { Attempt, Target } from '../provider.ts'
import { encodeAnthropicRequest } from './encode.ts'

export { settingsOf } from '../attempt.test-kit.ts'

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
  /** The vendor's slug; Anthropic's own when absent. */
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

export const attemptOf = (prompt: Prompt, warn: (warning: Warning) => void, given: Given = {}, body = '{}'): Attempt => {
  const to = target(given.model, given.maxCompletionTokens)
  return attemptTo(
    { ...to, provider: given.provider ?? to.provider },
    { dialect: given.dialect ?? 'chat', body: JsonBody.read(body), stream: given.stream ?? false, prompt: () => prompt },
    warn,
  )
}

export const promptOf = (more: Partial<Prompt> = {}): Prompt => emptyPrompt({ messages: HELLO, ...more })

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
  parts: partsOf(parts),
})
