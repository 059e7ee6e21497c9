/** What was done to a request besides calling a model, as the routing metadata tells it (contract 5.8). Only stages that did something. */
import type { JsonObject } from '../lib/json.ts'

export interface PipelineStage {
  readonly type: 'guardrail' | 'plugin' | 'server_tools' | 'response_healing' | 'context_compression'
  readonly name: string
  readonly guardrail_id?: string
  readonly guardrail_scope?: string
  readonly summary?: string
  readonly cost_usd?: number
  readonly data?: JsonObject
}
