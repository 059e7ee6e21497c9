/**
 * Bounds for the requests of one key, counted by all nodes together in a store. A request waits for one round trip at most, and
 * one whose key has no bounds for none. While the store is away each node keeps to its part of the bounds, so that neither all
 * is refused nor anything unbounded (docs/contract/operating.md#several-nodes).
 */
import type { Clock } from '../lib/clock.ts'
import { inTime } from '../lib/in-time.ts'
import type { BoundReached, Correction, KeyBounds, LimitStore } from '../storage/limits/limit-store.ts'
import { createLocalMeter, createRunningCounts, isBounded, type KeyMeter } from './key-meter.ts'

export interface SharedMeter extends KeyMeter {
  /** Tries the store, once, so that the first request finds it. */
  connect(): Promise<void>
  /**
   * From now on the store is tried again while it is away, and what runs is reported to it. Resolves, once ended, when the store
   * has the report that nothing runs.
   */
  start(): () => Promise<void>
  /** Asks the store what no request waits for. Undefined where nothing is shared, or it is away: from now on, if it does not answer. */
  consult<Answer>(question: (store: LimitStore) => Promise<Answer>): Promise<Answer | undefined>
  /** Each node keeps to its part of the bounds. */
  readonly away: boolean
  /** Requests that were decided on without the store that should have been asked. */
  readonly decidedAlone: number
}

export interface SharedMeterParts {
  readonly clock: Clock
  /** Null: this process counts by itself. One that does not ask alone is used while there are several nodes. */
  readonly store: LimitStore | null
  /** Nodes that were there when last heard of, this one among them. */
  readonly nodes: () => number
  /** A store that does not answer within this time is away. */
  readonly timeoutMs: () => number
  /** Called when the store goes away, with the reason, and with null when it is back. */
  readonly onAway: (thrown: unknown) => void
}

/** Corrections wait this long for others. */
const GATHER_MS = 5
const PROBE_MS = 1000
/** A connection takes longer than an answer: it may need a name, and TLS. */
const CONNECT_MS = 2000
/** No request waits for it, so a store that is slow for a moment is not given up. */
const CONSULT_MS = 2000
/** Running requests are reported again in every third tick, before their lease ends. */
const RENEW_EVERY = 3
/** So many corrections are sent at once. */
const CORRECTIONS_MAX = 500
/** Keys whose use is remembered while the store is away. */
const OWED_MAX = 10_000

export const createSharedMeter = (parts: SharedMeterParts): SharedMeter => {
  const { clock, store, nodes, timeoutMs, onAway } = parts
  const local = createLocalMeter(clock)
  const running = createRunningCounts()
  /** Not known to the store yet, by key and bounds. */
  const owed = new Map<string, Correction>()
  /** Bounds of keys that have requests running. */
  const bounded = new Map<string, KeyBounds>()
  let state: 'untried' | 'near' | 'away' = 'untried'
  let decidedAlone = 0
  let flushing = false
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

  /** Use that was on its way when the store went away may be counted there or not, and is not sent twice; what runs is sent again. */
  const flush = async (): Promise<void> => {
    if (store === null || state !== 'near' || flushing || owed.size === 0) return
    flushing = true
    const some = [...owed].slice(0, CORRECTIONS_MAX)
    for (const [name] of some) owed.delete(name)
    const corrections = some.map(([, correction]) => ({ ...correction, running: running.of(correction.hash) }))
    try {
      await inTime(store.correct(corrections), timeoutMs(), clock)
    } catch (thrown) {
      goneAway(thrown)
      for (const correction of corrections) owe(correction, NOTHING)
    }
    flushing = false
    if (owed.size > 0) schedule()
  }

  const letIn = (bounds: KeyBounds): null => {
    if (bounds.concurrency > 0) bounded.set(bounds.hash, bounds)
    return null
  }

  const turnAway = (bounds: KeyBounds, reached: BoundReached): BoundReached => {
    running.add(bounds.hash, -1)
    return reached
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
      // It may have counted this request, whatever is decided now.
      owe(bounds, NOTHING)
      decidedAlone += 1
      return decideAlone(bounds)
    }
    if (reached !== null) return turnAway(bounds, reached)
    // So that this node knows its own use, should the store go away.
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
    leave(bounds, tokens) {
      if (!isBounded(bounds)) return
      running.add(bounds.hash, -1)
      if (running.of(bounds.hash) === 0) bounded.delete(bounds.hash)
      // One was taken at the door.
      const used = { usedTokens: tokens - 1, usedRequests: 0 }
      local.note(bounds, used, isShared() ? nodes() : 1)
      if (isShared() && (bounds.concurrency > 0 || bounds.tokensPerMinute > 0)) owe(bounds, used)
    },
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
        await flush()
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
