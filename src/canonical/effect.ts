/**
 * An effect: what guardrails, plugins or tools did to a request before the model, or to its answer after it. The routing metadata shows
 * them as `pipeline` (docs/contract/debugging.md#routing-metadata).
 */
import type { JsonObject } from '../lib/json/json.ts'

export type Effect = GuardrailEffect | PluginEffect | ServerToolsEffect

export interface GuardrailEffect extends EffectFacts {
  readonly type: 'guardrail'
  readonly name: 'content-filter' | 'regex_pi_detection' | 'moderation'
  readonly guardrail_id: string
  readonly guardrail_scope: 'api-key' | 'member' | 'workspace'
}

/** A plugin that did something to the request or its answer. */
export interface PluginEffect extends EffectFacts {
  readonly type: 'plugin' | 'response_healing' | 'context_compression'
  /** The plugin's id. */
  readonly name: string
  /** The plugin's own cost, in addition to that of the answer. */
  readonly cost_usd: number
}

interface EffectFacts {
  /** One line for a human reader. */
  readonly summary: string
  readonly data: JsonObject
}

/** All tools that the service ran for one answer. */
export interface ServerToolsEffect extends EffectFacts {
  readonly type: 'server_tools'
  readonly name: 'server-tools'
  readonly cost_usd: number
}
