/**
 * The common part of the three inference routes: it reads the request, passes it to the pipeline, and writes the answer, whole or
 * as a stream. The status of a provider's failure follows a setting (docs/contract/errors.md#provider-failures). A stream commits
 * with its first content (docs/contract/streams.md#commitment).
 */
import { isLargeAnswer } from '../../canonical/answer-parts.ts'
import type { Frame } from '../../canonical/event.ts'
import type { ProviderFailureMode } from '../../contract/provider-failure.ts'
import { asGatewayError, type GatewayError } from '../../errors.ts'
import type { AnswerHead, AnswerTail, ClientFormat } from '../../formats/format.ts'
import type { Admitted, StatusReporter } from '../../inference/admitted.ts'
import { answerHead, answerTail } from '../../inference/answer-head.ts'
import type { Pipeline } from '../../inference/pipeline.ts'
import { Refused } from '../../inference/refused.ts'
import type { Clock } from '../../lib/clock.ts'
import { nextStage } from '../../lib/cohort.ts'
import { atOnce, inTurns } from '../../lib/steps.ts'
import { once } from '../../lib/once.ts'
import { answerDryRun } from './answer-dry-run.ts'
import { answerHeaders } from './answer-headers.ts'
import { errorHeaders } from '../error-boundary.ts'
import { STREAM_HEADERS, type EventStream, openEventStream } from '../response/event-stream.ts'
import { jsonText } from '../response/json-response.ts'
import type { KeepAlive } from '../response/keep-alive.ts'
import { leaveWith } from './leave-with.ts'
import { metadataField, wantedFailure, wantsDryRun } from './opt-ins.ts'
import { receivedOf } from './received.ts'
import { failureTail, refusal } from './refusal.ts'
import type { RouteRequest } from '../route.ts'
import { needsStatus } from '../status-clients.ts'

export interface InferenceAnswering {
  readonly pipeline: Pipeline
  readonly keepAlive: KeepAlive
  readonly clock: Clock
  /** A stream commits to 200 after this much silence, whether it failed or not. */
  readonly commitSilenceMs: number
  /** A client that reads nothing for this long is given up. */
  readonly unreadMs: number
  readonly providerFailure: ProviderFailureMode
  readonly onInternalError: (thrown: unknown) => void
  /** Called with the number of characters that clients leave unread, and with a negative number when they have read them. */
  readonly onUnread: (change: number) => void
}

export const answerInference = async (request: RouteRequest, format: ClientFormat, parts: InferenceAnswering): Promise<Response> => {
  const received = receivedOf(request, 'completions', format, await request.json())
  const asked = wantedFailure(request.headers)
  if (wantsDryRun(request.headers)) return answerDryRun(received, format, request.headers, parts.pipeline)
  const admitted = await parts.pipeline.admit(received)
  if (admitted instanceof Refused) return refusal(admitted, format, request.headers)
  const leave = leaveWith(request.signal, admitted)
  const answer = new Answer(admitted, format, { headers: request.headers, asked }, parts)
  return admitted.request.call.stream ? answer.stream(leave) : answer.whole()
}

interface FailureReporting {
  readonly headers: Headers
  /** How the client asks for failures of providers; null if it does not say. */
  readonly asked: ProviderFailureMode | null
}

/** One admitted request on its way to one client. */
class Answer implements StatusReporter {
  readonly #admitted: Admitted
  readonly #format: ClientFormat
  readonly #parts: InferenceAnswering
  readonly #metadataField: ReturnType<typeof metadataField>
  readonly #clientHeaders: Headers
  readonly #asked: ProviderFailureMode | null
  #isCommitted = false

  constructor(admitted: Admitted, format: ClientFormat, { headers, asked }: FailureReporting, parts: InferenceAnswering) {
    this.#admitted = admitted
    this.#format = format
    this.#parts = parts
    this.#metadataField = metadataField(headers)
    this.#clientHeaders = headers
    this.#asked = asked
    admitted.statusReporter = this
  }

  statusOf({ error, cancelled }: Parameters<StatusReporter['statusOf']>[0]): number | null {
    if (this.#isCommitted) return 200
    return cancelled ? null : this.#statusFor(error)
  }

  /** The status of an answer that has not begun. */
  #statusFor(error: GatewayError | null): number {
    return error === null || this.#isAnswer(error) || !this.#hasRealStatus(error) ? 200 : error.status
  }

