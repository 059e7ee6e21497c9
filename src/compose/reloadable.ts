/** The settings that a new configuration file changes while the service runs. All else is settled at the start. */
import type { ConfigFile } from '../config-file.ts'
import type { Limits } from '../limits/admission.ts'
import type { BodyRoomSettings } from '../limits/body-room.ts'

const DAY_MS = 24 * 60 * 60 * 1000

/** Every setting that its users read anew each time, and where the file has it. */
const settingsOf = ({ limits, budgets, generations }: ConfigFile) => ({
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
  /** A request has one attempt running at a time, so without a setting of its own a provider bears what the process does. */
  providerInFlight: limits.provider_in_flight || limits.in_flight || Number.POSITIVE_INFINITY,
  /** One body of the largest size has room in any case. */
  bodyRoom: {
    mostBytes: Math.max(limits.body_bytes_in_flight, limits.max_body_bytes),
    bodyBytes: limits.max_body_bytes,
    keyShare: limits.key_share,
  } satisfies BodyRoomSettings,
  storeTimeoutMs: limits.store_timeout_ms,
  budgets,
  retentionMs: generations.retention_days * DAY_MS,
})

export type ReloadedSettings = ReturnType<typeof settingsOf>

export interface Reloadable {
  /** As the newest file has them. */
  readonly settings: ReloadedSettings
  /** A part that is built from the whole file, and built again from each new one. The answer is the newest. */
  built<Part>(build: (file: ConfigFile) => Part): () => Part
  /** Throws what a part throws that cannot be built from this file; then nothing changes. */
  reload(next: ConfigFile): void
  /** Builds every part again from the newest file: what it is built from beside the file has changed. */
  rebuild(): void
}

export const createReloadable = (first: ConfigFile): Reloadable => {
  let file = first
  let settings = settingsOf(first)
  /** Each builds a part from a file, and answers what puts the part in force. */
  const rebuilds: ((next: ConfigFile) => () => void)[] = []
  const reload = (next: ConfigFile): void => {
    const changes = rebuilds.map((rebuild) => rebuild(next))
    for (const putInForce of changes) putInForce()
    file = next
    settings = settingsOf(next)
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
