/** Encodes a request as PostHog's event of a generation. */
import { type JsonObject, type JsonValue, textOrNull } from '../lib/json/json.ts'
import type { RequestTrace } from './request-trace.ts'
import { contentIn, providerName, TRACE_NAMES, traceIdIn, type TraceView } from './trace-spans.ts'
import { derivedSpanId } from './trace-ids.ts'

export const posthogEvent = (trace: RequestTrace, view: TraceView): JsonObject => {
  const { generationId, usage, error } = trace
  const content = contentIn(trace, view)
  return {
    event: '$ai_generation',
    timestamp: new Date(trace.startedMs).toISOString(),
    properties: {
      distinct_id: trace.user ?? traceIdIn(trace),
      $ai_trace_id: traceIdIn(trace),
      ...(trace.sessionId === null ? {} : { $ai_session_id: trace.sessionId }),
      $ai_span_id: derivedSpanId(generationId, 'generation'),
      $ai_span_name: textOrNull(trace.named?.['generation_name']) ?? `chat ${trace.model}`,
      $ai_model: trace.model,
      $ai_provider: trace.provider === null ? null : providerName(trace.provider),
      $ai_input_tokens: usage.input,
      $ai_output_tokens: usage.output,
      $ai_cache_read_input_tokens: usage.cacheRead,
      $ai_cache_creation_input_tokens: usage.cacheWrite,
      $ai_reasoning_tokens: usage.reasoning,
      $ai_latency: (trace.endedMs - trace.startedMs) / 1000,
      ...(trace.firstContentSeconds === null ? {} : { $ai_time_to_first_token: trace.firstContentSeconds }),
      $ai_stream: trace.settings.stream,
      $ai_is_error: error !== null,
      ...(error === null ? {} : { $ai_error: error.type }),
      ...(trace.finishReason === null ? {} : { $ai_stop_reason: trace.finishReason }),
      ...(content === null
        ? {}
        : {
            $ai_input: [
              ...(content.system.length === 0 ? [] : [{ role: 'system', content: content.system.map(plain) }]),
              ...content.input.map(({ role, parts }) => ({ role, content: parts.map(plain) })),
            ],
            $ai_output_choices: [{ role: 'assistant', content: content.output.map(plain) }],
          }),
      ...(view.cost ? { $ai_total_cost_usd: trace.costUsd } : {}),
      ...(view.identity ? { api_key_name: trace.keyName } : {}),
      ...(view.requestContext ? { http_referer: trace.referer, user_agent: trace.userAgent } : {}),
      patchbay_generation_id: generationId,
      patchbay_workspace_id: trace.workspaceId,
      ...(trace.presetSlug === null ? {} : { patchbay_preset: trace.presetSlug }),
      ...metadataOf(trace.named),
    },
  }
}

const plain = (part: object): JsonObject => ({ ...part })

/** A value that is nested deeper is sent as JSON text. */
const DEPTH_MAX = 3

const metadataOf = (named: JsonObject | null): JsonObject =>
  Object.fromEntries(
    Object.entries(named ?? {}).flatMap(([key, value]) => (TRACE_NAMES.has(key) ? [] : [[`metadata_${key}`, bounded(value, 1)] as const])),
  )

const bounded = (value: JsonValue, depth: number): JsonValue => {
  if (typeof value !== 'object' || value === null) return value
  if (depth >= DEPTH_MAX) return JSON.stringify(value)
  if (Array.isArray(value)) return value.map((item) => bounded(item as JsonValue, depth + 1))
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, bounded(item, depth + 1)]))
}
