/**
 * Conditions that end the loop of server tools before the model does; any one of them suffices
 * (docs/contract/tools.md#stop-conditions).
 */
import { z } from 'zod'

import { positiveInteger } from './scalars.ts'

export const STOP_CONDITIONS = [
  z.looseObject({ type: z.literal('step_count_is'), step_count: positiveInteger }),
  z.looseObject({ type: z.literal('has_tool_call'), tool_name: z.string().min(1) }),
  z.looseObject({ type: z.literal('max_tokens_used'), max_tokens: positiveInteger }),
  z.looseObject({ type: z.literal('max_cost'), max_cost_in_dollars: z.number().min(0) }),
  z.looseObject({ type: z.literal('finish_reason_is'), reason: z.string().min(1) }),
] as const

export const stopServerToolsWhen = z
  .array(z.discriminatedUnion('type', STOP_CONDITIONS).meta({ id: 'StopCondition' }))
  .min(1)
  .meta({ description: 'Takes the place of max_tool_calls.' })

/** Steps of the loop of server tools; thirty is the default and the maximum (docs/contract/requests.md#bounds). */
export const maxToolCalls = z.int().min(1).max(30).meta({ description: 'Default 30. Ignored beside stop_server_tools_when.' })
