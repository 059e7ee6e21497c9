/** This process among the nodes on one database: which others exist, and what they report to each other. */
import { repeat } from '../lib/repeat.ts'
import type { Clock } from '../lib/clock.ts'
import { type NodeNews, readNews } from '../routing/node-news.ts'
import type { RoutingState } from '../routing/routing-state.ts'
import type { Database } from '../storage/database.ts'
import { createNodeBoard, type OtherNode } from '../storage/nodes/node-board.ts'
import type { Log } from '../telemetry/log.ts'
import type { Metrics } from '../telemetry/metrics.ts'

export interface Nodes {
  /** The number of nodes at the last exchange, including this one. */
  readonly seen: number
  readonly others: readonly Pick<OtherNode, 'id' | 'ageMs'>[]
  /** The time of the database, for what nodes agree on; this node's own on SQLite. Lengths of time are measured as ever. */
  readonly sharedClock: Clock
  /** Announces this node, and reads the reports of the others. */
  join(): Promise<void>
  /** Repeats the exchange regularly; the returned function stops it and signs this node off. */
  start(): () => Promise<void>
}

/** The facts that one part of this node has learnt, shared with the other nodes as JSON text. */
export interface SharedKnowledge {
  news(): string
  hear(others: readonly OtherNode[]): void
}

const EXCHANGE_MS = 1000

/** Open breakers, cooldowns, and keys of ours that providers refuse or limit. */
export const knowledgeOf = ({ health, credentials }: Pick<RoutingState, 'health' | 'credentials'>): SharedKnowledge => ({
  news: () => JSON.stringify({ endpoints: health.found(), credentials: credentials.found() } satisfies NodeNews),
  hear(others) {
    const news = others.map(({ board, ageMs }) => readNews(board, ageMs))
    health.hear(news.flatMap(({ endpoints }) => endpoints))
    credentials.hear(news.flatMap((each) => each.credentials))
  },
})

/** docs/nodes.md#clocks */
const isApart = (ms: number): boolean => Math.abs(ms) > CLOCKS_APART_MS
const CLOCKS_APART_MS = 5000

export const composeNodes = (parts: {
  readonly database: Database
  readonly node: string
  readonly clock: Clock
  readonly log: Log
  readonly metrics: Metrics
  readonly knowledge: SharedKnowledge
}): Nodes => {
  const { database, node, clock, log, metrics, knowledge } = parts
  // A SQLite file is used by one process only.
  const board = database.server === null ? null : createNodeBoard(database, node)
  let seen = 1
  let known: readonly OtherNode[] = []
  let isHeard = true
  /** How far the database's clock is ahead of this node's. */
  let aheadMs = 0
  metrics.gauge('patchbay_nodes', 'Processes on this database, by their last report.', () => seen)

  /**
   * The answer tells the database's time up to the time that it took: a difference that this explains is none, so that the time of nodes
   * whose clocks are right does not waver when a node is busy.
   */
  const noteClock = (answeredMs: number, tookMs: number): void => {
    const leastMs = answeredMs - clock.now()
    const ms = Math.min(Math.max(aheadMs, leastMs), leastMs + tookMs)
    if (isApart(ms) && !isApart(aheadMs))
      log.warn({ seconds: Math.abs(Math.round(ms / 1000)) }, 'the clocks of this node and of the database differ by so many seconds')
    aheadMs = ms
  }

  const exchange = async (): Promise<void> => {
    if (board === null) return
    try {
      const askedMs = clock.monotonicMs()
      const { others, nowMs } = await board.exchange(knowledge.news())
      noteClock(nowMs, clock.monotonicMs() - askedMs)
      seen = others.length + 1
      known = others
      knowledge.hear(others)
      isHeard = true
    } catch (error) {
      if (isHeard) log.warn({ error }, 'the reports of the other nodes cannot be read')
      isHeard = false
    }
  }

  return {
    get seen() {
      return seen
    },
    get others() {
      return known
    },
    sharedClock: { ...clock, now: () => clock.now() + aheadMs },
    join: exchange,
    start() {
      let round = Promise.resolve()
      const stop = repeat(
        clock,
        EXCHANGE_MS,
        () => (round = exchange()),
        () => undefined,
      )
      return async () => {
        stop()
        await round
        await board?.leave().catch((error: unknown) => log.warn({ error }, 'the other nodes do not know yet that this one ends'))
      }
    },
  }
}
