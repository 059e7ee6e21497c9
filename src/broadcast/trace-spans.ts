/**
 * The spans of a request: the request itself, below it a span that the client names, if any, below that the generation, and below the
 * generation its attempts, if there were several, its tool calls and the attempts of models that tools asked.
 */
import type { AttributeValue } from '../lib/otlp-json.ts'
import { type AttributeName, OPERATIONS, PROVIDER_NAMES } from './attribute-names.ts'
import type { RequestTrace, TracedAttempt, TracedContent, TracedError, TracedPart } from './request-trace.ts'
import { derivedSpanId, derivedTraceId, spanIdOf, traceIdOf } from './trace-ids.ts'

export interface Span {
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId: string | null
  readonly name: string
  readonly kind: 'internal' | 'server' | 'client'
  readonly startedMs: number
  readonly endedMs: number
  readonly attributes: Attributes
  /** The members of the client's `trace` other than the names that this service reads, by their keys. */
  readonly metadata: Readonly<Record<string, AttributeValue>>
  readonly error: TracedError | null
}

export type Attributes = { readonly [Name in AttributeName]?: AttributeValue | null | undefined }

/** The parts of a trace that a destination gets. */
export interface TraceView {
  readonly content: boolean
  readonly cost: boolean
  readonly identity: boolean
  readonly requestContext: boolean
}

/** The root comes first, and the generation before the spans below it. */
export const spansOf = (trace: RequestTrace, view: TraceView): readonly Span[] => {
  const { generationId, startedMs, endedMs, attempts } = trace
  const traceId = traceIdIn(trace)
  const rootId = derivedSpanId(generationId, 'request')
  const namedId = derivedSpanId(generationId, 'span')
  const generationSpan = generationSpanId(trace)
  const parentText = textIn(trace, 'parent_span_id')
  const spanName = textIn(trace, 'span_name')
  const error = shownError(trace.error, trace, view)
  const about = aboutRequest(trace, view)
  const metadata = metadataOf(trace)
  const common = { traceId, startedMs, endedMs }
  const root: Span = {
    ...common,
    spanId: rootId,
    parentSpanId: parentText === null ? (trace.parent?.spanId ?? null) : spanIdOf(parentText),
    name: textIn(trace, 'trace_name') ?? trace.model,
    kind: 'server',
    attributes: { ...about, ...failed(error) },
    metadata,
    error,
  }
  const named: readonly Span[] =
    spanName === null
      ? []
      : [{ ...common, spanId: namedId, parentSpanId: rootId, name: spanName, kind: 'internal', attributes: {}, metadata: {}, error }]
  const generation: Span = {
    ...common,
    spanId: generationSpan,
    parentSpanId: spanName === null ? rootId : namedId,
    name: textIn(trace, 'generation_name') ?? `${OPERATIONS[trace.operation]} ${trace.model}`,
    kind: 'client',
    attributes: { ...about, ...aboutGeneration(trace, view), ...failed(error) },
    metadata,
    error,
  }
  const below = (one: Omit<Span, 'traceId' | 'parentSpanId' | 'metadata'>): Span => ({
    ...one,
    traceId,
    parentSpanId: generationSpan,
    metadata: {},
  })
  const tried = attempts.length > 1 ? attempts : []
  return [
    root,
    ...named,
    generation,
    ...tried.map((attempt, at) => below(attemptSpan(trace, attempt, { name: 'attempt', at }, view))),
    ...trace.toolCalls.map((_, at) => below(toolSpan(trace, at, view))),
    ...trace.innerAttempts.map((attempt, at) => below(attemptSpan(trace, attempt, { name: 'inner', at }, view))),
    ...trace.guardrails.map((_, at) => ({ ...below(guardrailSpan(trace, at)), parentSpanId: rootId })),
  ]
}

/** The id that the client named, else that of its `traceparent`, else one derived from the generation. */
export const traceIdIn = ({ generationId, named, parent }: Pick<RequestTrace, 'generationId' | 'named' | 'parent'>): string => {
  const text = namedText(named, 'trace_id')
  return text === null ? (parent?.traceId ?? derivedTraceId(generationId)) : traceIdOf(text).traceId
}

/**
 * A generation with a single attempt has that attempt's id, which the provider got before it was known whether other attempts would follow.
 */
const generationSpanId = ({ generationId, attempts }: RequestTrace): string =>
  derivedSpanId(generationId, attempts.length === 1 ? 'attempt 0' : 'generation')

const namedText = (named: RequestTrace['named'], key: string): string | null => {
  const value = named?.[key]
  return typeof value === 'string' && value !== '' ? value : null
}

const textIn = ({ named }: RequestTrace, key: string): string | null => namedText(named, key)

/** Members of `trace` that name spans; all others are metadata. */
export const TRACE_NAMES: ReadonlySet<string> = new Set(['trace_id', 'trace_name', 'span_name', 'generation_name', 'parent_span_id'])

/** Scalars are kept, everything else becomes JSON text. A trace id that had to be hashed is added as the client wrote it. */
const metadataOf = ({ named }: RequestTrace): Span['metadata'] => {
  if (named === null) return {}
  const reported = Object.entries(named).flatMap(([key, value]): [string, AttributeValue][] => {
    if (TRACE_NAMES.has(key) || value === null) return []
    return [[key, typeof value === 'object' ? JSON.stringify(value) : value]]
  })
  const id = namedText(named, 'trace_id')
  return Object.fromEntries(id !== null && traceIdOf(id).isHashed ? [['trace_id', id], ...reported] : reported)
}

