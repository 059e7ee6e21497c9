/** Every dialect that the service speaks to providers, in one visible place. To add one: a folder beside these, and a line here. */
import { GatewayError } from '../errors.ts'
import { anthropic } from './anthropic/anthropic.ts'
import { countAnthropicTokens } from './anthropic/count-tokens.ts'
import { bedrock } from './bedrock/bedrock.ts'
import { google } from './google/google.ts'
import { openaiChat } from './openai-chat/openai-chat.ts'
import { openaiResponses } from './openai-responses/openai-responses.ts'
import type { ProviderAdapter, TokenCounter } from './provider.ts'
import { tellingTextCalls } from './text-calls.ts'
import { sandboxProvider } from './sandbox/sandbox.ts'

const ADAPTERS: Readonly<Record<string, ProviderAdapter>> = {
  anthropic: tellingTextCalls(anthropic, { own: 'messages' }),
  bedrock: tellingTextCalls(bedrock),
  google: tellingTextCalls(google),
  'openai-chat': tellingTextCalls(openaiChat, { own: 'chat', makesThem: true }),
  'openai-responses': tellingTextCalls(openaiResponses, { own: 'responses', makesThem: true }),
  sandbox: sandboxProvider,
}

/** Dialects whose providers count tokens for the asking. */
const COUNTERS: Readonly<Record<string, TokenCounter>> = { anthropic: countAnthropicTokens }

export interface ProviderRegistry {
  /** Throws `unprocessable` for a dialect that has no adapter yet. */
  adapterFor(dialect: string): ProviderAdapter
  counterFor(dialect: string): TokenCounter | null
}

export const providerRegistry: ProviderRegistry = {
  adapterFor(dialect) {
    const adapter = ADAPTERS[dialect]
    if (adapter === undefined) throw new GatewayError('unprocessable', `Providers that speak ${dialect} cannot be called yet.`)
    return adapter
  },
  counterFor: (dialect) => COUNTERS[dialect] ?? null,
}
