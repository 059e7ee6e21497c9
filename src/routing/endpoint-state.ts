/** The state of one endpoint, learnt from our own attempts, and its breaker: closed, open for a while, then half-open for one probe. */
import { SlidingCounts } from './sliding-counts.ts'
import { SlidingHistogram, type Percentiles } from './sliding-histogram.ts'
import type { AttemptReport, EndpointHealth } from './endpoint-health.ts'

/** These limits decide when a breaker opens, and for how long (docs/contract/failover.md#circuit-breakers). */
const CONSECUTIVE_FAILURES_MAX = 5
const RATED_ATTEMPTS_MIN = 20
const FAILED_SHARE_MAX = 0.5
const OPEN_MS = 30_000
const OPEN_MS_MAX = 300_000
/** A significant outage: at least this many failures in the last 30 s, and more than this share of the attempts. */
const OUTAGE_FAILURES_MIN = 3
const OUTAGE_SHARE = 0.2
/** The cooldown after a 429 that names no time. */
const COOLDOWN_MS = 5000
const COOLDOWN_MS_MAX = 300_000

const SECOND_MS = 1000
const MINUTE_MS = 60 * SECOND_MS

export class EndpointState implements EndpointHealth {
  /** Attempts that have begun and not ended. */
  inFlight = 0
  /** The provider's slug. */
  readonly provider: string
  readonly #now: () => number
  /** False for providers that fail on purpose. */
  readonly #ejectable: boolean
  readonly #recent = new SlidingCounts(SECOND_MS, 31)
  readonly #last5m = new SlidingCounts(10 * SECOND_MS, 31)
  readonly #last30m = new SlidingCounts(MINUTE_MS, 31)
  readonly #last1d = new SlidingCounts(30 * MINUTE_MS, 49)
  readonly #latency = measuring()
  readonly #throughput = measuring()
  #consecutiveFailures = 0
  /** 0: closed. In the past: half-open. */
  #openUntilMs = 0
  #openedMs = 0
  #openings = 0
  #probing = false
  #coolingUntilMs = 0
  /** Reports of other nodes: until when the endpoint gets no request, is tried last, and is avoided if there is another one. */
  #heardOpenUntilMs = 0
  #heardTroubledUntilMs = 0
  #heardCoolingUntilMs = 0

  constructor(now: () => number, provider: string, ejectable: boolean) {
    this.#now = now
    this.provider = provider
    this.#ejectable = ejectable
  }

