/**
 * Limits for the requests of one key, counted by all nodes together in a store. A request waits for at most one round trip, and not at all
 * if its key has no limits. While the store is unavailable each node enforces its part of the limits, so that neither everything is refused
 * nor anything is unlimited (docs/contract/operating.md#several-nodes).
 */
import type { Clock } from '../lib/clock.ts'
import { inTime } from '../lib/in-time.ts'
import type { BoundReached, Correction, KeyBounds, LimitStore } from '../storage/limits/limit-store.ts'
import { createLocalMeter, createRunningCounts, isBounded, type KeyMeter } from './key-meter.ts'

export interface SharedMeter extends KeyMeter {
  /** Tries to reach the store once, so that it is ready for the first request. */
  connect(): Promise<void>
  /**
   * Starts retrying the store while it is unavailable, and reporting running requests to it. The returned function stops that, and resolves
   * when the store has the report that nothing runs.
   */
  start(): () => Promise<void>
  /**
   * Asks the store something that no request waits for. Undefined if nothing is shared or the store is unavailable; a store that does not
   * answer counts as unavailable from then on.
   */
  consult<Answer>(question: (store: LimitStore) => Promise<Answer>): Promise<Answer | undefined>
  /** True if each node enforces its part of the limits because the store is unavailable. */
  readonly away: boolean
  /** The number of requests that were decided without the store although it should have been asked. */
  readonly decidedAlone: number
}

export interface SharedMeterParts {
  readonly clock: Clock
  /** Null if this process counts on its own. A store whose `asksAlone` is false is used only while there are several nodes. */
  readonly store: LimitStore | null
  /** The number of nodes, including this one, as last reported. */
  readonly nodes: () => number
  /** A store that does not answer within this many milliseconds counts as unavailable. */
  readonly timeoutMs: () => number
  /** Called when the store becomes unavailable, with the reason, and with null when it is available again. */
  readonly onAway: (thrown: unknown) => void
}

/** Corrections wait this many milliseconds for others, to be sent together. */
const GATHER_MS = 5
const PROBE_MS = 1000
/** Connecting takes longer than an answer: it may need a DNS look-up and TLS. */
const CONNECT_MS = 2000
/** No request waits for this, so a store that is slow for a moment is not given up. */
const CONSULT_MS = 2000
/** Running requests are reported again in every third tick, before their lease expires. */
const RENEW_EVERY = 3
/** The maximum number of corrections sent at once. */
const CORRECTIONS_MAX = 500
/** The maximum number of keys whose usage is remembered while the store is unavailable. */
const OWED_MAX = 10_000

