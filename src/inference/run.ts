/** What is known of one inference while it runs and when it has ended: the facts behind its answer, its record and its metadata. */
import type { CustomerKeyLookup } from '../byok/customer-keys.ts'
import type { Call } from '../canonical/call.ts'
import { atCustomersCost, NO_COST, type Cost } from '../canonical/cost.ts'
import type { Frame, TakeFrames } from '../canonical/event.ts'
import type { PipelineStage } from '../canonical/pipeline.ts'
import type { RoutingPolicy } from '../canonical/routing-policy.ts'
import type { HiddenPrompt } from '../canonical/hidden-prompt.ts'
import { askedWork } from '../canonical/asked-work.ts'
import { inputSizeOf } from '../canonical/input-size.ts'
import { inputTokens, NO_USAGE, outputTokens, type Usage, withEstimates } from '../canonical/usage.ts'
import type { Warning } from '../canonical/warning.ts'
import { errorRow, type ErrorType, GatewayError } from '../errors.ts'
import type { OutputScreen } from '../guardrails/screen-output.ts'
import type { Clock } from '../lib/clock.ts'
import type { IdSource } from '../lib/id.ts'
import type { Spender } from '../ledger/scope.ts'
import type { PriceEntry } from '../models/catalogue-schema.ts'
import type { ModelEndpoint } from '../models/models.ts'
import { costOf } from '../models/price.ts'
import { endpointThatServed } from '../models/served-endpoint.ts'
import { redactBody } from '../providers/redact-body.ts'
import type { UpstreamRequest } from '../providers/upstream.ts'
import type { Credential } from '../routing/credentials.ts'
import type { Plan, PlannedAttempt } from '../routing/plan-attempts.ts'
import { hideInError } from './hide-in-error.ts'
import type { Dispatch } from './itinerary.ts'

export interface InferenceRequest {
  readonly call: Call
  readonly apiType: 'completions' | 'embeddings'
  /** The model as the client named it, preset and all. */
  readonly requested: string
  readonly preset: UsedPreset | null
  /** Absent where no preset put words of its own in front of the client's. */
  readonly hidden?: HiddenPrompt
  readonly warnings: readonly Warning[]
  /** Every warning is an error. */
  readonly strict: boolean
  /** What the caller's guardrails leave to choose from; absent or null: everything. */
  readonly policy?: RoutingPolicy | null
  /** What was done to the request, and, as it happens, to its answer. */
  readonly pipeline?: readonly PipelineStage[]
  /** Each attempt's answer goes through a screen of its own; absent: nothing looks at it. */
  readonly screenOutput?: () => OutputScreen
  readonly caller: Caller
  /** Its leave to run: ended when it is settled. */
  readonly pass?: { end(tokens: number): void }
  /** The provider keys of the caller's own that it may use; absent or null where it has none. */
  readonly customerKeys?: CustomerKeyLookup | null
  readonly requestId: string
  readonly userAgent: string | null
  readonly referer: string | null
  /** The request bodies that go to providers are kept, for the client to see (docs/contract/debugging.md#echo). */
  readonly echo?: boolean
}

/** What a budget lets this run spend. */
export interface RunHold {
  /** The limit of output that goes to an endpoint whose dialect wants one; null where the request has its own. */
  outputTokens(endpoint: ModelEndpoint): number | null
  /** To be waited for before a body goes out. Throws 402, 403 and 503 where it may cost more than can be held. */
  cover(run: Run, planned: PlannedAttempt, body: UpstreamRequest['body']): undefined | Promise<void>
}

/** Who asks, and whose limits and budgets bound it. */
export interface Caller extends Spender {
  /** Who uses its key, for the record of a request that names no user of its own. */
  readonly externalUser: string | null
}

export interface UsedPreset {
  readonly id: string
  readonly slug: string
  readonly version: number
}

export interface AttemptOutcome {
  readonly planned: PlannedAttempt
  readonly credential: Credential
  readonly startedMs: number
  /** Of its first content; null before. */
  contentMs: number | null
  endedMs: number
  error: GatewayError | null
  /** What it used when it ended; an attempt that failed may have used something too. */
  usage: Usage
  /** The request was handed over to go out: from here on a failure is the provider's. */
  asked: boolean
  /** What the provider's server answered; null where it did not, or has none. */
  upstreamStatus: number | null
  /** What the provider calls its answer. */
  upstreamId: string | null
}

/** The status of an attempt as its provider gave it, where it did; else ours for what happened. */
export const statusOf = ({ error, upstreamStatus }: AttemptOutcome): number =>
  error === null ? 200 : upstreamStatus !== null && upstreamStatus >= 300 ? upstreamStatus : error.status

