/**
 * The work of a stage that ran before or after the model on a request or its answer; shown in the routing metadata
 * (docs/contract/debugging.md#routing-metadata).
 */
import type { JsonObject } from '../lib/json/json.ts'

export type PipelineStage = GuardrailStage | PluginStage | ServerToolsStage

export interface GuardrailStage extends StageFacts {
  readonly type: 'guardrail'
  readonly name: 'content-filter' | 'regex_pi_detection' | 'moderation'
  readonly guardrail_id: string
  readonly guardrail_scope: 'api-key' | 'member' | 'workspace'
}

/** A plugin that did something to the request or its answer. */
export interface PluginStage extends StageFacts {
  readonly type: 'plugin' | 'response_healing' | 'context_compression'
  /** The plugin's id. */
  readonly name: string
  /** The plugin's own cost, in addition to that of the answer. */
  readonly cost_usd: number
}

interface StageFacts {
  /** One line for a human reader. */
  readonly summary: string
  readonly data: JsonObject
}

/** All tools that the service ran for one answer. */
export interface ServerToolsStage extends StageFacts {
  readonly type: 'server_tools'
  readonly name: 'server-tools'
  readonly cost_usd: number
}
