/**
 * What the three inference routes have in common: read the call, apply its preset, run it, and answer whole or as a
 * stream. The status of a provider's failure follows a setting (docs/contract/errors.md#provider-failures).
 * A stream commits with its first content (docs/contract/streams.md#commitment).
 */
import type { CustomerKeyLookup } from '../byok/customer-keys.ts'
import { NO_COST } from '../canonical/cost.ts'
import type { Frame } from '../canonical/event.ts'
import { NO_USAGE } from '../canonical/usage.ts'
import type { ProviderFailureMode } from '../contract/provider-failure.ts'
import type { GatewayError } from '../errors.ts'
import type { AnswerHead, AnswerTail, ClientFormat } from '../formats/format.ts'
import { isGuardrailBlock } from '../guardrails/detections.ts'
import type { Admit } from '../inference/budgeted-runs.ts'
import type { DryRun } from '../inference/dry-run.ts'
import { refusalMetadata, type RefusedRequest, routingMetadata } from '../inference/routing-metadata.ts'
import type { RunInference } from '../inference/run-inference.ts'
import type { InferenceRequest } from '../inference/inference-request.ts'
import type { Run } from '../inference/run.ts'
import { callerOf, type Principal } from '../keys/keys.ts'
import type { Clock } from '../lib/clock.ts'
import { JsonBody } from '../lib/json-body.ts'
import { JSON_LIMITS } from '../lib/json-scan.ts'
import { once } from '../lib/once.ts'
import { asPublicError, errorHeaders } from './error-boundary.ts'
import { STREAM_HEADERS, type EventStream, openEventStream } from './event-stream.ts'
import { jsonResponse, jsonText } from './json-response.ts'
import type { KeepAlive } from './keep-alive.ts'
import { metadataField, wantedFailure, wantsDryRun, wantsEcho } from './opt-ins.ts'
import type { PrepareCall } from './prepare-call.ts'
import { principalOf, type RouteRequest } from './route.ts'
import { refusedBy } from './screen-call.ts'
import { needsStatus } from './status-clients.ts'

export interface InferenceAnswering {
  readonly prepareCall: PrepareCall
  readonly customerKeys: CustomerKeysOf
  readonly runInference: RunInference
  readonly admit: Admit
  readonly dryRun: DryRun
  readonly keepAlive: KeepAlive
  readonly clock: Clock
  /** Streams commit to 200 after this much silence, failed or not. */
  readonly commitSilenceMs: number
  /** A client that takes nothing for this long is given up. */
  readonly unreadMs: number
  readonly providerFailure: ProviderFailureMode
  readonly onInternalError: (thrown: unknown) => void
}

/** The provider keys of the caller's own that it may use. */
export type CustomerKeysOf = (caller: Principal) => CustomerKeyLookup | null | Promise<CustomerKeyLookup | null>

export const answerInference = async (request: RouteRequest, format: ClientFormat, parts: InferenceAnswering): Promise<Response> => {
  const principal = principalOf(request)
  const received = await request.received()
  let run: Run
  /** Known once its call was read. */
  let asked: InferenceRequest | undefined
  try {
    const body = JsonBody.ofBytes(received, JSON_LIMITS)
    const isLarge = received.byteLength > LARGE_BYTES
    if (isLarge) await giveWay(parts.clock)
    const prepared = await parts.prepareCall(body, format, request.headers, principal)
    if (isLarge) await giveWay(parts.clock)
    const customerKeys = parts.customerKeys(principal)
    asked = {
      ...prepared,
      ...(request.pass === null ? {} : { pass: request.pass }),
      customerKeys: customerKeys instanceof Promise ? await customerKeys : customerKeys,
      apiType: 'completions',
      caller: callerOf(principal),
      requestId: request.requestId,
      userAgent: request.headers.get('user-agent'),
      referer: request.headers.get('http-referer') ?? request.headers.get('referer'),
      echo: wantsEcho(prepared.call),
    }
    if (wantsDryRun(request.headers)) return jsonResponse(await parts.dryRun(asked))
    run = parts.runInference(asked)
    await parts.admit(run)
    request.pass?.handOver()
  } catch (thrown) {
    const refused = asked ?? refusedBy(thrown)
    if (refused === undefined) throw thrown
    return refusal(asPublicError(thrown), refused, format, request.headers)
  }
  const leave = (): void => run.connection.leave()
  request.signal.addEventListener('abort', leave, { once: true })
  // It may have left while its preset was looked up, or its budget: an abort that is over is not told again.
  if (request.signal.aborted) leave()
  const answer = new Answer(run, format, request.headers, principal, parts)
  return run.request.call.stream ? answer.stream(leave) : answer.whole()
}

