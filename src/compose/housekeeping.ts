/** Deletes rows that are old enough, so that storage does not grow for ever. */
import { isoTimestamp, turnOf, type Clock } from '../lib/clock.ts'
import { repeat } from '../lib/repeat.ts'
import type { Database } from '../storage/database.ts'
import type { ContentStore } from '../storage/generations/content-store.ts'
import type { FileStore } from '../storage/files/file-store.ts'
import type { EndpointHealthStore } from '../storage/nodes/endpoint-health.ts'
import type { GuardrailHitStore } from '../storage/guardrails/guardrail-hours.ts'
import type { GenerationStore } from '../storage/generations/generation-store.ts'
import type { PresetStore } from '../storage/presets/preset-store.ts'
import { pruneLedger } from '../storage/ledger/prune-ledger.ts'
import type { OauthCodeStore } from '../storage/workspaces/oauth-code-store.ts'
import type { SessionStore } from '../storage/workspaces/session-store.ts'
import { utcDay } from '../storage/usage/usage-windows.ts'
import type { WaitingTraceStore } from '../storage/broadcast/waiting-trace-store.ts'

export interface Job {
  readonly deletes: string
  readonly everyMs: number
  /** Rows younger than this are kept. */
  readonly keptMs: () => number
  /** Deletes up to `limit` rows from before this ISO timestamp; returns the number. */
  readonly deleteSome: (before: string, limit: number) => Promise<number>
}

const HOUR_MS = 60 * 60 * 1000
const DAY_MS = 24 * HOUR_MS
/** In small portions, so that no write waits long for another: of records of requests, SQLite deletes so many in some ten milliseconds. */
const PORTION_ROWS = 500

export const housekeepingJobs = (parts: {
  readonly database: Database
  readonly generations: Pick<GenerationStore, 'deleteOlderThan'>
  readonly presets: Pick<PresetStore, 'deleteIdempotencyKeys'>
  readonly sessions: Pick<SessionStore, 'deleteExpired'>
  readonly codes: Pick<OauthCodeStore, 'deleteExpired'>
  readonly contents: Pick<ContentStore, 'deleteExpired'>
  readonly endpointHealth: Pick<EndpointHealthStore, 'deleteOlderThan'>
  readonly guardrailHits: Pick<GuardrailHitStore, 'deleteOlderThan'>
  readonly waitingTraces: Pick<WaitingTraceStore, 'deleteOlderThan'>
  readonly files: Pick<FileStore, 'deleteLeftOver'>
  readonly retentionMs: () => number
}): readonly Job[] => [
  {
    deletes: 'generation records',
    everyMs: HOUR_MS,
    keptMs: parts.retentionMs,
    deleteSome: parts.generations.deleteOlderThan,
  },
  {
    deletes: 'contents of requests',
    everyMs: HOUR_MS,
    // Each row has its own expiry time.
    keptMs: () => 0,
    deleteSome: parts.contents.deleteExpired,
  },
  {
    deletes: 'traces that nobody took',
    everyMs: HOUR_MS,
    // Longer than any delivery is retried.
    keptMs: () => 2 * HOUR_MS,
    deleteSome: parts.waitingTraces.deleteOlderThan,
  },
  {
    deletes: 'files that are gone, or did not come whole',
    everyMs: HOUR_MS / 12,
    keptMs: () => HOUR_MS,
    deleteSome: parts.files.deleteLeftOver,
  },
  {
    deletes: 'half hours of endpoints',
    everyMs: HOUR_MS,
    keptMs: () => 2 * DAY_MS,
    deleteSome: parts.endpointHealth.deleteOlderThan,
  },
  {
    deletes: 'hours of guardrails',
    everyMs: HOUR_MS,
    keptMs: () => 2 * DAY_MS,
    deleteSome: parts.guardrailHits.deleteOlderThan,
  },
  {
    deletes: 'ledger entries',
    everyMs: HOUR_MS,
    keptMs: parts.retentionMs,
    deleteSome: (before, limit) => pruneLedger(parts.database, utcDay(before), limit),
  },
  {
    deletes: 'idempotency keys',
    everyMs: HOUR_MS,
    keptMs: () => DAY_MS,
    deleteSome: parts.presets.deleteIdempotencyKeys,
  },
  {
    deletes: 'sessions and sign-in links',
    everyMs: HOUR_MS,
    keptMs: () => 0,
    deleteSome: parts.sessions.deleteExpired,
  },
  {
    // A code that is presented again revokes its key, so codes are kept longer than their ten minutes.
    deletes: 'codes of applications',
    everyMs: HOUR_MS,
    keptMs: () => DAY_MS,
    deleteSome: parts.codes.deleteExpired,
  },
]

/** A process that never runs for as long as an interval must delete too. */
const FIRST_MS = 60 * 1000

/** Runs each job soon after the start and then at its interval, until stopped. A failed job is tried again at its next time. */
export const startHousekeeping = (parts: {
  readonly clock: Clock
  /** Milliseconds since the epoch by the clock that all nodes share: one whose own clock leaps ahead would delete what the others still need. */
  readonly sharedNow: () => number
  readonly jobs: readonly Job[]
  readonly onError: (thrown: unknown, doing: string) => void
}): (() => void) => {
  const { clock, sharedNow, jobs, onError } = parts
  const stops = jobs.map(({ deletes, everyMs, keptMs, deleteSome }) =>
    repeat(
      clock,
      everyMs,
      async () => {
        const before = isoTimestamp(sharedNow() - keptMs())
        // SQLite answers at once, so without a turn of the event loop in between no request would be answered until all is deleted.
        while ((await deleteSome(before, PORTION_ROWS)) === PORTION_ROWS) await turnOf(clock)
      },
      (thrown) => onError(thrown, `old ${deletes} not deleted`),
      Math.min(FIRST_MS, everyMs),
    ),
  )
  return () => {
    for (const stop of stops) stop()
  }
}
