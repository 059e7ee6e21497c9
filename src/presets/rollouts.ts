/** Rollouts: several versions of a preset share its requests, until someone ends the rollout or the figures make it halt. */
import { GatewayError } from '../errors.ts'
import { type rollout, type RolloutBody, type VersionFigures } from '../contract/rollout.ts'
import { DEFAULT_HALT } from '../contract/halt-rule.ts'
import { isoTimestamp, type Clock } from '../lib/clock.ts'
import type { IdSource } from '../lib/id.ts'
import { dollars } from '../lib/money.ts'
import type { ChangedBy } from '../storage/changes/audit-log.ts'
import type { PresetRef } from '../storage/presets/preset-ref.ts'
import type { RolloutFigures, RolloutStore, RunningRollout, StoredRollout } from '../storage/presets/rollout-store.ts'
import { checkForHalt } from './halt-rule.ts'
import { unknownPreset } from './presets.ts'
import { layOut } from './split.ts'
import type { z } from 'zod'

type RolloutResource = z.output<typeof rollout>

export interface Rollouts {
  /** Throws `not_found` and `invalid_request`. */
  put(preset: PresetRef, body: RolloutBody, by: ChangedBy): Promise<RolloutResource>
  /** The newest rollout, even if it has ended. Throws `not_found` if there was none. */
  get(preset: PresetRef): Promise<RolloutResource>
  /** Throws `not_found` if none is running. */
  end(preset: PresetRef, by: ChangedBy): Promise<void>
  /**
   * Halts the rollouts whose figures require it. Any number of processes may call it at once. Throws what failed for one of them, or its
   * DamagedRow, once all others are checked.
   */
  check(): Promise<void>
}

export const createRollouts = (parts: {
  store: RolloutStore
  /** Called when the preset may have changed since this process read it. */
  forget: (preset: PresetRef) => void
  /** Resolves when the records of all answers are written. */
  flush: () => Promise<void>
  clock: Clock
  ids: IdSource
}): Rollouts => {
  const { store, forget, flush, clock, ids } = parts
  const now = (): string => isoTimestamp(clock.now())

  const resource = async (stored: StoredRollout): Promise<RolloutResource> => {
    await flush()
    const figures = new Map((await store.figures(stored.id)).map((one) => [one.version, one]))
    const versions: VersionFigures[] = []
    for (const { version, weight } of stored.splits) {
      const ttft = await store.quantiles(stored.id, version, 'first_token_ms')
      const total = await store.quantiles(stored.id, version, 'total_ms')
      versions.push({
        ...figuresOf(figures.get(version) ?? NOTHING, version, weight),
        ttft_p50: ttft.p50,
        ttft_p95: ttft.p95,
        total_p50: total.p50,
        total_p95: total.p95,
      })
    }
    return {
      id: stored.id,
      state: stored.state,
      live_version: stored.liveVersion,
      splits: [...stored.splits],
      sticky: stored.sticky,
      halt: stored.halt ?? false,
      started_at: stored.startedAt,
      updated_at: stored.updatedAt,
      ended_at: stored.endedAt,
      reason: stored.reason,
      versions,
    }
  }

  const check = async (rollout: RunningRollout): Promise<void> => {
    if (rollout.halt === null) return
    const figures = await store.figures(rollout.id)
    const samples = rollout.splits.map(({ version }) => figures.find((one) => one.version === version) ?? { ...NOTHING, version })
    const live = samples.find(({ version }) => version === rollout.liveVersion)
    if (live === undefined) return
    const checked = checkForHalt(
      rollout.halt,
      live,
      samples.filter((sample) => sample !== live),
      rollout.looks,
    )
    if (checked === null) return
    if (checked.reason === null) {
      await store.noteLooks(rollout, checked.looks)
      return
    }
    // The look is not noted before: if the halt fails, the next round must look again, and not wait for a quarter more requests.
    const reason = `${checked.reason} Version ${rollout.liveVersion} serves all requests again.`
    await store.halt(rollout, reason, { by: { requestId: ids.prefixed('halt'), userId: null, keyHash: null }, now: now() })
    forget(rollout)
  }

  return {
    async put(preset, { splits, sticky, halt = DEFAULT_HALT }, by) {
      const outcome = await store.put(
        preset,
        { id: ids.uuid(), splits, sticky, halt: halt === false ? null : halt },
        // The live version comes first, so that the same weights always lead to the same layout.
        (live, before) =>
          layOut(
            splits.toSorted((one, other) => order(one.version, live) - order(other.version, live)),
            before,
          ),
        { by, now: now() },
      )
      forget(preset)
      switch (outcome.kind) {
        case 'put':
          return resource(outcome.rollout)
        case 'no-such-preset':
          return unknownPreset(preset.slug)
        case 'no-such-version':
          throw new GatewayError('invalid_request', `splits: the preset has no version ${outcome.version}.`)
        case 'live-version-missing':
          throw new GatewayError(
            'invalid_request',
            `splits: version ${outcome.live}, which is live, needs a share that the others are compared with; or send "halt": false.`,
          )
      }
    },
    async get(preset) {
      const stored = await store.get(preset)
      if (stored === null) throw unknown(`The preset "${preset.slug}" has no rollout.`)
      return resource(stored)
    },
    async end(preset, by) {
      const ended = await store.end(preset, { by, now: now() })
      forget(preset)
      if (!ended) throw unknown(`No rollout of the preset "${preset.slug}" is running.`)
    },
    async check() {
      const { read, damaged } = await store.running()
      const failures: unknown[] = [...damaged]
      for (const rollout of read) {
        try {
          await check(rollout)
        } catch (thrown) {
          failures.push(thrown)
        }
      }
      if (failures.length > 0) throw failures[0]
    },
  }
}

const order = (version: number, live: number): number => (version === live ? 0 : version)

const unknown = (sentence: string): GatewayError => new GatewayError('not_found', sentence)

const NOTHING: RolloutFigures = { version: 0, requests: 0, errors: 0, cancelled: 0, guardrailHits: 0, costSum: 0, costSquares: 0 }

const figuresOf = (figures: RolloutFigures, version: number, weight: number) => ({
  version,
  weight,
  requests: figures.requests,
  errors: figures.errors,
  error_rate: figures.requests === 0 ? null : figures.errors / figures.requests,
  cancelled: figures.cancelled,
  cost: dollars(figures.costSum),
  cost_per_request: figures.requests === 0 ? null : dollars(Math.round(figures.costSum / figures.requests)),
  guardrail_hits: figures.guardrailHits,
})
