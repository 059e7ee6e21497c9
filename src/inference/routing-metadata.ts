/** How a request was routed, for a client that asks with `X-Service-Metadata` (docs/contract/debugging.md#routing-metadata). */
import type { GatewayError } from '../errors.ts'
import type { JsonObject } from '../lib/json/json.ts'
import type { PlannedAttempt } from '../routing/plan-attempts.ts'
import type { Admitted } from './admitted.ts'
import { serverToolsEffect } from './loop/tool-figures.ts'
import type { RefusalFacts } from './refused.ts'
import type { AttemptLog } from './run/attempt-log.ts'
import { statusOf } from './run/attempt-outcome.ts'
import type { Prepared } from './request.ts'

export const routingMetadata = (admitted: Admitted): JsonObject => {
  const { log, request, warnings, bill, loop } = admitted
  const effect = serverToolsEffect(loop)
  const { plan } = request
  const { attempts, current } = log
  const succeeded = log.error === null && current !== undefined
  return {
    requested: request.requested,
    strategy: plan.strategy,
    region: null,
    summary: summary(log, succeeded),
    attempt: attemptOfStep(log),
    is_byok: bill.cost.isByok,
    endpoints: {
      total: plan.candidates + plan.removed.length,
      available: plan.attempts.map((one) => available(one, succeeded && current?.planned === one)),
    },
    attempts: attempts.map((attempt) => ({
      provider: attempt.planned.endpoint.provider.name,
      model: attempt.planned.model.id,
      status: statusOf(attempt),
      ...(loop === null ? {} : { step: attempt.turn }),
    })),
    params: { order: plan.order },
    ...pipelineMember([...request.effects, ...(effect === null ? [] : [effect])]),
    generation_time: Math.round(log.elapsedMs),
    ...presetMember(request),
    ...(warnings.length === 0 ? {} : { warnings: warnings.map((warning) => ({ ...warning })) }),
  }
}

/**
 * The metadata of a guardrail's refusal (docs/contract/guardrails.md#blocks): it counts as the first attempt, and no list of attempts is
 * shown.
 */
export const refusalMetadata = ({ request, wouldAsk: plan }: RefusalFacts, error: GatewayError): JsonObject => {
  const { call, effects, requested } = request
  const about = {
    requested,
    strategy: plan?.strategy ?? (call.models.length > 1 ? 'fallback' : 'direct'),
    region: null,
    summary: error.publicMessage,
    is_byok: false,
    ...presetMember(request),
  }
  if (plan === undefined) {
    const endpoints = { total: removedCount(error), available: [] }
    return { ...about, attempt: 0, endpoints, attempts: [], params: {}, ...pipelineMember(effects) }
  }
  const endpoints = {
    total: plan === null ? 0 : plan.candidates + plan.removed.length,
    available: plan === null ? [] : plan.attempts.map((one) => available(one, false)),
  }
  return { ...about, attempt: 1, endpoints, pipeline: effects.map((effect) => ({ ...effect })) }
}

const available = ({ model, endpoint }: PlannedAttempt, selected: boolean): JsonObject => ({
  provider: endpoint.provider.name,
  model: model.id,
  selected,
})

/** Counts the endpoints that filters removed, each of which the error names (docs/contract/routing.md#nobody-fits). */
const removedCount = ({ metadata }: GatewayError): number => (Array.isArray(metadata['excluded_by']) ? metadata['excluded_by'].length : 0)

const pipelineMember = (effects: Prepared['effects']): JsonObject =>
  effects.length === 0 ? {} : { pipeline: effects.map((effect) => ({ ...effect })) }

const presetMember = ({ preset }: Pick<Prepared, 'preset'>): JsonObject =>
  preset === null ? {} : { preset: { slug: preset.slug, version: preset.version } }

/**
 * The number of attempts in the current turn: an answer that runs tools takes several turns, and further turns are not failures. 0 if no
 * provider was asked.
 */
const attemptOfStep = ({ attempts, current }: AttemptLog): number => attempts.filter(({ turn }) => turn === current?.turn).length

const summary = (log: AttemptLog, succeeded: boolean): string => {
  const { current } = log
  if (current === undefined) return 'No provider was tried.'
  const number = attemptOfStep(log)
  const tries = number === 1 ? 'the first attempt' : `attempt ${number}`
  const { name } = current.planned.endpoint.provider
  return succeeded ? `${name} answered at ${tries}.` : `No provider answered; the last one tried was ${name}.`
}