  /** Findings of this process that still hold, in milliseconds from now. */
  get found(): { readonly openMs: number; readonly coolingMs: number } {
    const nowMs = this.#now()
    return { openMs: Math.max(0, this.#openUntilMs - nowMs), coolingMs: Math.max(0, this.#coolingUntilMs - nowMs) }
  }

  /** Takes the findings of other nodes, replacing earlier ones. `ejects`: enough of the model's other endpoints would be left. */
  hear({ openMs, coolingMs }: { readonly openMs: number; readonly coolingMs: number }, ejects: boolean): void {
    const nowMs = this.#now()
    const isOpen = this.#ejectable && openMs > 0
    this.#heardTroubledUntilMs = isOpen ? nowMs + openMs : 0
    this.#heardOpenUntilMs = isOpen && ejects ? nowMs + openMs : 0
    this.#heardCoolingUntilMs = this.#ejectable && coolingMs > 0 ? nowMs + coolingMs : 0
  }

  get breaker(): EndpointHealth['breaker'] {
    if (this.#heardOpenUntilMs !== 0 && this.#now() < this.#heardOpenUntilMs) return 'open'
    if (this.#openUntilMs === 0) return 'closed'
    return this.#probing || this.#now() < this.#openUntilMs ? 'open' : 'half-open'
  }

  get cooling(): boolean {
    const untilMs = Math.max(this.#coolingUntilMs, this.#heardCoolingUntilMs)
    return untilMs !== 0 && this.#now() < untilMs
  }

  get retryAfterSeconds(): number | null {
    const isOpen = this.breaker === 'open'
    if (!isOpen && !this.cooling) return null
    // If the breaker is still open although its time is over, a probe is running and its result comes soon.
    const openUntilMs = isOpen ? Math.max(this.#openUntilMs, this.#heardOpenUntilMs) : 0
    const untilMs = Math.max(openUntilMs, this.#coolingUntilMs, this.#heardCoolingUntilMs)
    return Math.max(1, Math.ceil((untilMs - this.#now()) / SECOND_MS))
  }

  get troubled(): boolean {
    if (!this.#ejectable) return false
    if (this.#heardTroubledUntilMs !== 0 && this.#now() < this.#heardTroubledUntilMs) return true
    const { ok, failed } = this.#recent.advance(this.#now())
    return failed >= OUTAGE_FAILURES_MIN && failed > (ok + failed) * OUTAGE_SHARE
  }

  get latencyMs(): Percentiles | null {
    return this.#latency.last5m?.percentiles(this.#now()) ?? null
  }

  get tokensPerSecond(): Percentiles | null {
    return this.#throughput.last5m?.percentiles(this.#now()) ?? null
  }

  get last30m(): EndpointHealth['last30m'] {
    const nowMs = this.#now()
    return {
      latencyMs: this.#latency.last30m?.percentiles(nowMs) ?? null,
      tokensPerSecond: this.#throughput.last30m?.percentiles(nowMs) ?? null,
    }
  }

  get uptime(): EndpointHealth['uptime'] {
    const nowMs = this.#now()
    return { last5m: this.#last5m.share(nowMs), last30m: this.#last30m.share(nowMs), last1d: this.#last1d.share(nowMs) }
  }

  /** Returns true if an attempt may begin; a half-open breaker lets one through. */
  admit(): boolean {
    const breaker = this.breaker
    if (breaker === 'open') return false
    if (breaker === 'half-open') this.#probing = true
    this.inFlight += 1
    return true
  }

  /** `mayOpen` returns true if enough of the model's other endpoints would be left. */
  report({ outcome, firstTokenMs, tokensPerSecond, retryAfterSeconds, startedMs }: AttemptReport, mayOpen: () => boolean): void {
    this.inFlight -= 1
    const nowMs = this.#now()
    const probed = this.#probing && !this.#isStraggler(startedMs)
    if (probed) this.#probing = false
    if (outcome === 'cancelled') return
    if (outcome === 'rate-limited') {
      const forMs = retryAfterSeconds === null ? COOLDOWN_MS : Math.min(COOLDOWN_MS_MAX, retryAfterSeconds * SECOND_MS)
      if (this.#ejectable) this.#coolingUntilMs = Math.max(this.#coolingUntilMs, nowMs + forMs)
      return
    }
    const failed = outcome === 'failure'
    for (const counts of [this.#recent, this.#last5m, this.#last30m, this.#last1d]) counts.add(nowMs, failed)
    if (outcome === 'ok') {
      if (firstTokenMs !== null) add(this.#latency, nowMs, firstTokenMs)
      if (tokensPerSecond !== null) add(this.#throughput, nowMs, tokensPerSecond)
    }
    if (failed) this.#fail(nowMs, probed, mayOpen)
    // A provider that reports a fault of the request can be reached and works.
    else this.#recover(probed)
  }

  /** An answer may take longer than the breaker stays open: its end says nothing about a probe that is running. */
  #isStraggler(startedMs = Number.POSITIVE_INFINITY): boolean {
    return this.#openUntilMs !== 0 && startedMs <= this.#openedMs
  }

  #recover(probed: boolean): void {
    this.#consecutiveFailures = 0
    if (!probed) return
    this.#openUntilMs = 0
    this.#openings = 0
  }

  #fail(nowMs: number, probed: boolean, mayOpen: () => boolean): void {
    this.#consecutiveFailures += 1
    // An attempt that began before the breaker opened says nothing new.
    if (!this.#ejectable || (this.#openUntilMs !== 0 && !probed)) return
    if (!probed && !(this.#isOutlier() && mayOpen())) return
    this.#openings += 1
    this.#openedMs = nowMs
    this.#openUntilMs = nowMs + Math.min(OPEN_MS_MAX, OPEN_MS * this.#openings)
  }

  #isOutlier(): boolean {
    const { ok, failed } = this.#recent
    return (
      this.#consecutiveFailures >= CONSECUTIVE_FAILURES_MAX ||
      (ok + failed >= RATED_ATTEMPTS_MIN && failed > (ok + failed) * FAILED_SHARE_MAX)
    )
  }
}

/** Created only when there is something to measure, since this takes most of an endpoint's memory. */
interface Measured {
  last5m?: SlidingHistogram
  last30m?: SlidingHistogram
}

const measuring = (): Measured => ({})

const add = (measured: Measured, nowMs: number, value: number): void => {
  measured.last5m ??= new SlidingHistogram(5 * MINUTE_MS)
  measured.last30m ??= new SlidingHistogram(30 * MINUTE_MS)
  measured.last5m.add(nowMs, value)
  measured.last30m.add(nowMs, value)
}
