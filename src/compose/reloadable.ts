/** The settings that a new configuration file changes while the service runs. All others are fixed at the start. */
import type { ConfigFile } from '../config-file.ts'
import type { Limits } from '../limits/admission.ts'
import type { BodyRoomSettings } from '../limits/body-room.ts'
import { WHOLE_BODY_MAX } from '../providers/transport/answer-room.ts'

const DAY_MS = 24 * 60 * 60 * 1000

/**
 * Bodies take up to four times their length of memory until they are answered, and answers that are translated about as much. With an
 * eighth for each, a container has room for both, whatever their settings say.
 */
const PART_OF_MEMORY = 1 / 8

/** Settings that are read anew on each use, with their places in the file. */
const settingsOf = ({ limits, budgets, generations }: ConfigFile, memoryBytes: number) => ({
  limits: {
    requestsPerMinute: limits.requests_per_minute,
    tokensPerMinute: limits.tokens_per_minute,
    keyConcurrency: limits.key_concurrency,
    most: limits.in_flight,
    line: limits.queue,
    waitMs: limits.queue_seconds * 1000,
    loopLagMs: limits.loop_lag_ms,
    keyShare: limits.key_share,
  } satisfies Limits,
  /** A request has one attempt running at a time, so without a setting of its own a provider's limit is that of the process. */
  providerInFlight: limits.provider_in_flight || limits.in_flight || Number.POSITIVE_INFINITY,
  /** There is always room for one body of the maximum size. */
  bodyRoom: {
    mostBytes: Math.max(limits.max_body_bytes, Math.min(limits.body_bytes_in_flight, Math.floor(memoryBytes * PART_OF_MEMORY))),
    bodyBytes: limits.max_body_bytes,
    keyShare: limits.key_share,
  } satisfies BodyRoomSettings,
  /** There is always room for one answer of the maximum size. */
  answerBytes: Math.max(WHOLE_BODY_MAX, Math.min(limits.answer_bytes_in_flight, Math.floor(memoryBytes * PART_OF_MEMORY))),
  storeTimeoutMs: limits.store_timeout_ms,
  budgets,
  retentionMs: generations.retention_days * DAY_MS,
})

export type ReloadedSettings = ReturnType<typeof settingsOf>

export interface Reloadable {
  readonly settings: ReloadedSettings
  /** Builds a part from the whole file, and again from each new one. The returned function returns the newest part. */
  built<Part>(build: (file: ConfigFile) => Part): () => Part
  /** Throws what a part throws that cannot be built from this file; in that case nothing changes. */
  reload(next: ConfigFile): void
  /** Builds every part again from the newest file, because something else that the parts are built from has changed. */
  rebuild(): void
}

/** `memoryBytes`: the memory that this process may use. */
export const createReloadable = (first: ConfigFile, memoryBytes: number): Reloadable => {
  let file = first
  let settings = settingsOf(first, memoryBytes)
  /** Each builds a part from a file, and returns a function that puts the part in force. */
  const rebuilds: ((next: ConfigFile) => () => void)[] = []
  const reload = (next: ConfigFile): void => {
    const changes = rebuilds.map((rebuild) => rebuild(next))
    for (const putInForce of changes) putInForce()
    file = next
    settings = settingsOf(next, memoryBytes)
  }
  return {
    get settings() {
      return settings
    },
    built(build) {
      let part = build(file)
      rebuilds.push((next) => {
        const rebuilt = build(next)
        return () => {
          part = rebuilt
        }
      })
      return () => part
    },
    reload,
    rebuild: () => reload(file),
  }
}
