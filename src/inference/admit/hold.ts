/**
 * The part of a request's held money that one inference may spend. No body goes out that may cost more: each body is measured just before
 * it is sent, after presets, rules and translations have changed it. If it may cost more, the hold grows first, or the body is not sent.
 */
import { askedWork } from '../../canonical/asked-work.ts'
import { NO_USAGE, PICTURE_TOKENS, type Usage } from '../../canonical/usage.ts'
import { type EstimateSettings, heldTools, outgoingNanos, unlimitedOutput } from '../../ledger/estimate.ts'
import { isBudgetRefusal } from '../../ledger/refusal.ts'
import { atOnce, inTurns, LARGE_BYTES, type Steps, type Turn } from '../../lib/steps.ts'
import { costBeside, toolNanos, type ToolWork } from '../../models/price.ts'
import { type UpstreamRequest, wireBody } from '../../providers/transport/upstream.ts'
import { vendorOf } from '../../providers/vendors/vendors.ts'
import type { PlannedAttempt } from '../../routing/plan-attempts.ts'
import type { Purse } from './purse.ts'
import { dialectOf } from '../run/dialect-of.ts'
import type { Planned } from '../request.ts'
import { unheldTools } from '../unheld-tools.ts'
import type { PriceEntry } from '../../models/catalogue-schema.ts'
import type { ModelEndpoint } from '../../models/model.ts'

export class Hold {
  readonly #request: Planned
  readonly #purse: Purse
  readonly #settings: EstimateSettings
  /** This inference's share of the purse. */
  #nanos: number
  #spentNanos = 0
  /** How many times the cost of a body must fit: an answer that runs tools keeps enough for one more turn, which is longer. */
  #turns: number
  /** The maximum cost of the last body that went out. */
  #measuredNanos = 0
  /** The cost of the provider's own tools beyond the part of the body's measure that is for them. */
  #toolNanos = 0
  #ranDry = false

  constructor(request: Planned, purse: Purse, shareNanos: number, settings: EstimateSettings) {
    this.#request = request
    this.#purse = purse
    this.#nanos = shareNanos
    this.#settings = settings
    this.#turns = request.tools === null ? 1 : TURNS_HELD
  }