const aboutRequest = (trace: RequestTrace, view: TraceView): Attributes => ({
  sessionId: trace.sessionId,
  conversationId: trace.sessionId,
  userId: trace.user,
  generationId: trace.generationId,
  requestId: trace.requestId,
  preset: trace.presetSlug,
  presetVersion: trace.presetVersion,
  workspaceId: trace.workspaceId,
  attempts: trace.attempts.length,
  cancelled: trace.isCancelled ? true : null,
  contentLeftOut: view.content && trace.contentLeftOut ? true : null,
  ...(view.identity ? { keyLabel: trace.keyName } : {}),
  ...(view.requestContext ? { referer: trace.referer, userAgent: trace.userAgent } : {}),
})

const aboutGeneration = (trace: RequestTrace, view: TraceView): Attributes => {
  const { settings, usage } = trace
  return {
    operation: OPERATIONS[trace.operation],
    provider: trace.provider === null ? null : providerName(trace.provider),
    requestModel: trace.requestedModel,
    responseModel: trace.model,
    responseId: trace.generationId,
    finishReasons: trace.finishReason === null ? null : [trace.finishReason],
    timeToFirstChunk: trace.firstContentSeconds,
    temperature: settings.temperature,
    topP: settings.topP,
    topK: settings.topK,
    maxTokens: settings.maxTokens,
    frequencyPenalty: settings.frequencyPenalty,
    presencePenalty: settings.presencePenalty,
    stopSequences: settings.stop,
    // A larger seed was rounded, to a number beyond 64 bits at worst, for which a receiver may refuse all that came with it.
    seed: Number.isSafeInteger(settings.seed) ? settings.seed : null,
    stream: settings.stream,
    choiceCount: settings.candidates,
    outputType: settings.outputType,
    inputTokens: usage.input,
    outputTokens: usage.output,
    cacheReadTokens: usage.cacheRead,
    cacheCreationTokens: usage.cacheWrite,
    reasoningTokens: usage.reasoning,
    promptTokens: usage.input,
    completionTokens: usage.output,
    totalTokens: usage.input + usage.output,
    ...(view.cost ? { cost: trace.costUsd, costUsd: trace.costUsd } : {}),
    ...contentAttributes(contentIn(trace, view), trace.finishReason),
  }
}

export const providerName = (slug: string): string => PROVIDER_NAMES[slug] ?? slug

/** Null if the destination must not get the question and the answer. */
export const contentIn = (trace: RequestTrace, view: TraceView): TracedContent | null => (showsText(trace, view) ? trace.content : null)

/** An error may quote the question or the answer. */
const shownError = (error: TracedError | null, trace: RequestTrace, view: TraceView): TracedError | null =>
  error === null || showsText(trace, view) ? error : { ...error, message: null }

const showsText = ({ isPrivate }: RequestTrace, view: TraceView): boolean => view.content && !isPrivate

const contentAttributes = (content: TracedContent | null, finishReason: string | null): Attributes =>
  content === null
    ? {}
    : {
        inputMessages: JSON.stringify(content.input),
        outputMessages: JSON.stringify([outputMessage(content.output, finishReason)]),
        systemInstructions: content.system.length === 0 ? null : JSON.stringify(content.system),
        toolDefinitions: content.tools,
      }

const outputMessage = (parts: readonly TracedPart[], finishReason: string | null) => ({
  role: 'assistant',
  parts,
  ...(finishReason === null ? {} : { finish_reason: finishReason }),
})

type Below = Omit<Span, 'traceId' | 'parentSpanId' | 'metadata'>

/** The place of an attempt: its index among those of the answer, or of the inferences within it. */
interface AttemptPlace {
  readonly name: 'attempt' | 'inner'
  readonly at: number
}

const attemptSpan = (trace: RequestTrace, attempt: TracedAttempt, { name, at }: AttemptPlace, view: TraceView): Below => {
  const error = shownError(attempt.error, trace, view)
  return {
    spanId: derivedSpanId(trace.generationId, `${name} ${at}`),
    name: `${OPERATIONS.chat} ${attempt.model}`,
    kind: 'client',
    startedMs: attempt.startedMs,
    endedMs: attempt.endedMs,
    attributes: {
      provider: providerName(attempt.provider),
      requestModel: attempt.upstreamModel,
      attempt: at + 1,
      httpStatus: attempt.status,
      ...failed(error),
    },
    error,
  }
}

const toolSpan = (trace: RequestTrace, at: number, view: TraceView): Below => {
  const call = trace.toolCalls[at] ?? NO_CALL
  const said = contentIn(trace, view)?.toolCalls.get(call.callId)
  const error = call.isFailed ? { type: 'tool_error', message: null } : null
  return {
    spanId: derivedSpanId(trace.generationId, `tool ${at}`),
    name: `${OPERATIONS.tool} ${call.name}`,
    kind: 'internal',
    startedMs: call.startedMs,
    endedMs: call.endedMs,
    attributes: {
      operation: OPERATIONS.tool,
      toolName: call.name,
      toolCallId: call.callId,
      toolType: 'extension',
      toolArguments: said?.arguments,
      toolResult: said?.result,
      ...failed(error),
    },
    error,
  }
}

const NO_CALL = { name: '', callId: '', startedMs: 0, endedMs: 0, isFailed: false }

/** Guardrails run before the first attempt, and their time is not measured, so their spans have no duration. */
const guardrailSpan = ({ generationId, guardrails, startedMs }: RequestTrace, at: number): Below => {
  const { name = '', guardrailId = '', scope = '', action = null } = guardrails[at] ?? {}
  return {
    spanId: derivedSpanId(generationId, `guardrail ${at}`),
    name: `guardrail ${name}`,
    kind: 'internal',
    startedMs,
    endedMs: startedMs,
    attributes: { guardrailName: name, guardrailId, guardrailScope: scope, guardrailAction: action },
    error: null,
  }
}

const failed = (error: TracedError | null): Attributes => (error === null ? {} : { errorType: error.type })