export const createSharedMeter = (parts: SharedMeterParts): SharedMeter => {
  const { clock, store, nodes, timeoutMs, onAway } = parts
  const local = createLocalMeter(clock)
  const running = createRunningCounts()
  /** Usage that the store does not know yet, by key and limits. */
  const owed = new Map<string, Correction>()
  /** Limits of keys that have requests running. */
  const bounded = new Map<string, KeyBounds>()
  let state: 'untried' | 'near' | 'away' = 'untried'
  let decidedAlone = 0
  let flushing: Promise<void> | null = null
  let scheduled = false

  const isShared = (): boolean => store !== null && (store.asksAlone || nodes() > 1)

  const goneAway = (thrown: unknown): void => {
    if (state !== 'away') onAway(thrown)
    state = 'away'
  }

  const owe = (bounds: KeyBounds, used: Pick<Correction, 'usedTokens' | 'usedRequests'>): void => {
    const name = `${bounds.hash} ${bounds.tokensPerMinute} ${bounds.requestsPerMinute}`
    const before = owed.get(name)
    if (before === undefined && owed.size >= OWED_MAX) return
    owed.set(name, {
      ...bounds,
      running: 0,
      usedTokens: (before?.usedTokens ?? 0) + used.usedTokens,
      usedRequests: (before?.usedRequests ?? 0) + used.usedRequests,
    })
    if (state === 'near') schedule()
  }

  const schedule = (): void => {
    if (scheduled) return
    scheduled = true
    clock.after(GATHER_MS, () => {
      scheduled = false
      void flush()
    })
  }

  /**
   * Usage that was being sent when the store became unavailable may or may not have been counted, and is not sent again; the number of
   * running requests is.
   */
  const flush = async (): Promise<void> => {
    if (flushing !== null) return flushing
    if (store === null || state !== 'near' || owed.size === 0) return
    flushing = send(store)
    await flushing
    flushing = null
    if (owed.size > 0) schedule()
  }

  const send = async (asked: LimitStore): Promise<void> => {
    const some = [...owed].slice(0, CORRECTIONS_MAX)
    for (const [name] of some) owed.delete(name)
    const corrections = some.map(([, correction]) => ({ ...correction, running: running.of(correction.hash) }))
    try {
      await inTime(asked.correct(corrections), timeoutMs(), clock)
    } catch (thrown) {
      goneAway(thrown)
      for (const correction of corrections) owe(correction, NOTHING)
    }
  }

  const letIn = (bounds: KeyBounds): null => {
    if (bounds.concurrency > 0) bounded.set(bounds.hash, bounds)
    return null
  }

  const turnAway = (bounds: KeyBounds, reached: BoundReached): BoundReached => {
    running.add(bounds.hash, -1)
    return reached
  }

  const letGo = (bounds: KeyBounds, used: Pick<Correction, 'usedTokens' | 'usedRequests'>): void => {
    if (!isBounded(bounds)) return
    running.add(bounds.hash, -1)
    if (running.of(bounds.hash) === 0) bounded.delete(bounds.hash)
    local.note(bounds, used, isShared() ? nodes() : 1)
    const isNews = bounds.concurrency > 0 || bounds.tokensPerMinute > 0 || used.usedRequests !== 0
    if (isShared() && isNews) owe(bounds, used)
  }

  const decideAlone = (bounds: KeyBounds): BoundReached | null => {
    const reached = local.take(bounds, running.of(bounds.hash), isShared() ? nodes() : 1)
    return reached === null ? letIn(bounds) : turnAway(bounds, reached)
  }

  const ask = async (asked: LimitStore, bounds: KeyBounds): Promise<BoundReached | null> => {
    let reached: BoundReached | null
    try {
      reached = await inTime(asked.enter({ ...bounds, running: running.of(bounds.hash) }), timeoutMs(), clock)
    } catch (thrown) {
      goneAway(thrown)
      // The store may have counted this request, whatever is decided now, so the number of running requests is reported again.
      owe(bounds, NOTHING)
      decidedAlone += 1
      return decideAlone(bounds)
    }
    if (reached !== null) return turnAway(bounds, reached)
    // Counted here too, so that this node knows its own usage if the store becomes unavailable.
    local.note(bounds, ONE, nodes())
    return letIn(bounds)
  }

  const probe = async (): Promise<void> => {
    if (store === null) return
    try {
      await inTime(store.connect(), CONNECT_MS, clock)
      await inTime(store.ping(), timeoutMs(), clock)
    } catch (thrown) {
      goneAway(thrown)
      return
    }
    if (state === 'away') onAway(null)
    state = 'near'
    renew()
    await flush()
  }

  const renew = (): void => {
    for (const bounds of bounded.values()) owe(bounds, NOTHING)
  }

  return {
    enter(bounds) {
      if (!isBounded(bounds)) return null
      running.add(bounds.hash, 1)
      if (store === null || !isShared()) return decideAlone(bounds)
      if (state === 'near') return ask(store, bounds)
      decidedAlone += 1
      const reached = decideAlone(bounds)
      if (reached === null) owe(bounds, ONE)
      return reached
    },
    // One token was already counted on entry.
    leave: (bounds, tokens) => letGo(bounds, { usedTokens: tokens - 1, usedRequests: 0 }),
    giveBack: (bounds) => letGo(bounds, { usedTokens: -1, usedRequests: -1 }),
    async consult(question) {
      if (store === null || state !== 'near' || nodes() < 2) return undefined
      try {
        return await inTime(question(store), CONSULT_MS, clock)
      } catch (thrown) {
        goneAway(thrown)
        return undefined
      }
    },
    connect: probe,
    start() {
      let stopped = false
      let round = 0
      let cancel: () => void
      const tick = async (): Promise<void> => {
        round += 1
        if (state !== 'near') await probe()
        else if (round % RENEW_EVERY === 0) {
          renew()
          await flush()
        }
        if (!stopped) cancel = clock.after(PROBE_MS, () => void tick())
      }
      cancel = clock.after(PROBE_MS, () => void tick())
      return async () => {
        stopped = true
        cancel()
        // Usage that is being sent would be lost with the connection, and that of requests which ended meanwhile comes after it.
        await flushing
        while (state === 'near' && owed.size > 0) await flush()
        await store?.close()
      }
    },
    get away() {
      return state === 'away'
    },
    get decidedAlone() {
      return decidedAlone
    },
  }
}

const ONE = { usedTokens: 1, usedRequests: 1 } as const
const NOTHING = { usedTokens: 0, usedRequests: 0 } as const
