/** The request body of the messages interface. service.md "Purpose", contract 2.1, 2.4. */
import { z } from 'zod'

import { endUser, messagesMetadata, sessionId, trace } from '../fields/attribution.ts'
import { cacheControl, systemContent } from '../fields/cache.ts'
import { deferredTools } from '../fields/deferred-tools.ts'
import { messagesOutputConfig } from '../fields/output.ts'
import { PLUGINS, plugins } from '../fields/plugins.ts'
import { fallbacks, model, models, provider, route, serviceTierName, speed } from '../fields/routing.ts'
import { temperature, tokenLimit, topK, topP } from '../fields/sampling.ts'
import { texts } from '../fields/scalars.ts'
import { stopServerToolsWhen } from '../fields/stop-conditions.ts'
import type { Findings } from '../findings.ts'
import { type FieldReader, leaveOut, requestRules } from '../request-rules.ts'
import { taggedList } from '../tagged-list.ts'
import { messagesMessage } from './message-schemas.ts'
import { contextManagement, safeguards, thinking } from './thinking-schemas.ts'
import { customTool, MESSAGES_TYPED_TOOLS, messagesToolChoice, messagesTools } from './tool-schemas.ts'

/** What each field holds when it is there; absent and null mean the same for all of them. */
export const requestFields = {
  messages: z.array(messagesMessage),
  system: systemContent,
  model,
  models,
  fallbacks,
  provider,
  route,
  service_tier: serviceTierName,
  speed: speed.meta({ description: 'fast costs more; standard is the default.' }),
  plugins,
  preset: z.string().min(1).meta({ description: 'A preset to use, as slug, slug@version or slug@label.' }),
  stream: z.boolean(),
  max_tokens: tokenLimit,
  temperature,
  top_p: topP,
  top_k: topK,
  stop_sequences: texts,
  thinking,
  output_config: messagesOutputConfig,
  tools: messagesTools,
  tool_choice: messagesToolChoice,
  stop_server_tools_when: stopServerToolsWhen,
  deferred_tools: deferredTools,
  context_management: contextManagement,
  safeguards,
  cache_control: cacheControl,
  session_id: sessionId,
  user: endUser,
  metadata: messagesMetadata,
  trace,
}

export const requestSchema = z.looseObject(leaveOut(requestFields)).meta({ id: 'MessagesRequest' })

const checkTogether = (field: FieldReader, findings: Findings): void => {
  if (field('fallbacks') !== undefined && field('models') !== undefined) {
    findings.fault(['fallbacks'], 'It cannot be combined with models.')
  }
}

export const rules = requestRules(
  'messages',
  requestFields,
  {
    tools: taggedList('type', MESSAGES_TYPED_TOOLS, { unknown: 'unknown_tool_type', untagged: customTool }),
    plugins: taggedList('id', PLUGINS, { unknown: 'unknown_plugin' }),
  },
  { checkTogether },
)
