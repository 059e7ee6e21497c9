/** What a stage before or behind the model did to a request or its answer; shown in the routing metadata (docs/contract/debugging.md#routing-metadata). */
import type { JsonObject } from '../lib/json.ts'

export type PipelineStage = GuardrailStage | PluginStage

export interface GuardrailStage {
  readonly type: 'guardrail'
  readonly name: 'content-filter' | 'regex_pi_detection' | 'moderation'
  readonly guardrail_id: string
  readonly guardrail_scope: 'api-key' | 'member' | 'workspace'
  /** One line for people. */
  readonly summary: string
  readonly data: JsonObject
}

export interface PluginStage {
  readonly type: 'plugin'
  /** Its id. */
  readonly name: string
  readonly summary: string
  readonly cost_usd: number
  readonly data: JsonObject
}
