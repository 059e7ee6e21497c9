/** The routing metadata beside an error of a guardrail: who would have been asked, and what stopped it (service.md, "Guardrail errors", rule 3). */
import { NO_COST } from '../canonical/cost.ts'
import { NO_USAGE } from '../canonical/usage.ts'
import type { AnswerTail } from '../formats/format.ts'
import type { JsonObject } from '../lib/json.ts'
import type { Refused } from './screen-call.ts'

export const refusalTail = (
  { call, plan, pipeline }: Refused,
  { field, requested, nowSeconds }: { field: 'service_metadata' | 'openrouter_metadata'; requested: string; nowSeconds: number },
): AnswerTail => {
  const available =
    plan === null
      ? []
      : plan.attempts.map(({ model, endpoint }) => ({ provider: endpoint.provider.name, model: model.id, selected: false }))
  const value: JsonObject = {
    requested,
    strategy: call.models.length > 1 ? 'fallback' : 'direct',
    region: null,
    summary: `available=${available.length}`,
    attempt: 1,
    is_byok: false,
    endpoints: { total: plan === null ? 0 : plan.candidates + plan.removed.length, available },
    pipeline: pipeline.map((stage) => ({ ...stage })),
  }
  return { usage: NO_USAGE, cost: NO_COST, endedSeconds: nowSeconds, metadata: { field, value } }
}