/** Each step of the work on a larger body takes so long that other requests get a turn between them. */
const LARGE_BYTES = 256 * 1024

const giveWay = (clock: Clock): Promise<void> => new Promise((resolve) => void clock.after(0, resolve))

/** For whoever asked how it would have been routed: always its real status. Throws the error where nobody did. */
const refusal = (error: GatewayError, request: RefusedRequest, format: ClientFormat, headers: Headers): Response => {
  const field = METADATA_LESS.has(error.status) ? null : metadataField(headers)
  if (field === null) throw error
  const metadata = { field, value: refusalMetadata(request, error) }
  const { body } = format.renderError(error, null, { usage: NO_USAGE, cost: NO_COST, endedSeconds: 0, metadata })
  return jsonText(body, { status: error.status, headers: errorHeaders(error) })
}

/** Validation, keys, and limits of our own have none (docs/contract/debugging.md#routing-metadata); nor has a 500. */
const METADATA_LESS: ReadonlySet<number> = new Set([400, 401, 413, 415, 429, 500])

/** One run on its way to one client. */
class Answer {
  readonly #run: Run
  readonly #format: ClientFormat
  readonly #parts: InferenceAnswering
  readonly #metadataField: ReturnType<typeof metadataField>
  readonly #clientHeaders: Headers
  readonly #keyWish: ProviderFailureMode | null

  constructor(run: Run, format: ClientFormat, headers: Headers, principal: Principal, parts: InferenceAnswering) {
    this.#run = run
    this.#format = format
    this.#parts = parts
    this.#metadataField = metadataField(headers)
    this.#clientHeaders = headers
    this.#keyWish = principal.providerFailure
  }

