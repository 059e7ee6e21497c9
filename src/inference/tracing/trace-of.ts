/** A finished request in the form in which destinations of traces get it. */
import type { RequestTrace, TracedAttempt, TracedContent, TracedError, TracedMessage, TracedPart } from '../../broadcast/request-trace.ts'
import type { TraceParent } from '../../broadcast/trace-ids.ts'
import type { Effect } from '../../canonical/effect.ts'
import type { Part, Prompt } from '../../canonical/prompt.ts'
import { inputTokens, outputTokens } from '../../canonical/usage.ts'
import type { GatewayError } from '../../errors.ts'
import { isObject, type JsonObject, textsIn } from '../../lib/json/json.ts'
import { dollars } from '../../lib/money.ts'
import type { Finished } from '../admitted.ts'
import type { AttemptOutcome } from '../run/attempt-outcome.ts'
import { statusOf } from '../run/attempt-outcome.ts'
import type { Planned } from '../request.ts'
import { keepsNothing } from '../zero-retention.ts'
import { namedTrace } from './named-trace.ts'

/** Facts from outside the request itself. */
export interface Beside {
  readonly keyName: string | null
  readonly parent: TraceParent | null
  readonly content: TracedContent | null
  readonly contentLeftOut: boolean
}

export const traceOf = (finished: Finished, beside: Beside): RequestTrace => {
  const { request, log, loop, bill, generationId, createdMs, innerAttempts } = finished
  const { call, caller, preset } = request
  const { usage, cost } = bill
  const { current, cancelled, error, said } = log
  /** Converts a time of the monotonic clock to the wall clock. */
  const at = (monotonicMs: number): number => createdMs + (monotonicMs - log.startedMs)
  const tracedAttempt = (attempt: AttemptOutcome): TracedAttempt => ({
    model: attempt.planned.model.id,
    provider: attempt.planned.endpoint.provider.slug,
    upstreamModel: attempt.planned.endpoint.upstreamModel,
    startedMs: at(attempt.startedMs),
    endedMs: at(attempt.endedMs),
    status: attempt.asked ? statusOf(attempt) : null,
    error: tracedError(attempt.error),
  })
  return {
    generationId,
    requestId: request.requestId,
    workspaceId: caller.workspaceId,
    keyHash: caller.keyHash,
    presetSlug: preset?.slug ?? null,
    presetVersion: preset?.version ?? null,
    operation: request.apiType === 'embeddings' ? 'embeddings' : 'chat',
    requestedModel: request.requested,
    model: current?.planned.model.id ?? call.models[0] ?? request.requested,
    provider: current?.planned.endpoint.provider.slug ?? null,
    sessionId: call.sessionId,
    user: call.user ?? caller.externalUser,
    referer: request.referer,
    userAgent: request.userAgent,
    settings: settingsIn(request),
    finishReason: cancelled ? null : error === null ? said.finishReason : 'error',
    error: cancelled ? null : tracedError(error),
    isCancelled: cancelled,
    startedMs: createdMs,
    endedMs: createdMs + log.durationMs,
    firstContentSeconds: log.latencyMs === null ? null : log.latencyMs / 1000,
    usage: {
      input: inputTokens(usage),
      output: outputTokens(usage),
      cacheRead: usage.inputCacheRead,
      cacheWrite: usage.inputCacheWrite5m + usage.inputCacheWrite1h,
      reasoning: usage.outputReasoning,
    },
    costUsd: cost.isKnown ? dollars(cost.totalNanos) : null,
    attempts: log.attempts.map(tracedAttempt),
    innerAttempts: innerAttempts.map(tracedAttempt),
    toolCalls: (loop?.calls ?? []).map(({ tool, id, startedMs, durationMs, status }) => ({
      name: tool,
      callId: id,
      startedMs: at(startedMs),
      endedMs: at(startedMs + durationMs),
      isFailed: status === 'failed',
    })),
    guardrails: request.effects.flatMap(tracedGuardrail),
    named: namedTrace(request),
    isPrivate: keepsNothing(request.guardrails, call),
    ...beside,
  }
}

