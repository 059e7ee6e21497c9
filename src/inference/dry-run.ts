/**
 * Shows the effect that a request would have, without calling a provider: its plan, the body of its first attempt, and its possible cost.
 */
import { askedWork } from '../canonical/asked-work.ts'
import { usageOf } from '../canonical/usage.ts'
import type { JsonObject, JsonValue } from '../lib/json/json.ts'
import { dollars } from '../lib/money.ts'
import { atOnce, throughout } from '../lib/steps.ts'
import { costOf } from '../models/price.ts'
import { pretendToLoad } from '../providers/media/load-media.ts'
import { redactedBody } from '../providers/redaction/redact-body.ts'
import { bodyText, type UpstreamRequest } from '../providers/transport/upstream.ts'
import { callAtTier } from '../routing/call-at-tier.ts'
import type { PlannedAttempt } from '../routing/plan-attempts.ts'
import type { Warning } from '../canonical/warning.ts'
import { asFailure } from './as-failure.ts'
import { callFor, targetOf } from './run/attempt.ts'
import { dialectOf } from './run/dialect-of.ts'
import type { RunParts } from './run/run.ts'
import { type Planned, type Prepared, strictError } from './request.ts'
import { estimatedInputTokens } from './run/estimated-tokens.ts'

export interface DryRun extends JsonObject {
  readonly preset: { readonly slug: string; readonly version: number } | null
}

/** Throws what the request itself would throw before it reaches a provider. */
export const dryRun = async (request: Planned, parts: RunParts): Promise<DryRun> => {
  const { plan } = request
  const [first] = plan.attempts
  const losses: Warning[] = []
  const body = first === undefined ? null : await upstreamBody(request, first, losses, parts)
  return {
    object: 'service.dry_run',
    requested: request.requested,
    preset: request.preset === null ? null : { slug: request.preset.slug, version: request.preset.version },
    request: await shown(request.call.body.text, request, parts),
    plan: planMember(request),
    upstream_request:
      first === undefined || body === null
        ? null
        : { provider: first.endpoint.provider.name, model: first.endpoint.upstreamModel, body: await shown(body, request, parts) },
    cost_estimate: costEstimate(request),
    warnings: [...request.warnings, ...plan.warnings, ...losses].map((warning) => ({ ...warning })),
  }
}

/** Thrown instead of sending the body. */
class NotSent extends Error {
  readonly body: string
  constructor(body: string) {
    super('a dry run')
    this.body = body
  }
}

const upstreamBody = async (
  request: Planned,
  planned: PlannedAttempt,
  losses: Warning[],
  { adapters, clock, routing, context }: RunParts,
): Promise<string | null> => {
  const warn = (warning: Warning): void => {
    if (request.strict) throw strictError(warning)
    losses.push(warning)
  }
  const call = callAtTier(callFor(request, planned), planned, warn)
  const adapter = adapters.adapterFor(dialectOf(planned, call))
  const credential = planned.customerKey ?? routing.credentials.pick(planned.endpoint.provider, new Set()) ?? { apiKey: null }
  const attempt = { call, target: targetOf(planned, credential), number: 0, connection: new AbortController(), warn }
  const sending = (body: UpstreamRequest['body']): never => {
    throw new NotSent(bodyText(body))
  }
  try {
    const loadMedia = context.loadMedia === undefined ? undefined : pretendToLoad
    await adapter(
      attempt,
      {
        clock,
        turn: context.turn,
        sending,
        loadMedia,
        proofMakers: context.proofMakers,
        roleRules: context.roleRules,
        refusedProofs: context.refusedProofs,
        upstream: { post: ({ body }) => sending(body) },
      },
      () => undefined,
    )
  } catch (thrown) {
    if (thrown instanceof NotSent) return thrown.body
    throw asFailure(thrown)
  }
  return null
}

const shown = (body: string, { hidden }: Prepared, { context: { turn } }: Pick<RunParts, 'context'>): JsonValue | Promise<JsonValue> => {
  const redacting = redactedBody(body, hidden)
  return turn === undefined ? atOnce(redacting) : throughout(redacting, turn)
}

const planMember = ({ call, plan }: Planned): JsonObject => ({
  strategy: plan.strategy,
  order: plan.order,
  attempts: plan.attempts.map(({ model, endpoint }) => ({
    model: model.id,
    provider: endpoint.provider.name,
    upstream_model: endpoint.upstreamModel,
    dialect: dialectOf({ model, endpoint }, call),
  })),
  candidates: plan.candidates,
  removed: plan.removed.map((removed) => ({ ...removed })),
})

/**
 * The range from the cheapest answer, which has no output, to the dearest, with the maximum output, over all providers that may answer;
 * null if a price or a limit is not known.
 */
const costEstimate = ({ call, plan }: Planned): JsonObject => {
  const input = estimatedInputTokens(call)
  const { answers } = askedWork(call.body)
  const costs = plan.attempts.map(({ endpoint, model }) => {
    const output = call.maxOutputTokens ?? endpoint.maxCompletionTokens ?? model.contextLength
    const at = (tokens: number): number | null => {
      const { isKnown, totalNanos } = costOf(usageOf({ inputFresh: input, output: tokens }), endpoint.prices)
      return isKnown ? totalNanos : null
    }
    return { output, least: at(0), most: output === null ? null : at(output * answers) }
  })
  const all = (pick: (...values: number[]) => number, of: 'least' | 'most' | 'output'): number | null => {
    const known = costs.flatMap((cost) => (cost[of] === null ? [] : [cost[of]]))
    return known.length < costs.length || known.length === 0 ? null : pick(...known)
  }
  const least = all(Math.min, 'least')
  const most = all(Math.max, 'most')
  return {
    input_tokens: input,
    max_output_tokens: all(Math.max, 'output'),
    min_usd: least === null ? null : dollars(least),
    max_usd: most === null ? null : dollars(most),
  }
}