  /** Always where no provider was asked, or our own check failed; else by the request, its key or the server (docs/contract/errors.md#own-checks). */
  #tellsStatus(error: GatewayError): boolean {
    if (!this.#run.log.asked || isGuardrailBlock(error)) return true
    const mode = wantedFailure(this.#clientHeaders) ?? this.#keyWish ?? this.#parts.providerFailure
    return mode === 'auto' ? needsStatus(this.#clientHeaders) : mode === 'status'
  }

  /** Read when the answer begins: an attempt's losses are known by then. */
  get #headers(): Record<string, string> {
    const { generationId, request, warnings } = this.#run
    return {
      'x-generation-id': generationId,
      ...(request.preset === null ? {} : { 'x-preset': `${request.preset.slug}@${request.preset.version}` }),
      ...(warnings.length === 0 ? {} : { 'x-service-warnings': String(warnings.length) }),
    }
  }

  async whole(): Promise<Response> {
    const frames: Frame[] = []
    try {
      await this.#run.answer((batch) => void frames.push(...batch))
    } catch (thrown) {
      return this.#failure(thrown)
    }
    const { error } = this.#run.log
    const failure = error === null || this.#isAnswer(error) ? null : error
    const status = failure !== null && this.#tellsStatus(failure) ? failure.status : 200
    const headers = failure === null ? this.#headers : { ...this.#headers, ...errorHeaders(failure) }
    return jsonText(this.#format.renderAnswer(this.#head(), mergeFrames(frames), this.#tail()), { status, headers })
  }

  async stream(leave: () => void): Promise<Response> {
    const { keepAlive, onInternalError, clock, unreadMs, commitSilenceMs } = this.#parts
    const stream = once(() =>
      openEventStream(
        { leave, onInternalError, clock, unreadMs, openRenderer: () => this.#format.openStream(this.#head()), tail: () => this.#tail() },
        keepAlive,
      ),
    )
    const commitment = Promise.withResolvers<'answer' | 'silence' | Failure>()
    let isCommitted = false
    /** False where the response has begun already. */
    const commit = (outcome: 'answer' | 'silence' | Failure): boolean => {
      if (isCommitted) return false
      isCommitted = true
      commitment.resolve(outcome)
      return true
    }
    const cancelSilence = clock.after(commitSilenceMs, () => void commit('silence'))
    const answered = this.#run.answer((frames) => {
      commit('answer')
      return stream().take(frames)
    })
    answered.then(
      () => {
        commit('answer')
        stream().finish()
      },
      (thrown: unknown) => {
        if (!commit(new Failure(thrown))) stream().fail(thrown)
      },
    )
    const outcome = await commitment.promise
    cancelSilence()
    if (outcome === 'silence') stream().open()
    if (!(outcome instanceof Failure)) return this.#streamed(stream(), null)
    const error = asPublicError(outcome.thrown)
    const failure = this.#isAnswer(error) ? null : error
    if (failure !== null && this.#tellsStatus(failure)) return this.#failure(outcome.thrown)
    stream().fail(outcome.thrown)
    return this.#streamed(stream(), failure)
  }

  #streamed({ body }: EventStream, failure: GatewayError | null): Response {
    const retryAfter = failure === null ? {} : errorHeaders(failure)
    return new Response(body, { headers: { ...STREAM_HEADERS, ...this.#headers, ...retryAfter } })
  }

  /** Whether the dialect makes an answer of this failure (docs/contract/errors.md#length-errors). */
  #isAnswer(error: GatewayError): boolean {
    return this.#format.renderError(error, this.#head(), this.#tail()).answered
  }

  #failure(thrown: unknown): Response {
    const error = asPublicError(thrown)
    const isOwnCheck = !this.#run.log.asked && METADATA_LESS.has(error.status)
    const tail = isOwnCheck ? { ...this.#tail(), metadata: null } : this.#tail()
    const { body, answered } = this.#format.renderError(error, this.#head(), tail)
    const status = answered || !this.#tellsStatus(error) ? 200 : error.status
    return jsonText(body, { status, headers: { ...this.#headers, ...(answered ? {} : errorHeaders(error)) } })
  }

  #head(): AnswerHead {
    const { request, log, generationId, createdMs } = this.#run
    const { current, echoes } = log
    return {
      generationId,
      createdSeconds: Math.floor(createdMs / 1000),
      model: current?.planned.model.id ?? request.call.models[0] ?? request.requested,
      provider: current?.planned.endpoint.provider.name ?? null,
      request: request.call.body,
      ...(request.call.legacyFunctions === true ? { legacyFunctions: true } : {}),
      ...(request.hidden === undefined ? {} : { instructions: request.hidden.ownInstructions, hidden: request.hidden }),
      // Few answers tell it, and it is read off the whole request.
      get inputTokensEstimate() {
        return log.inputTokensEstimate
      },
      ...(echoes.length === 0 ? {} : { echoes }),
    }
  }

  #tail(): AnswerTail {
    const { bill, log, createdMs } = this.#run
    const { usage, cost } = bill
    const metadata = this.#metadataField === null ? null : { field: this.#metadataField, value: routingMetadata(this.#run) }
    return { usage, cost, endedSeconds: Math.floor((createdMs + log.durationMs) / 1000), metadata }
  }
}

class Failure {
  readonly thrown: unknown
  constructor(thrown: unknown) {
    this.thrown = thrown
  }
}

/** A whole answer as one frame; it is passed on in the upstream's own words only where it came as one. */
const mergeFrames = (frames: readonly Frame[]): Frame => {
  const only = frames[0]
  return frames.length === 1 && only !== undefined ? only : { events: frames.flatMap(({ events }) => events) }
}
