/** The log of one inference, written down as it happens: its attempts, what the last of them said, and how it ended. */
import type { Frame } from '../../canonical/event.ts'
import { NO_USAGE } from '../../canonical/usage.ts'
import type { Warning } from '../../canonical/warning.ts'
import type { GatewayError } from '../../errors.ts'
import type { Clock } from '../../lib/clock.ts'
import { atOnce, throughout, type Turn } from '../../lib/steps.ts'
import { redactBody } from '../../providers/redact-body.ts'
import { bodyText, type UpstreamRequest } from '../../providers/upstream.ts'
import { AnswerSoFar, type AttemptOutput } from './answer-so-far.ts'
import type { AttemptOutcome } from './attempt-outcome.ts'
import { countedUsage } from './bill.ts'
import { hideInError } from '../hide-in-error.ts'
import { type Planned, strictError } from '../stages.ts'
import { estimatedInputTokens } from './estimated-tokens.ts'

interface Echo {
  readonly provider: string
  readonly model: string
  /** Redacted. */
  readonly body: string
}

type LoggedRequest = Pick<Planned, 'call' | 'apiType' | 'hidden' | 'strict' | 'echo'>

/** For the attempt of this number, from 0, at a provider of this address. */
type TraceHeaders = (attempt: number, baseUrl: string) => Readonly<Record<string, string>> | null

type Writable<T> = { -readonly [Name in keyof T]: T[Name] }

export class AttemptLog {
  readonly request: LoggedRequest
  readonly #clock: Clock
  /** On the monotonic clock, as the times of attempts. */
  readonly startedMs: number
  readonly #attempts: Writable<AttemptOutcome>[] = []
  readonly #echoes: Echo[] = []
  #said: AnswerSoFar
  /** The time of the first turn's content, where there were several turns. */
  #firstContentMs: number | null = null
  #turn = 1
  #error: GatewayError | null = null
  #isTrying = false
  #isCancelled = false
  #isAbandoned = false
  #durationMs: number | null = null
  #inputTokensEstimate: number | null = null
  /** The headers that join a provider's trace to this one's; null: none. */
  traceHeaders: TraceHeaders | null = null

  constructor(request: LoggedRequest, clock: Clock, startedMs: number) {
    this.request = request
    this.#clock = clock
    this.startedMs = startedMs
    this.#said = new AnswerSoFar(clock, request.call.legacyFunctions === true)
  }

  get attempts(): readonly AttemptOutcome[] {
    return this.#attempts
  }

  /** The attempt that answers or answered; undefined before the first began. */
  get current(): AttemptOutcome | undefined {
    return this.#attempts.at(-1)
  }

  /** The words of the last attempt. */
  get said(): AttemptOutput {
    return this.#said
  }

  /** Milliseconds to the first content of the answer; null before. */
  get latencyMs(): number | null {
    const contentMs = this.#firstContentMs ?? this.#said.contentMs
    return contentMs === null ? null : contentMs - this.startedMs
  }

  /** The failure that the client gets; while an attempt goes on, that of the one before it. */
  get error(): GatewayError | null {
    return this.#error
  }

  /** Says whether any provider was asked. Where none was, the failure is our own refusal (docs/contract/errors.md#own-checks). */
  get asked(): boolean {
    return this.#attempts.some(({ asked }) => asked)
  }

  /** The current attempt has neither succeeded nor failed. */
  get trying(): boolean {
    return this.#isTrying
  }

  /** The client left before the end. */
  get cancelled(): boolean {
    return this.#isCancelled
  }

  /** It left while a provider was at work on it. */
  get abandoned(): boolean {
    return this.#isAbandoned
  }

  get ended(): boolean {
    return this.#durationMs !== null
  }

  /** From the beginning to the end; 0 before the end. */
  get durationMs(): number {
    return this.#durationMs ?? 0
  }

  /** Milliseconds so far, or in all. */
  get elapsedMs(): number {
    return this.#durationMs ?? this.#sinceStartMs()
  }

  /** The bodies that were sent, one for each attempt, where the client asked to see them. */
  get echoes(): readonly Echo[] {
    return this.#echoes
  }

  get inputTokensEstimate(): number {
    return (this.#inputTokensEstimate ??= estimatedInputTokens(this.request.call))
  }

  /** An attempt begins. Nothing that an earlier one said is part of its answer. */
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
    this.#said = new AnswerSoFar(this.#clock, this.request.call.legacyFunctions === true)
    this.#isTrying = true
    return attempt
  }

  /** The answer goes on: what was said so far stands, and the next attempt adds to it. */
  nextTurn(): void {
    this.#turn += 1
    this.#firstContentMs ??= this.#said.contentMs
    this.#said = new AnswerSoFar(this.#clock, this.request.call.legacyFunctions === true)
    this.#inputTokensEstimate = null
  }

  /** The current attempt's body goes out. Where the client wants to see it, it is made fit for that first, with turns for others where it is large. */
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

  /** The current attempt's body did not go out after all: there was no connection for it. */
  notSent(): void {
    const attempt = this.#attempts.at(-1)
    if (attempt !== undefined) attempt.asked = false
  }

  /** The current attempt's provider answered with this status. */
  answered(status: number): void {
    const attempt = this.#attempts.at(-1)
    if (attempt !== undefined) attempt.upstreamStatus = status
  }

  /** The translation loses something. Throws `invalid_request` where the request is strict. */
  readonly warn = (warning: Warning): void => {
    if (this.request.strict) throw strictError(warning)
    this.#said.lose(warning)
  }

  /** Something was lost that it is too late to refuse: a part of the answer has gone out. */
  lose(warning: Warning): void {
    this.#said.lose(warning)
  }

  /** The current attempt sent these frames; see `AnswerSoFar`. */
  observe(frames: readonly Frame[], rewritten = false): void {
    this.#said.observe(frames, rewritten)
  }

  /** The current attempt answered. */
  succeed(): void {
    this.#endAttempt(null)
    this.#error = null
  }

  /** The current attempt failed. */
  fail(failure: GatewayError): GatewayError {
    const error = hideInError(failure, this.request.hidden)
    this.#endAttempt(error)
    this.#error = error
    return error
  }

  /** The answer is this failure: the one that the client gets for all attempts. */
  refuse(error: GatewayError): GatewayError {
    this.#error = error
    return error
  }

  /** The client left. */
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