  /**
   * A hold for an inference that this one needs, such as the question that a tool asks. It spends from the same purse; this one keeps its
   * own share.
   */
  within(request: Planned): Hold {
    return new Hold(request, this.#purse, 0, this.#settings)
  }

  /** True if the last body was not sent because the budget could not pay for it. */
  get ranDry(): boolean {
    return this.#ranDry
  }

  /** Sets the cost of the turns so far: that amount is no longer available to the next turn. */
  spend(nanos: number): void {
    this.#spentNanos = nanos
    // A stream has spent what its tools did. The pictures that a whole answer may draw are held once, for all of its turns.
    if (this.#request.call.stream) this.#toolNanos = 0
  }

  /** The next turn is the last one, so nothing has to be kept for another one. */
  useReserve(): void {
    this.#turns = 1
  }

  /** Ends the inference at this cost and frees the rest of its share. */
  end(costNanos: number): void {
    this.#purse.release(this.#nanos - costNanos)
  }

  /** The amount that is held for the whole request. */
  get heldNanos(): number {
    return this.#purse.heldNanos
  }

  /** The output limit to send to an endpoint whose dialect requires one; null if the request sets its own. */
  outputTokens(endpoint: ModelEndpoint): number | null {
    const { call } = this.#request
    return call.maxOutputTokens === null ? unlimitedOutput(call.body, endpoint, this.#settings) : null
  }

  /**
   * How many calls of its own tools the provider is allowed for a whole answer that may draw; null if nothing has to be said. Only a stream
   * shows pictures as they are begun, so here all of them are held before or, if the budgets cannot pay for them, one (decisions/0231).
   */
  toolCalls({ endpoint }: PlannedAttempt): number | null | Promise<number> {
    const { call } = this.#request
    const work = askedWork(call.body)
    if (call.stream || !work.draws || !vendorOf(endpoint.provider.slug).openAiModels) return null
    const wanted = work.toolCalls ?? PICTURES_MAX
    const picture = toolNanos({ ...NO_USAGE, drawn: PICTURE_TOKENS }, this.#pricesOf(endpoint), 0)
    const more = picture * (wanted - 1) - this.#toolNanos
    if (more <= 0) return wanted
    const held = (): number => {
      this.#nanos += more
      this.#toolNanos += more
      return wanted
    }
    return this.#purse.add(more).then(held, (refused: unknown) => {
      if (!isBudgetRefusal(refused)) throw refused
      // The amount that an earlier attempt could hold is still held.
      return 1 + Math.floor(this.#toolNanos / picture)
    })
  }

  /**
   * Wait for this before a stream goes on in which tools of the provider that the request names have done, or have begun, this work. Throws
   * `unheldTools` if they cost more than can be held.
   */
  coverTools({ endpoint }: PlannedAttempt, usage: Usage): undefined | Promise<void> {
    const work = askedWork(this.#request.call.body)
    const prices = this.#pricesOf(endpoint)
    const costOf = (tools: ToolWork): number => toolNanos(tools, prices, work.containerGigabytes)
    const expected = heldTools(work, endpoint)
    const held = costOf(expected)
    // The models that write drawings (`svg`) are counted apart from the answer.
    const authored = expected.drawn > 0 ? costBeside(usage, prices)?.totalNanos : undefined
    const beyond = costOf(usage) + (authored ?? 0) - held
    if ((held === 0 && authored === undefined) || beyond <= this.#toolNanos) return undefined
    this.#toolNanos = beyond
    return this.#reserve(this.#measuredNanos)?.catch((refused: unknown) => {
      // This body was sent: no other one may take the place of its answer.
      this.#ranDry = false
      throw unheldTools(refused)
    })
  }

  #pricesOf({ prices }: ModelEndpoint): PriceEntry {
    return prices ?? this.#settings.assumedPrices
  }

  /** Wait for this before a body goes out. Throws 402, 403 and 503 if the body may cost more than can be held. */
  cover(planned: PlannedAttempt, body: UpstreamRequest['body'], turn: Turn | undefined): undefined | Promise<void> {
    const measuring = this.#measuring(planned, body)
    return turn === undefined || body.length <= LARGE_BYTES
      ? this.#reserve(atOnce(measuring))
      : inTurns(measuring, turn).then((measured) => this.#reserve(measured))
  }

  *#measuring(planned: PlannedAttempt, body: UpstreamRequest['body']): Steps<number> {
    const { call, apiType } = this.#request
    // Most bodies go out as they came with another model, and are not read again.
    const model = (typeof body === 'string' ? call.body.stringPutIn('model', body) : undefined) ?? null
    const sent = model === null ? yield* wireBody(body) : call.body
    const outgoing = { dialect: dialectOf(planned, call), apiType, clientBody: call.body, model }
    return yield* outgoingNanos(sent, outgoing, planned, this.#settings)
  }

  #reserve(measured: number): undefined | Promise<void> {
    this.#measuredNanos = measured
    const needed = this.#spentNanos + measured * this.#turns + this.#toolNanos
    this.#ranDry = false
    return needed <= this.#nanos ? undefined : this.#grow(needed)
  }

  /**
   * Call it before running tools that may cost this much: returns whether the fee can be held in addition to what was spent and a last
   * turn.
   */
  async coversFees(spentNanos: number, feeNanos: number): Promise<boolean> {
    const needed = spentNanos + feeNanos + this.#measuredNanos * (TURNS_HELD - 1)
    try {
      if (needed > this.#nanos) await this.#grow(needed)
      return true
    } catch (refused) {
      if (!this.#ranDry) throw refused
      // No body was refused.
      this.#ranDry = false
      return false
    }
  }

  async #grow(nanos: number): Promise<void> {
    try {
      await this.#purse.add(nanos - this.#nanos)
      this.#nanos = nanos
    } catch (refused) {
      this.#ranDry = isBudgetRefusal(refused)
      throw refused
    }
  }
}

/** The most pictures of a whole answer whose request does not say how many calls it wants (`max_tool_calls`). */
const PICTURES_MAX = 4

/** How many turns' cost a hold covers: the turn itself, and a last one that reads all of it and says as much again. */
export const TURNS_HELD = 3
