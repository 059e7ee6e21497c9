/** The dialects that providers speak. */
import type { ClientDialect } from './call.ts'

export const PROVIDER_DIALECTS = ['openai-chat', 'openai-responses', 'anthropic', 'google', 'bedrock', 'sandbox'] as const

export type ProviderDialect = (typeof PROVIDER_DIALECTS)[number]

/** The dialect in which a client's request needs no translation. */
export const OWN_DIALECT = {
  chat: 'openai-chat',
  responses: 'openai-responses',
  messages: 'anthropic',
} as const satisfies Record<ClientDialect, ProviderDialect>
