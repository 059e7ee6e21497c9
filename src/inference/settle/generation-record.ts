/** Turns a finished answer into the row that is stored for it. The row contains neither prompt nor answer. */
import { rulesOf } from '../../canonical/guardrail-rules.ts'
import type { Effect } from '../../canonical/effect.ts'
import { cachedTokens, inputTokens, outputTokens } from '../../canonical/usage.ts'
import type { RecordedGeneration } from '../../contract/generation.ts'
import type { GatewayError } from '../../errors.ts'
import { cutText } from '../../lib/text/cut-text.ts'
import { isoTimestamp } from '../../lib/clock.ts'
import { isBudgetRefusal } from '../../ledger/refusal.ts'
import { dollars } from '../../lib/money.ts'
import type { GenerationRecord } from '../../storage/generations/generation-store.ts'
import { recordedTools, serverToolsEffect } from '../loop/tool-figures.ts'
import { recordedSentence, SENTENCE_MAX } from './recorded-sentence.ts'
import { recordedSettings } from './recorded-settings.ts'
import { statusOf, type AttemptOutcome } from '../run/attempt-outcome.ts'
import type { Finished } from '../admitted.ts'
import { isServiceStop } from '../service-stop.ts'
import { namedTrace } from '../tracing/named-trace.ts'
import { isUnheldTools } from '../unheld-tools.ts'

/** The parts of a finished answer that the record needs. */
type Recorded = Pick<
  Finished,
  'request' | 'generationId' | 'createdMs' | 'log' | 'bill' | 'loop' | 'searched' | 'innerAttempts' | 'warnings' | 'httpStatus' | 'hit'
>

export const generationRecord = (finished: Recorded): GenerationRecord => {
  const { request, log } = finished
  const { usage, cost } = finished.bill
  const record = generationResource(finished)
  return {
    id: finished.generationId,
    createdAt: record.created_at,
    workspaceId: request.caller.workspaceId,
    keyHash: request.caller.keyHash,
    presetId: record.preset_id,
    presetVersion: record.preset_version,
    model: record.model,
    provider: log.current?.planned.endpoint.provider.slug ?? null,
    streamed: record.streamed,
    cancelled: record.cancelled,
    tokensPrompt: inputTokens(usage),
    tokensCompletion: outputTokens(usage),
    costNanos: cost.totalNanos,
    byokCostNanos: cost.customersNanos,
    record,
  }
}

/** The maximum length of a recorded name that comes from a client or a provider without a bound of its own. */
const NAME_MAX = 512
const bounded = (name: string | null): string | null => (name === null ? null : cutText(name, NAME_MAX))

const LIST_MAX = 50

type Sentence = ReturnType<typeof recordedSentence>

const generationResource = ({
  request,
  log,
  generationId,
  createdMs,
  bill,
  loop,
  searched,
  innerAttempts,
  warnings,
  httpStatus,
  hit,
}: Recorded): RecordedGeneration => {
  const { current, cancelled, error, said, latencyMs } = log
  const { usage, cost, costIsAssumed } = bill
  const { call, preset } = request
  const prompt = inputTokens(usage)
  const completion = outputTokens(usage)
  const isEmbeddings = request.apiType === 'embeddings'
  const kept = isEmbeddings ? null : recordedSettings(call)
  const sentence = recordedSentence(call)
  return {
    id: generationId,
    request_id: request.requestId,
    upstream_id: bounded(current?.upstreamId ?? null),
    api_type: request.apiType,
    interface: isEmbeddings ? 'embeddings' : call.dialect,
    http_status: httpStatus,
    created_at: isoTimestamp(createdMs),
    model: current?.planned.model.id ?? hit?.answer.model ?? call.models[0] ?? request.requested,
    provider_name: current?.planned.endpoint.provider.name ?? hit?.answer.provider ?? null,
    preset_id: preset?.id ?? null,
    preset_slug: preset?.slug ?? null,
    preset_version: preset?.version ?? null,
    rollout_id: preset?.rolloutId ?? null,
    session_id: call.sessionId,
    workspace_id: request.caller.workspaceId,
    external_user: call.user ?? request.caller.externalUser,
    app_id: null,
    origin: request.origin ?? '',
    http_referer: bounded(request.referer),
    user_agent: bounded(request.userAgent),
    data_region: 'global',
    streamed: call.stream,
    cancelled,
    finish_reason: cancelled ? null : error === null ? said.finishReason : 'error',
    native_finish_reason: bounded(said.nativeFinishReason),
    error_type: cancelled ? null : (error?.type ?? null),
    error: cancelled || error === null ? null : recordedError(error, sentence),
    tokens_prompt: prompt,
    tokens_completion: completion,
    native_tokens_prompt: prompt,
    native_tokens_completion: completion,
    native_tokens_completion_images: usage.outputImage,
    native_tokens_reasoning: usage.outputReasoning,
    native_tokens_cached: usage.inputCacheRead,
    native_tokens_cache_write: usage.inputCacheWrite5m + usage.inputCacheWrite1h,
    num_media_prompt: null,
    num_media_completion: null,
    num_input_audio_prompt: null,
    ...recordedTools({ loop, searched }, usage.webSearches),
    total_cost: dollars(cost.totalNanos),
    usage: dollars(cost.totalNanos),
    upstream_inference_cost: cost.upstreamNanos === null ? null : dollars(cost.upstreamNanos),
    cache_discount: cachedTokens(usage) === 0 || costIsAssumed || cost.cacheSavedNanos === null ? null : dollars(cost.cacheSavedNanos),
    usage_estimated: usage.estimated,
    cost_known: cost.isKnown && !costIsAssumed,
    is_byok: cost.isByok,
    latency: latencyMs === null ? null : Math.round(latencyMs),
    generation_time: Math.round(log.durationMs),
    moderation_latency: null,
    provider_responses: [
      ...log.attempts.map((attempt, number) =>
        providerResponse(attempt, sentence, log.startedMs, cancelled && number === log.attempts.length - 1),
      ),
      ...innerAttempts.map((attempt) => providerResponse(attempt, sentence, log.startedMs, false)),
    ],
    removed: request.plan.removed.slice(0, LIST_MAX).map(({ provider, model, reason }) => ({ provider, model, reason })),
    warnings: warnings.slice(0, LIST_MAX).map((warning) => ({ ...warning, message: cutText(warning.message, SENTENCE_MAX) })),
    pipeline: recordedPipeline(request.effects, loop),
    settings: kept?.settings ?? null,
    settings_carried: kept === null || Object.keys(kept.carried).length === 0 ? null : kept.carried,
    settings_left_out: kept?.leftOut ?? [],
    trace: namedTrace(request),
    router: null,
    service_tier: bounded(usage.servedTier),
    response_cache_source_id: hit?.answer.sourceId ?? null,
  }
}

