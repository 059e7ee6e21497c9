/** The fields of a Messages request (docs/contract/messages.md#request). */
import { z } from 'zod'

import type { FieldTable } from './field.ts'
import { nothingStored, previousResponse } from './nothing-stored.ts'
import { messagesMetadata } from './schemas/attribution.ts'
import { systemContent } from './schemas/cache.ts'
import { container } from './schemas/messages-container.ts'
import { messagesMessage } from './schemas/messages-content.ts'
import { compaction, contextManagement, safeguards, thinking } from './schemas/messages-thinking.ts'
import { thread } from './schemas/messages-thread.ts'
import { customTool, MESSAGES_TYPED_TOOLS, messagesToolChoice, messagesTools } from './schemas/messages-tools.ts'
import { messagesOutputConfig, messagesOutputFormat } from './schemas/output.ts'
import { fallbacks, serviceTierName, speed } from './schemas/routing.ts'
import { messagesTokenLimit } from './schemas/sampling.ts'
import { texts } from './schemas/scalars.ts'
import { advisorTool, filesTool, fusionTool, subagentTool } from './schemas/server-tools.ts'
import { maxToolCalls } from './schemas/stop-conditions.ts'
import { EVERYWHERE, LENGTH_PARAMETERS, REASONING_PARAMETERS } from './shared.ts'
import { taggedList } from './tagged-list.ts'

/** Tools of the service that also run here but that the public API does not list for this interface. */
const FURTHER_TOOLS = [advisorTool, filesTool, fusionTool, subagentTool] as const

/** Tools of Anthropic's in any of their versions; those that another provider does not have are reported where they are left out. */
const CLAUDES_TOOLS =
  /^(?:(?:bash|text_editor|computer|memory|code_execution|web_search|web_fetch|(?:browser|computer)_toolset)_\d{8}|mcp_toolset)$/

export const MESSAGES_FIELDS = {
  messages: { schema: z.array(messagesMessage).min(1), means: 'conversation', readLater: true },
  system: { schema: systemContent, means: 'conversation' },
  ...EVERYWHERE,
  max_tool_calls: { schema: maxToolCalls, means: 'none', presets: 'keep' },
  service_tier: { schema: serviceTierName, means: 'serviceTier', presets: 'keep' },
  speed: {
    schema: speed.meta({ description: 'fast costs more; standard is the default.' }),
    means: 'serviceTier',
    presets: 'keep',
  },
  tools: {
    schema: messagesTools,
    items: taggedList('type', [...MESSAGES_TYPED_TOOLS, ...FURTHER_TOOLS], {
      unknown: 'unknown_tool_type',
      untagged: customTool,
      vendors: CLAUDES_TOOLS,
    }),
    means: 'tools',
    presets: 'keep',
  },
  tool_choice: {
    schema: messagesToolChoice,
    means: 'toolChoice',
    members: { disable_parallel_tool_use: 'parallelToolCalls' },
    presets: 'keep',
  },
  fallbacks: { schema: fallbacks, means: 'fallbackModels', presets: 'keep', changes: ['model'] },
  max_tokens: { schema: messagesTokenLimit, means: 'maxOutputTokens', presets: 'keep', parameters: LENGTH_PARAMETERS },
  stop_sequences: { schema: texts, means: 'stop', presets: 'keep', parameters: ['stop'] },
  thinking: { schema: thinking, means: 'reasoning', presets: 'keep', parameters: REASONING_PARAMETERS },
  output_config: { schema: messagesOutputConfig, members: { format: 'outputFormat', effort: 'reasoning' }, presets: 'keep' },
  output_format: {
    schema: messagesOutputFormat.meta({ deprecated: true, description: 'Use output_config.format, which wins where both are sent.' }),
    means: 'outputFormat',
    presets: 'keep',
  },
  metadata: { schema: messagesMetadata, members: { user_id: 'user' } },
  container: { schema: container, means: 'none' },
  mcp_servers: {
    schema: z.array(z.looseObject({})).meta({ description: "Servers of tools that Anthropic calls, in Anthropic's beta." }),
    means: 'none',
    presets: 'keep',
    changes: ['tools'],
  },
  context_management: { schema: contextManagement, means: 'contextManagement', presets: 'keep' },
  compaction: { schema: compaction, means: 'compaction' },
  thread: { schema: thread, means: 'service' },
  safeguards: { schema: safeguards, means: 'safeguards', presets: 'keep' },
  previous_response_id: previousResponse('messages'),
  prompt: { schema: z.null(nothingStored('messages')), means: 'refused' },
} as const satisfies FieldTable