/** Characters of a token, where nobody counted: an estimate for records and for the dialect that must name a number early. */
const CHARACTERS_PER_TOKEN = 4

/** About what the providers count for a picture. */
const IMAGE_TOKENS = 1290
const IMAGE_CHARACTERS = CHARACTERS_PER_TOKEN * IMAGE_TOKENS

/** How long the rest of an answer that nobody waits for is read, for its usage. */
const DRAIN_MS = 30_000

/** Of a name that an upstream writes. */
const KIND_MAX = 80

/** Losses of one answer that are told: an upstream can invent as many types as it has bytes. */
const LOSSES_MAX = 50

type Answer = (run: Run, deliver: TakeFrames) => Promise<void>

export class Run {
  readonly request: InferenceRequest
  /** Until the first attempt it may lose attempts that a budget does not bear. */
  plan: Plan
  readonly generationId: string
  readonly createdMs: number
  readonly attempts: AttemptOutcome[] = []
  /** Milliseconds to the first content, and to the end. */
  latencyMs: number | null = null
  durationMs = 0
  finishReason: string | null = null
  nativeFinishReason: string | null = null
  error: GatewayError | null = null
  /** Null where nothing bounds its caller. */
  hold: RunHold | null = null
  /** Prices to count at where those of the endpoint are unknown and a budget has to be enforced. */
  assumedPrices: PriceEntry | null = null
  /** An answer without a token that failed, or ended without a reason, costs nothing even if the provider counted. */
  emptyIsFree = false
  readonly #clock: Clock
  readonly #startedMs: number
  readonly #answer: Answer
  /** Bodies that were sent, redacted, where they are to be shown: one for each attempt. */
  readonly echoes: { readonly provider: string; readonly model: string; readonly body: string }[] = []
  /** Called with each outgoing body when the client asked to see it. */
  readonly sending: ((body: string) => void) | undefined
  /** Losses of the current attempt's translation. */
  #losses: Warning[] = []
  #usage: Usage | null = null
  #inputTokensEstimate: number | null = null
  #deliveredCharacters = 0
  /** Of them, those behind the newest count that the provider told. */
  #uncountedCharacters = 0
  #ended = false
  /** The current attempt has neither succeeded nor failed. */
  #trying = false
  #connection: AbortController | null = null
  #stopReason: GatewayError | null = null
  #cancelled = false
  /** It left while a provider was at work on it. */
  #abandoned = false
  #endDrain: (() => void) | null = null

  constructor(request: InferenceRequest, plan: Plan, parts: { readonly clock: Clock; readonly ids: IdSource }, answer: Answer) {
    this.request = request
    this.plan = plan
    this.createdMs = parts.clock.now()
    // Ids that grow with time land on neighbouring pages of their index: a random one costs storage twice the writing.
    this.generationId = parts.ids.prefixed(`gen-${Math.floor(this.createdMs / 1000)}`)
    this.#clock = parts.clock
    this.#startedMs = parts.clock.monotonicMs()
    this.#answer = answer
    this.sending = request.echo === true ? (body) => this.#echo(body) : undefined
  }

