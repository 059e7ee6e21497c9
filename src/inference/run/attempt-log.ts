/** The log of one inference, written as it happens: its attempts, the output of the last of them, and how it ended. */
import type { Frame } from '../../canonical/event.ts'
import { NO_USAGE } from '../../canonical/usage.ts'
import type { Warning } from '../../canonical/warning.ts'
import type { GatewayError } from '../../errors.ts'
import type { Clock } from '../../lib/clock.ts'
import { atOnce, throughout, type Turn } from '../../lib/steps.ts'
import { redactBody } from '../../providers/redaction/redact-body.ts'
import { bodyText, type UpstreamRequest } from '../../providers/transport/upstream.ts'
import { AnswerSoFar, type AttemptOutput } from './answer-so-far.ts'
import type { AttemptOutcome } from './attempt-outcome.ts'
import { countedUsage } from './bill.ts'
import { hideInError } from '../screen/hide-in-error.ts'
import { hideOwnCredentials } from '../screen/own-credentials.ts'
import { type Planned, strictError } from '../request.ts'
import { estimatedInputTokens } from './estimated-tokens.ts'
import type { Echo } from '../../formats/format.ts'

type LoggedRequest = Pick<Planned, 'call' | 'apiType' | 'hidden' | 'strict' | 'echo'>

/** `attempt` counts from 0; `baseUrl` is the provider's. */
type TraceHeaders = (attempt: number, baseUrl: string) => Readonly<Record<string, string>> | null

type Writable<T> = { -readonly [Name in keyof T]: T[Name] }

export class AttemptLog {
  readonly request: LoggedRequest
  readonly #clock: Clock
  /** On the monotonic clock, like the times of attempts. */
  readonly startedMs: number
  readonly #attempts: Writable<AttemptOutcome>[] = []
  readonly #echoes: Echo[] = []
  #said: AnswerSoFar
  /** The time of the first turn's content, if there were several turns. */
  #firstContentMs: number | null = null
  #turn = 1
  #error: GatewayError | null = null
  #isTrying = false
  #isCancelled = false
  #isAbandoned = false
  #durationMs: number | null = null
  #inputTokensEstimate: number | null = null
  /** The headers that join a provider's trace to this one; null if there are none. */
  traceHeaders: TraceHeaders | null = null

  constructor(request: LoggedRequest, clock: Clock, startedMs: number) {
    this.request = request
    this.#clock = clock
    this.startedMs = startedMs
    this.#said = new AnswerSoFar(clock, request.call)
  }

  get attempts(): readonly AttemptOutcome[] {
    return this.#attempts
  }

  /** The attempt that is answering or has answered; undefined before the first began. */
  get current(): AttemptOutcome | undefined {
    return this.#attempts.at(-1)
  }

  get said(): AttemptOutput {
    return this.#said
  }

  /** Milliseconds until the first content of the answer; null before it. */
  get latencyMs(): number | null {
    const contentMs = this.#firstContentMs ?? this.#said.contentMs
    return contentMs === null ? null : contentMs - this.startedMs
  }

  /** The failure that the client gets; during an attempt, the failure of the one before it. */
  get error(): GatewayError | null {
    return this.#error
  }

  /** True if any provider was asked. If none was, the failure is our own refusal (docs/contract/errors.md#own-checks). */
  get asked(): boolean {
    return this.#attempts.some(({ asked }) => asked)
  }

  /** True while the current attempt has neither succeeded nor failed. */
  get trying(): boolean {
    return this.#isTrying
  }

  /** True if the client left before the end. */
  get cancelled(): boolean {
    return this.#isCancelled
  }

  /** True if the client left while a provider was working on the answer. */
  get abandoned(): boolean {
    return this.#isAbandoned
  }

  get ended(): boolean {
    return this.#durationMs !== null
  }

  /** Milliseconds from the beginning to the end; 0 before the end. */
  get durationMs(): number {
    return this.#durationMs ?? 0
  }

  /** Milliseconds until now, or until the end once it is reached. */
  get elapsedMs(): number {
    return this.#durationMs ?? this.#sinceStartMs()
  }

  /** The bodies that were sent, one for each attempt, if the client asked to see them. */
  get echoes(): readonly Echo[] {
    return this.#echoes
  }