const tracedError = (error: GatewayError | null): TracedError | null =>
  error === null ? null : { type: error.type, message: error.publicMessage }

const tracedGuardrail = (effect: Effect): RequestTrace['guardrails'] => {
  if (effect.type !== 'guardrail') return []
  const { action } = effect.data
  return [
    {
      name: effect.name,
      guardrailId: effect.guardrail_id,
      scope: effect.guardrail_scope,
      action: typeof action === 'string' ? action : null,
    },
  ]
}

/** The settings as the client or its preset wrote them, whatever the translation made of them. */
const settingsIn = ({ call }: Planned): RequestTrace['settings'] => {
  const { body, carried: { settings: carried = {}, outputFormat } = {} } = call
  const number = (...names: readonly string[]): number | undefined => {
    const value = names.map((name) => body.value(name)).find((one) => typeof one === 'number')
    return typeof value === 'number' ? value : undefined
  }
  const stop = body.value('stop') ?? body.value('stop_sequences')
  const format = ['response_format', 'text', 'output_config'].map((name) => body.value(name)).find((value) => isObject(value))
  return {
    temperature: number('temperature'),
    topP: number('top_p'),
    topK: number('top_k'),
    maxTokens: call.maxOutputTokens ?? undefined,
    frequencyPenalty: number('frequency_penalty') ?? carried.frequencyPenalty?.value,
    presencePenalty: number('presence_penalty') ?? carried.presencePenalty?.value,
    stop: typeof stop === 'string' ? [stop] : Array.isArray(stop) ? textsIn(stop) : carried.stop?.value,
    seed: number('seed') ?? carried.seed?.value,
    candidates: number('n'),
    stream: call.stream,
    outputType: outputFormat !== undefined ? 'json' : isObject(format) ? outputType(format) : undefined,
  }
}

/** Chat Completions has the type in the field itself, the others in a `format` inside it. */
const outputType = (field: JsonObject): 'text' | 'json' => {
  const { type } = isObject(field['format']) ? field['format'] : field
  return typeof type === 'string' && type.startsWith('json') ? 'json' : 'text'
}

/** The question in the terms of the GenAI conventions. */
export const promptContent = (prompt: Prompt): Pick<TracedContent, 'system' | 'input' | 'tools'> => {
  const first = prompt.messages.findIndex(({ role }) => role !== 'system' && role !== 'developer')
  const system = first === -1 ? prompt.messages : prompt.messages.slice(0, first)
  return {
    system: system.flatMap(({ parts }) => parts.map(tracedPart)),
    input: prompt.messages
      .slice(system.length)
      .map((message): TracedMessage => ({ role: message.role, parts: message.parts.map(tracedPart) })),
    tools:
      prompt.tools.length === 0
        ? null
        : JSON.stringify(
            prompt.tools.map((tool) =>
              tool.type === 'function'
                ? { type: 'function', name: tool.name, description: tool.description, parameters: tool.parameters }
                : { type: tool.kind, ...(tool.type === 'custom' ? { name: tool.name } : {}) },
            ),
          ),
  }
}

/** Media are replaced by a note of their type. */
const tracedPart = (part: Part): TracedPart => {
  switch (part.type) {
    case 'text':
    case 'refusal':
      return { type: 'text', content: part.text }
    case 'reasoning':
      return { type: 'reasoning', content: part.text }
    case 'tool-call':
      return { type: 'tool_call', id: part.id, name: part.name, arguments: part.arguments }
    case 'tool-result':
      return { type: 'tool_call_response', id: part.callId, response: part.text }
    case 'image':
    case 'audio':
    case 'video':
    case 'file':
      return { type: 'text', content: `[${part.type}]` }
    case 'unknown':
      return { type: 'text', content: `[${part.kind}]` }
  }
}