/** The record has the whole sentence, although the response masks it for a status 500: all texts of our own in it are fit to be shown. */
const recordedError = (error: GatewayError, sentence: Sentence): RecordedGeneration['error'] => {
  const { provider_name: provider, limit_source: limit } = error.metadata
  return {
    message: sentence(error.message),
    provider_name: typeof provider === 'string' ? bounded(provider) : null,
    ...(isBudgetRefusal(error) && typeof limit === 'string' ? { limit_source: limit } : {}),
  }
}

/**
 * The findings of guardrails are words of the request, which are stored only with its contents, so only their number is recorded. The rules
 * are recorded by their placeholders, which contain no such words.
 */
const recordedPipeline = (effects: readonly Effect[], loop: Recorded['loop']): RecordedGeneration['pipeline'] => {
  const tools = serverToolsEffect(loop)
  return (tools === null ? effects : [...effects, tools]).slice(0, LIST_MAX).map(recordedEffect)
}

const recordedEffect = (effect: Effect): RecordedGeneration['pipeline'][number] => {
  const { patterns, ...data } = effect.data
  if (!Array.isArray(patterns)) return { ...effect, data }
  const rules = rulesOf(effect)
  return { ...effect, data: { ...data, matches: patterns.length, ...(rules.length === 0 ? {} : { rules: [...rules] }) } }
}

/**
 * `cancelled`: the client left during this attempt, so the attempt has no outcome of its own. An attempt that was stopped here has none
 * either.
 */
const providerResponse = (
  attempt: AttemptOutcome,
  sentence: Sentence,
  zeroMs: number,
  cancelled: boolean,
): NonNullable<RecordedGeneration['provider_responses']>[number] => {
  const { planned, startedMs, contentMs, endedMs, error, upstreamId, credential } = attempt
  const left = cancelled || (error !== null && (isServiceStop(error) || isUnheldTools(error)))
  const code = error?.metadata['provider_code']
  const id = bounded(upstreamId)
  return {
    // Typed clients accept a string here and for the tier, or an absent member, but not null.
    ...(id === null ? {} : { id }),
    provider_name: planned.endpoint.provider.name,
    endpoint_id: planned.key,
    model_permaslug: planned.model.id,
    ...(planned.endpoint.serviceTier === null ? {} : { routed_service_tier: planned.endpoint.serviceTier }),
    status: left ? null : statusOf(attempt),
    latency: Math.round(endedMs - startedMs),
    started_ms: Math.round(startedMs - zeroMs),
    first_token_ms: contentMs === null ? null : Math.round(contentMs - zeroMs),
    message: left || error === null ? null : sentence(error.message),
    is_byok: credential.isByok,
    error_type: left ? null : (error?.type ?? null),
    provider_code: !left && typeof code === 'string' ? bounded(code) : null,
  }
}