  get inputTokensEstimate(): number {
    return (this.#inputTokensEstimate ??= estimatedInputTokens(this.request.call))
  }

  /** Begins an attempt. Nothing that an earlier attempt said is part of its answer. */
  begin({ planned, credential }: Pick<AttemptOutcome, 'planned' | 'credential'>): AttemptOutcome {
    const nowMs = this.#clock.monotonicMs()
    const attempt = {
      turn: this.#turn,
      planned,
      credential,
      startedMs: nowMs,
      contentMs: null,
      endedMs: nowMs,
      error: null,
      usage: NO_USAGE,
      asked: false,
      upstreamStatus: null,
      upstreamId: null,
    }
    this.#attempts.push(attempt)
    this.#said = new AnswerSoFar(this.#clock, this.request.call)
    this.#isTrying = true
    return attempt
  }

  /** The answer continues: what was said so far stands, and the next attempt adds to it. */
  nextTurn(): void {
    this.#turn += 1
    this.#firstContentMs ??= this.#said.contentMs
    this.#said = new AnswerSoFar(this.#clock, this.request.call)
    this.#inputTokensEstimate = null
  }

  /**
   * Records that the current attempt's body goes out. If the client wants to see the body, it is redacted first, in steps if it is large.
   */
  sent(body: UpstreamRequest['body'], turn: Turn | undefined): void | Promise<void> {
    const attempt = this.#attempts.at(-1)
    if (attempt !== undefined) attempt.asked = true
    if (!this.request.echo) return undefined
    const keep = (shown: string): void => {
      const { planned } = attempt ?? {}
      this.#echoes.push({ provider: planned?.endpoint.provider.name ?? '', model: planned?.model.id ?? '', body: shown })
    }
    const redacting = redactBody(bodyText(body), this.request.hidden)
    const shown = turn === undefined ? atOnce(redacting) : throughout(redacting, turn)
    return typeof shown === 'string' ? keep(shown) : shown.then(keep)
  }

  /** Records that the current attempt's body did not go out after all, because there was no connection for it. */
  notSent(): void {
    const attempt = this.#attempts.at(-1)
    if (attempt !== undefined) attempt.asked = false
  }

  /** Records the status with which the current attempt's provider answered. */
  answered(status: number): void {
    const attempt = this.#attempts.at(-1)
    if (attempt !== undefined) attempt.upstreamStatus = status
  }

  /** Records a loss in the translation. Throws `invalid_request` if the request is strict. */
  readonly warn = (warning: Warning): void => {
    if (this.request.strict) throw strictError(warning)
    this.#said.lose(warning)
  }

  /** Records a loss that can no longer be refused, because a part of the answer has gone out. */
  lose(warning: Warning): void {
    this.#said.lose(warning)
  }

  /** Records frames of the current attempt; see `AnswerSoFar`. */
  observe(frames: readonly Frame[], rewritten = false): void {
    this.#said.observe(frames, rewritten)
  }

  succeed(): void {
    this.#endAttempt(null)
    this.#error = null
  }

  fail(failure: GatewayError): GatewayError {
    const error = hideOwnCredentials(hideInError(failure, this.request.hidden), this.request.call.body)
    this.#endAttempt(error)
    this.#error = error
    return error
  }

  /** Sets the failure that the client gets for all attempts together. */
  refuse(error: GatewayError): GatewayError {
    this.#error = error
    return error
  }

  leave(): void {
    this.#isCancelled = true
    this.#isAbandoned = this.#isTrying
  }

  end(): void {
    if (this.#isTrying) this.#endAttempt(null)
    this.#durationMs = this.#sinceStartMs()
  }

  #sinceStartMs(): number {
    return this.#clock.monotonicMs() - this.startedMs
  }

  #endAttempt(error: GatewayError | null): void {
    this.#isTrying = false
    const attempt = this.#attempts.at(-1)
    if (attempt === undefined) return
    attempt.endedMs = this.#clock.monotonicMs()
    attempt.contentMs = this.#said.contentMs
    attempt.upstreamId = this.#said.upstreamId
    attempt.usage = countedUsage(this)
    if (error !== null) attempt.error = error
  }
}
