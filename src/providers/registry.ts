/** Every dialect in which the service speaks to providers. To add one, add a folder beside these and a line here. */
import type { ProviderDialect } from '../canonical/provider-dialects.ts'
import { anthropic } from './anthropic/anthropic.ts'
import { countAnthropicTokens } from './anthropic/count-tokens.ts'
import { bedrock } from './bedrock/bedrock.ts'
import { factsOf } from './bedrock/model-facts.ts'
import { google } from './google/google.ts'
import { toolsSentAsFunctions } from './openai-chat/custom-tools.ts'
import { embeddings } from './openai-chat/embeddings.ts'
import { openaiChat } from './openai-chat/openai-chat.ts'
import { openaiResponses } from './openai-responses/openai-responses.ts'
import { namingCountedTools, namingTools, type ToolNaming } from './naming-tools.ts'
import { knowingMakers } from './proof-makers.ts'
import type { ProviderAdapter, Target, TokenCounter } from './provider.ts'
import { leavingOutRefused } from './refused-thinking.ts'
import { settlingRoles } from './settling-roles.ts'
import { restoringTextCalls } from './text-calls.ts'
import { sandboxProvider } from './sandbox/sandbox.ts'
import { DASHED, DASHED_WORD, type ToolNameForm } from './tool-name-form.ts'
import { vendorOf } from './vendors.ts'

const vendorsForm = ({ provider }: Target): ToolNameForm | null => vendorOf(provider).toolNames

const ANTHROPIC_TOOLS: ToolNaming = { own: 'messages', formFor: () => DASHED }

const RESPONSES_TOOLS: ToolNaming = {
  own: 'responses',
  formFor: vendorsForm,
  namespacesFor: ({ provider }) => vendorOf(provider).toolNamespaces,
  builtInsFor: ({ provider }) => vendorOf(provider).builtInTools,
}

const CHAT_CALLS = { own: 'chat', ownDeclared: toolsSentAsFunctions, makesThem: true } as const

const ADAPTERS: Readonly<Record<ProviderDialect, ProviderAdapter>> = {
  anthropic: leavingOutRefused(
    knowingMakers(namingTools(settlingRoles(restoringTextCalls(anthropic, { own: 'messages' }), 'messages'), ANTHROPIC_TOOLS)),
    'messages',
  ),
  bedrock: leavingOutRefused(
    knowingMakers(namingTools(restoringTextCalls(bedrock), { own: null, formFor: (target) => factsOf(target).toolNames })),
    null,
  ),
  google: leavingOutRefused(namingTools(restoringTextCalls(google), { own: null, formFor: () => DASHED_WORD }), null),
  'openai-chat': leavingOutRefused(
    knowingMakers(namingTools(settlingRoles(restoringTextCalls(openaiChat, CHAT_CALLS), 'chat'), { own: 'chat', formFor: vendorsForm })),
    'chat',
  ),
  'openai-responses': leavingOutRefused(
    namingTools(settlingRoles(restoringTextCalls(openaiResponses, { own: 'responses', makesThem: true }), 'responses'), RESPONSES_TOOLS),
    'responses',
  ),
  sandbox: namingTools(sandboxProvider, { own: null, formFor: () => null }),
}

/** Dialects whose providers count tokens on request. */
const COUNTERS: Readonly<Partial<Record<ProviderDialect, TokenCounter>>> = {
  anthropic: namingCountedTools(countAnthropicTokens, ANTHROPIC_TOOLS),
}

export interface ProviderRegistry {
  adapterFor(dialect: ProviderDialect): ProviderAdapter
  counterFor(dialect: ProviderDialect): TokenCounter | null
  /** Makes vectors instead of an answer, at providers that have them. */
  readonly embeddings: ProviderAdapter
}

export const providerRegistry: ProviderRegistry = {
  adapterFor: (dialect) => ADAPTERS[dialect],
  counterFor: (dialect) => COUNTERS[dialect] ?? null,
  embeddings,
}
