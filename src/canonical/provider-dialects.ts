/** The dialects that providers speak. */

export const PROVIDER_DIALECTS = ['openai-chat', 'openai-responses', 'anthropic', 'google', 'bedrock', 'sandbox'] as const

export type ProviderDialect = (typeof PROVIDER_DIALECTS)[number]