  /** True for every refusal of our own; otherwise the request, its key or the server decides (docs/contract/errors.md#own-checks). */
  #hasRealStatus(error: GatewayError): boolean {
    if (this.#admitted.refuses(error)) return true
    const mode = this.#asked ?? this.#admitted.request.principal.providerFailure ?? this.#parts.providerFailure
    return mode === 'auto' ? needsStatus(this.#clientHeaders) : mode === 'status'
  }

  async whole(): Promise<Response> {
    const frames: Frame[] = []
    const error = await this.#parts.pipeline.answer(this.#admitted, (batch) => void frames.push(...batch))
    if (error !== null && frames.length === 0) return this.#failure(error)
    await nextStage
    const failure = error === null || this.#isAnswer(error) ? null : error
    const status = this.#statusFor(error)
    const headers = failure === null ? answerHeaders(this.#admitted) : { ...answerHeaders(this.#admitted), ...errorHeaders(failure) }
    const answer = mergeFrames(frames)
    const rendering = this.#format.renderAnswer(this.#head(), answer, this.#tail(), error)
    const text = isLargeAnswer(answer) ? await inTurns(rendering, this.#parts.pipeline.turn) : atOnce(rendering)
    return jsonText(text, { status, headers })
  }

  async stream(leave: () => void): Promise<Response> {
    const { pipeline, keepAlive, onInternalError, onUnread, clock, unreadMs, commitSilenceMs } = this.#parts
    const stream = once(() =>
      openEventStream(
        {
          leave,
          onInternalError,
          onUnread,
          clock,
          turn: pipeline.turn,
          unreadMs,
          openRenderer: () => this.#format.openStream(this.#head()),
          tail: () => this.#tail(),
        },
        keepAlive,
      ),
    )
    const commitment = Promise.withResolvers<'answer' | 'silence' | GatewayError>()
    /** Returns false if the response has begun already. */
    const commit = (outcome: 'answer' | 'silence' | GatewayError): boolean => {
      if (this.#isCommitted) return false
      this.#isCommitted = true
      commitment.resolve(outcome)
      return true
    }
    const cancelSilence = clock.after(commitSilenceMs, () => void commit('silence'))
    const answered = pipeline.answer(this.#admitted, (frames) => {
      commit('answer')
      return stream().take(frames)
    })
    const ended = (error: GatewayError | null): void => {
      if (error === null) {
        commit('answer')
        stream().finish()
      } else if (!commit(error)) stream().fail(error)
    }
    answered.then(ended, (thrown: unknown) => ended(asGatewayError(thrown)))
    const outcome = await commitment.promise
    cancelSilence()
    if (outcome === 'silence') stream().open()
    if (typeof outcome === 'string') return this.#streamed(stream(), null)
    const failure = this.#isAnswer(outcome) ? null : outcome
    if (failure !== null && this.#hasRealStatus(failure)) return this.#failure(outcome)
    stream().fail(outcome)
    return this.#streamed(stream(), failure)
  }

  #streamed({ body }: EventStream, failure: GatewayError | null): Response {
    const retryAfter = failure === null ? {} : errorHeaders(failure)
    return new Response(body, { headers: { ...STREAM_HEADERS, ...answerHeaders(this.#admitted), ...retryAfter } })
  }

  /** True if the dialect turns this failure into an answer (docs/contract/errors.md#length-errors). */
  #isAnswer(error: GatewayError): boolean {
    return this.#format.renderError(error, this.#head(), this.#tail()).answered
  }

  #failure(error: GatewayError): Response {
    const { body, answered } = this.#format.renderError(error, this.#head(), failureTail(this.#admitted, error, this.#metadataField))
    const status = answered || !this.#hasRealStatus(error) ? 200 : error.status
    return jsonText(body, { status, headers: { ...answerHeaders(this.#admitted), ...(answered ? {} : errorHeaders(error)) } })
  }

  #head(): AnswerHead {
    return answerHead(this.#admitted)
  }

  #tail(): AnswerTail {
    return answerTail(this.#admitted, this.#metadataField)
  }
}

/** A whole answer as one frame; it is passed on in the upstream's own words only if it came as one frame. */
const mergeFrames = (frames: readonly Frame[]): Frame => {
  const only = frames[0]
  return frames.length === 1 && only !== undefined ? only : { events: frames.flatMap(({ events }) => events) }
}
