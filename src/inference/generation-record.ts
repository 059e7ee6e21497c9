/** An answer that has ended as the row that is kept of it. Neither prompt nor answer is in it. */
import { inputTokens, outputTokens } from '../canonical/usage.ts'
import type { GenerationResource } from '../contract/generation.ts'
import { isoTimestamp } from '../lib/clock.ts'
import { dollars } from '../lib/money.ts'
import type { GenerationRecord } from '../storage/generation-store.ts'
import { recordedTools } from './loop/tool-figures.ts'
import { statusOf, type AttemptOutcome } from './run/attempt-outcome.ts'
import type { Finished } from './admitted.ts'

/** What a record tells of an answer that has ended. */
type Recorded = Pick<Finished, 'request' | 'generationId' | 'createdMs' | 'log' | 'bill' | 'loop' | 'innerAttempts'>

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
    costNanos: cost.totalNanos ?? 0,
    byokCostNanos: cost.isByok ? (cost.upstreamNanos ?? 0) : 0,
    record,
  }
}

/** What a client or a provider named without a bound of its own. */
const NAME_MAX = 512
const bounded = (name: string | null): string | null => name?.slice(0, NAME_MAX) ?? null

const generationResource = ({ request, log, generationId, createdMs, bill, loop, innerAttempts }: Recorded): GenerationResource => {
  const { current, cancelled, error, said, latencyMs } = log
  const { usage, cost, costIsAssumed } = bill
  const { call, preset } = request
  const prompt = inputTokens(usage)
  const completion = outputTokens(usage)
  return {
    id: generationId,
    request_id: request.requestId,
    upstream_id: bounded(current?.upstreamId ?? null),
    api_type: request.apiType,
    created_at: isoTimestamp(createdMs),
    model: current?.planned.model.id ?? call.models[0] ?? request.requested,
    provider_name: current?.planned.endpoint.provider.name ?? null,
    preset_id: preset?.id ?? null,
    preset_slug: preset?.slug ?? null,
    preset_version: preset?.version ?? null,
    session_id: call.sessionId,
    workspace_id: request.caller.workspaceId,
    external_user: call.user ?? request.caller.externalUser,
    app_id: null,
    origin: '',
    http_referer: bounded(request.referer),
    user_agent: bounded(request.userAgent),
    data_region: 'global',
    streamed: call.stream,
    cancelled,
    finish_reason: cancelled ? null : error === null ? said.finishReason : 'error',
    native_finish_reason: bounded(said.nativeFinishReason),
    error_type: cancelled ? null : (error?.type ?? null),
    tokens_prompt: prompt,
    tokens_completion: completion,
    native_tokens_prompt: prompt,
    native_tokens_completion: completion,
    native_tokens_completion_images: usage.outputImage,
    native_tokens_reasoning: usage.outputReasoning,
    native_tokens_cached: usage.inputCacheRead,
    num_media_prompt: null,
    num_media_completion: null,
    num_input_audio_prompt: null,
    ...recordedTools(loop, usage.webSearches),
    total_cost: dollars(cost.totalNanos ?? 0),
    usage: dollars(cost.totalNanos ?? 0),
    upstream_inference_cost: cost.upstreamNanos === null ? null : dollars(cost.upstreamNanos),
    cache_discount: null,
    usage_estimated: usage.estimated,
    cost_known: cost.totalNanos !== null && !costIsAssumed,
    is_byok: cost.isByok,
    latency: latencyMs === null ? null : Math.round(latencyMs),
    generation_time: Math.round(log.durationMs),
    moderation_latency: null,
    provider_responses: [
      ...log.attempts.map((attempt, number) => providerResponse(attempt, cancelled && number === log.attempts.length - 1)),
      ...innerAttempts.map((attempt) => providerResponse(attempt, false)),
    ],
    router: null,
    service_tier: null,
    response_cache_source_id: null,
  }
}

/** `left`: the client left during this attempt, which so has no outcome of its own. */
const providerResponse = (attempt: AttemptOutcome, left: boolean): NonNullable<GenerationResource['provider_responses']>[number] => {
  const { planned, startedMs, endedMs, error, upstreamId, credential } = attempt
  const code = error?.metadata['provider_code']
  return {
    upstream_id: bounded(upstreamId),
    provider_name: planned.endpoint.provider.name,
    model_permaslug: planned.model.id,
    status: left ? null : statusOf(attempt),
    latency: Math.round(endedMs - startedMs),
    is_byok: credential.isByok,
    error_type: left ? null : (error?.type ?? null),
    provider_code: !left && typeof code === 'string' ? bounded(code) : null,
  }
}
