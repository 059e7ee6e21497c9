/** Every dialect in which the service speaks to providers. To add one, add a folder beside these and a line here. */
import type { ProviderDialect } from '../canonical/provider-dialects.ts'
import { anthropic } from './anthropic/anthropic.ts'
import { countAnthropicTokens } from './anthropic/count-tokens.ts'
import { keepsEffortChanges } from './anthropic/keeps-effort-changes.ts'
import { bedrock } from './bedrock/bedrock.ts'
import { countConverseTokens } from './bedrock/count-tokens.ts'
import { factsOf } from './bedrock/model-facts.ts'
import { countGoogleTokens } from './google/count-tokens.ts'
import { google } from './google/google.ts'
import { toolsSentAsFunctions } from './openai-chat/custom-tools.ts'
import { embeddings } from './openai-chat/embeddings.ts'
import { openaiChat } from './openai-chat/openai-chat.ts'
import { countResponsesTokens } from './openai-responses/count-tokens.ts'
import { openaiResponses } from './openai-responses/openai-responses.ts'
import { namingCountedTools, namingTools, type ToolNaming } from './tools/naming-tools.ts'
import { knowingMakers } from './thinking/proof-makers.ts'
import type { ProviderAdapter, Target, TokenCounter } from './provider.ts'
import { leavingOutRefused } from './thinking/refused-thinking.ts'
import { settlingCountedEfforts, settlingEfforts } from './thinking/settling-efforts.ts'
import { settlingRoles } from './roles/settling-roles.ts'
import { restoringTextCalls } from './tools/text-calls.ts'
import { sandboxProvider } from './sandbox/sandbox.ts'
import { DASHED, DASHED_WORD, type ToolNameForm } from './tools/tool-name-form.ts'
import { vendorOf } from './vendors/vendors.ts'

const vendorsForm = ({ provider }: Target): ToolNameForm | null => vendorOf(provider).toolNames

/** How the names of tools go out in each dialect. */
const NAMING = {
  anthropic: { own: 'messages', formFor: () => DASHED },
  bedrock: { own: null, formFor: (target) => factsOf(target).toolNames },
  google: { own: null, formFor: () => DASHED_WORD },
  'openai-chat': { own: 'chat', formFor: vendorsForm },
  'openai-responses': {
    own: 'responses',
    formFor: vendorsForm,
    namespacesFor: ({ provider }) => vendorOf(provider).toolNamespaces,
    builtInsFor: ({ provider }) => vendorOf(provider).builtInTools,
  },
  sandbox: { own: null, formFor: () => null },
} as const satisfies Record<ProviderDialect, ToolNaming>

const CHAT_CALLS = { own: 'chat', ownDeclared: toolsSentAsFunctions, makesThem: true } as const

const CLAUDES_EFFORTS = { own: 'messages', keeps: keepsEffortChanges } as const

const ADAPTERS: Readonly<Record<ProviderDialect, ProviderAdapter>> = {
  anthropic: settlingEfforts(
    leavingOutRefused(
      knowingMakers(namingTools(settlingRoles(restoringTextCalls(anthropic, { own: 'messages' }), 'messages'), NAMING.anthropic)),
      'messages',
    ),
    CLAUDES_EFFORTS,
  ),
  bedrock: settlingEfforts(leavingOutRefused(knowingMakers(namingTools(restoringTextCalls(bedrock), NAMING.bedrock)), null)),
  google: settlingEfforts(leavingOutRefused(namingTools(restoringTextCalls(google), NAMING.google), null)),
  'openai-chat': settlingEfforts(
    leavingOutRefused(
      knowingMakers(namingTools(settlingRoles(restoringTextCalls(openaiChat, CHAT_CALLS), 'chat'), NAMING['openai-chat'])),
      'chat',
    ),
  ),
  'openai-responses': settlingEfforts(
    leavingOutRefused(
      namingTools(
        settlingRoles(restoringTextCalls(openaiResponses, { own: 'responses', makesThem: true }), 'responses'),
        NAMING['openai-responses'],
      ),
      'responses',
    ),
  ),
  sandbox: settlingEfforts(namingTools(sandboxProvider, NAMING.sandbox)),
}

/** The dialects in which a provider can be asked for a count of tokens. */
const COUNTERS: Readonly<Partial<Record<ProviderDialect, TokenCounter>>> = {
  anthropic: settlingCountedEfforts(namingCountedTools(countAnthropicTokens, NAMING.anthropic), CLAUDES_EFFORTS),
  bedrock: settlingCountedEfforts(namingCountedTools(countConverseTokens, NAMING.bedrock)),
  google: settlingCountedEfforts(namingCountedTools(countGoogleTokens, NAMING.google)),
  'openai-responses': settlingCountedEfforts(namingCountedTools(countResponsesTokens, NAMING['openai-responses'])),
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