  #echo(body: string): void {
    const planned = this.current?.planned
    this.echoes.push({
      provider: planned?.endpoint.provider.name ?? '',
      model: planned?.model.id ?? '',
      body: redactBody(body, this.request.hidden),
    })
  }

  /**
   * Hands the answer to `deliver` as it comes, and resolves when it has ended and was settled. Rejects where nothing of it was
   * said; after that a failure is its last event. To be called once; who wants no more of it leaves.
   */
  answer(deliver: TakeFrames): Promise<void> {
    return this.#answer(this, deliver)
  }

  /** The client left before the end. */
  get cancelled(): boolean {
    return this.#cancelled
  }

  /** Milliseconds so far, or in all. */
  get elapsedMs(): number {
    return this.#ended ? this.durationMs : this.#clock.monotonicMs() - this.#startedMs
  }

  /** Nobody waits for the answer any more: no other attempt is made. */
  get stopped(): boolean {
    return this.#stopReason !== null || this.#cancelled
  }

  /** The client is gone: the upstream is closed, now or, where the provider bills all the same, when it has told the usage. */
  leave(): void {
    if (this.#ended || this.#cancelled) return
    this.#cancelled = true
    this.#abandoned = this.#trying
    const stop = (): void => this.stop(new GatewayError('timeout', 'The client closed the connection.'))
    if (this.drains) this.#endDrain = this.#clock.after(DRAIN_MS, stop)
    else stop()
  }

  /** The client is gone, and what it left is read to its end (the provider's `on_cancel`). */
  get drains(): boolean {
    return this.#abandoned && this.#stopReason === null && this.current?.planned.endpoint.provider.onCancel === 'drain'
  }

  /** Ends the answer with this error, and closes the upstream. */
  stop(reason: GatewayError): void {
    if (this.#ended || this.#stopReason !== null) return
    this.#stopReason = reason
    this.#connection?.abort(reason)
  }

  /** The attempt that answers or answered; undefined before the first began. */
  get current(): AttemptOutcome | undefined {
    return this.attempts.at(-1)
  }

  /** Whether any provider was asked. Where none was, the failure is our own refusal (docs/contract/errors.md#own-checks). */
  get asked(): boolean {
    return this.attempts.some(({ asked }) => asked)
  }

  /** The connection of a new attempt. One controller serves the client's leaving and every deadline: nothing has to be unhooked. */
  begin({ planned, credential }: Dispatch): { readonly connection: AbortController; readonly outcome: AttemptOutcome } {
    const connection = new AbortController()
    this.#connection = connection
    if (this.#stopReason !== null) connection.abort(this.#stopReason)
    const nowMs = this.#clock.monotonicMs()
    const outcome = {
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
    this.attempts.push(outcome)
    // Nothing that an earlier attempt said is part of this one's answer.
    this.#usage = null
    this.#losses = []
    this.#deliveredCharacters = 0
    this.#uncountedCharacters = 0
    this.latencyMs = null
    this.finishReason = null
    this.nativeFinishReason = null
    this.#trying = true
    return { connection, outcome }
  }

  /** What the answer could not honour: of the request itself, and of the translation to the provider that answers. */
  get warnings(): readonly Warning[] {
    // While an attempt goes on, the last one's failure is not the answer.
    const error = this.#trying ? null : this.error
    return [...this.request.warnings, ...this.plan.warnings, ...this.#losses, ...answeredError(error, this.request.call)]
  }

  /** Throws `invalid_request` where the request is strict. */
  readonly warn = (warning: Warning): void => {
    if (this.request.strict) throw strictError(warning)
    this.#losses.push(warning)
  }

  /** `rewritten`: what the client gets of it is said again from the events. */
  observe(frames: readonly Frame[], rewritten = false): void {
    for (const { events, native } of frames) {
      for (const event of events) {
        switch (event.type) {
          case 'text':
          case 'reasoning':
          case 'refusal':
            this.#deliver(event.text.length)
            break
          case 'tool-call':
            this.#deliver(event.name.length)
            break
          case 'tool-arguments':
            this.#deliver(event.json.length)
            break
          case 'usage':
            this.#usage = event.usage
            this.#uncountedCharacters = 0
            break
          case 'finish':
            this.finishReason = event.reason
            this.nativeFinishReason = event.native
            break
          case 'start':
            if (this.current !== undefined) this.current.upstreamId = event.upstreamId
            break
          case 'image':
            this.#deliver(IMAGE_CHARACTERS)
            break
          case 'text-break':
          case 'citation':
          case 'reasoning-end':
          case 'logprobs':
          case 'error':
            break
          case 'unknown':
            if (rewritten || native === undefined) this.#lack(event.kind)
        }
      }
    }
  }

  succeed(): void {
    this.#endAttempt()
    this.error = null
  }

  /** The answer is this failure: what the client is told of all attempts. */
  refuse(error: GatewayError): GatewayError {
    this.error = error
    return error
  }

  /** Records the failure of the current attempt. */
  fail(failure: GatewayError): GatewayError {
    const error = hideInError(failure, this.request.hidden)
    const attempt = this.#endAttempt()
    if (attempt !== undefined) attempt.error = error
    this.error = error
    return error
  }

  end(): void {
    this.#ended = true
    this.#endDrain?.()
    if (this.#trying) this.#endAttempt()
    this.durationMs = this.#clock.monotonicMs() - this.#startedMs
  }

  get errorType(): ErrorType | null {
    return this.error?.type ?? null
  }

  /** What the provider counted; where it counted nothing, or nothing that can be, our estimate, marked as one (docs/contract/budgets.md#missing-usage). */
  get usage(): Usage {
    const told = this.#usage
    const spoke = this.#deliveredCharacters > 0
    // A prompt that was left is a prompt that was read; one that the provider failed is not.
    if (told === null && !spoke && !this.#abandoned) return NO_USAGE
    const known = told ?? NO_USAGE
    const [input, output] = [inputTokens(known), outputTokens(known)]
    // Vectors are an answer that is told without output.
    const answered = spoke || output > 0 || this.finishReason !== null || (told !== null && this.request.apiType === 'embeddings')
    const lacksInput =
      (answered && known.untoldInput) || (input === 0 && (spoke || output > 0)) || (input + output === 0 && this.#abandoned)
    // An answer that was cut may have gone on behind the last count of it.
    const isBehind = this.finishReason === null && this.#uncountedCharacters > 0
    const lacksOutput = spoke && (known.untoldOutput || output === 0 || isBehind)
    return withEstimates(known, {
      input: lacksInput ? this.inputTokensEstimate : null,
      output: lacksOutput ? this.#outputTokensEstimate : null,
    })
  }

  /** Only the first of several answers is read here. */
  get #outputTokensEstimate(): number {
    return Math.ceil(this.#deliveredCharacters / CHARACTERS_PER_TOKEN) * askedWork(this.request.call.body).answers
  }

  get inputTokensEstimate(): number {
    return (this.#inputTokensEstimate ??= estimatedInputTokens(this.request.call))
  }

  /** A failed answer costs what the provider counted, or what was said before it failed; without either, nothing (docs/contract/budgets.md#missing-usage). */
  get cost(): Cost {
    const { current, usage } = this
    if (current === undefined || (this.error !== null && inputTokens(usage) + outputTokens(usage) === 0)) return NO_COST
    // Vectors have no tokens and no reason to end, and are an answer all the same.
    const failed = this.error !== null || (this.finishReason === null && this.request.apiType === 'completions')
    if (this.emptyIsFree && failed && !this.#cancelled && this.#ended && outputTokens(usage) === 0) return NO_COST
    const prices = this.#served?.prices ?? (this.costIsAssumed ? this.assumedPrices : null)
    const cost = costOf(usage, prices, prices?.image === undefined ? 0 : inputSizeOf(this.request.call.body).images)
    return current.credential.isByok ? atCustomersCost(cost) : cost
  }

  /** Neither a price nor the provider itself told the cost: it was counted at a price of the operator's choice. */
  get costIsAssumed(): boolean {
    return this.assumedPrices !== null && this.#served?.prices === null && this.usage.reportedCostNanos === null
  }

  /** The endpoint whose tier answered: the answer's own word for the tier counts, and where it has none, the request's. */
  get #served(): ModelEndpoint | undefined {
    const planned = this.current?.planned
    if (planned === undefined) return undefined
    const told = this.#usage?.servedTier ?? null
    // Of Anthropic's two words, `standard` tells the capacity, and nothing of the speed.
    const isSpeedUntold = told === null || told === 'standard'
    const tier = isSpeedUntold && this.request.call.body.value('speed') === 'fast' ? 'fast' : told
    return endpointThatServed(planned.model, planned.endpoint, tier)
  }

  #endAttempt(): AttemptOutcome | undefined {
    this.#trying = false
    const attempt = this.current
    if (attempt === undefined) return undefined
    attempt.endedMs = this.#clock.monotonicMs()
    attempt.usage = this.usage
    return attempt
  }

  /** The client's dialect has no word for a part of the answer. It is too late to refuse that, so a strict request gets it too. */
  #lack(kind: string): void {
    const message = `The answer holds a part of type ${kind.slice(0, KIND_MAX)}, which could not be translated; it was left out.`
    if (this.#losses.length >= LOSSES_MAX || this.#losses.some((known) => known.message === message)) return
    this.#losses.push({ code: 'untranslated_output', field: 'output', message })
  }

  #deliver(characters: number): void {
    if (characters > 0 && this.latencyMs === null) {
      const nowMs = this.#clock.monotonicMs()
      this.latencyMs = nowMs - this.#startedMs
      if (this.current !== undefined) this.current.contentMs = nowMs
    }
    this.#deliveredCharacters += characters
    this.#uncountedCharacters += characters
  }
}

/** Strict requests would rather fail than lose something. */
export const strictError = ({ field, message }: Warning): GatewayError =>
  new GatewayError('invalid_request', `${field}: ${message}`, { metadata: { issues: [{ path: field, message }], strict: true } })

/** Without a tokenizer: the length of the body counts, of which the prompt is nearly all, and the pictures by their number. */
export const estimatedInputTokens = ({ body }: Call): number => {
  const { textBytes, images, mediaBytes } = inputSizeOf(body)
  return Math.ceil((textBytes + mediaBytes) / CHARACTERS_PER_TOKEN) + images * IMAGE_TOKENS
}

/** An error of length is an answer on Responses (docs/contract/errors.md#length-errors), in which nothing else tells what happened. */
const answeredError = (error: GatewayError | null, { dialect }: Call): readonly Warning[] =>
  error === null || dialect !== 'responses' || errorRow(error.type).length !== true
    ? []
    : [{ code: 'answered_error', field: 'input', message: error.publicMessage, error_type: error.type }]
