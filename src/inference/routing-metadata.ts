/** How a request was routed, for the client that asks with `X-Service-Metadata` (contract 5.8). */
import type { GatewayError } from '../errors.ts'
import type { JsonObject } from '../lib/json.ts'
import { statusOf, type InferenceRequest, type Run } from './run.ts'

export const routingMetadata = (run: Run): JsonObject => {
  const succeeded = run.error === null && run.current !== undefined
  const { attempts, plan, request, cost } = run
  return {
    requested: request.requested,
    strategy: plan.strategy,
    region: null,
    summary: summary(run, succeeded),
    attempt: attempts.length,
    is_byok: cost.isByok,
    endpoints: {
      total: plan.candidates + plan.removed.length,
      available: plan.attempts.map((planned) => ({
        provider: planned.endpoint.provider.name,
        model: planned.model.id,
        selected: succeeded && run.current?.planned === planned,
      })),
    },
    attempts: attempts.map((attempt) => ({
      provider: attempt.planned.endpoint.provider.name,
      model: attempt.planned.model.id,
      status: statusOf(attempt),
    })),
    params: { order: plan.order },
    ...pipelineMember(request),
    generation_time: Math.round(run.elapsedMs),
    ...presetMember(request),
    ...(run.warnings.length === 0 ? {} : { warnings: run.warnings.map((warning) => ({ ...warning })) }),
  }
}

/** Of a request that was refused when it was planned: no provider was tried. */
export const refusalMetadata = (request: InferenceRequest, error: GatewayError): JsonObject => ({
  requested: request.requested,
  strategy: request.call.models.length > 1 ? 'fallback' : 'direct',
  region: null,
  summary: error.publicMessage,
  attempt: 0,
  is_byok: false,
  endpoints: { total: removedCount(error), available: [] },
  attempts: [],
  params: {},
  ...pipelineMember(request),
  ...presetMember(request),
})

/** What filters removed, each named in the error (decision 19). */
const removedCount = ({ metadata }: GatewayError): number => (Array.isArray(metadata['excluded_by']) ? metadata['excluded_by'].length : 0)

const pipelineMember = ({ pipeline = [] }: InferenceRequest): JsonObject =>
  pipeline.length === 0 ? {} : { pipeline: pipeline.map((stage) => ({ ...stage })) }

const presetMember = ({ preset }: InferenceRequest): JsonObject =>
  preset === null ? {} : { preset: { slug: preset.slug, version: preset.version } }

const summary = ({ attempts, current }: Run, succeeded: boolean): string => {
  if (current === undefined) return 'No provider was tried.'
  const tries = attempts.length === 1 ? 'the first attempt' : `attempt ${attempts.length}`
  const { name } = current.planned.endpoint.provider
  return succeeded ? `${name} answered at ${tries}.` : `No provider answered; the last one tried was ${name}.`
}
