/** Rollouts as stored: one row for each preset, with its newest rollout; earlier ones are in the audit log. */
import { type Kysely, type RawBuilder, type Selectable, sql, type Transaction } from 'kysely'
import { z } from 'zod'

import type { RolloutState, Sticky } from '../../contract/rollout.ts'
import { split, type Split } from '../../contract/split.ts'
import { haltRule, type HaltRule } from '../../contract/halt-rule.ts'
import type { JsonObject } from '../../lib/json/json.ts'
import { type Change, recordChange } from '../changes/audit-log.ts'
import type { Database } from '../database.ts'
import { readEach, type ReadRows, readStoredJson, shownIfReadable } from '../rows/damaged-row.ts'
import { lackedMoney } from '../ledger/ended-by-budget.ts'
import { inPresetLine } from './preset-line.ts'
import { auditOf, lockPreset, type PresetRef } from './preset-ref.ts'
import type { PresetRolloutsTable } from '../tables/preset-tables.ts'
import type { Schema } from '../tables/schema.ts'

export interface StoredRollout {
  readonly id: string
  readonly presetId: string
  readonly state: RolloutState
  readonly liveVersion: number
  readonly splits: readonly Split[]
  readonly segments: readonly { readonly end: number; readonly version: number }[]
  readonly sticky: Sticky
  readonly halt: HaltRule | null
  /** How often each version was looked at. */
  readonly looks: Readonly<Record<number, number>>
  readonly startedAt: string
  readonly updatedAt: string
  readonly endedAt: string | null
  readonly reason: string | null
}

export interface RunningRollout extends StoredRollout, PresetRef {}

/** The figures of a version's requests in a rollout. */
export interface RolloutFigures {
  readonly version: number
  readonly requests: number
  readonly errors: number
  readonly cancelled: number
  readonly guardrailHits: number
  /** Nano-dollars, and the sum of their squares. */
  readonly costSum: number
  readonly costSquares: number
}

export interface Quantiles {
  readonly p50: number | null
  readonly p95: number | null
}

export type PutRollout =
  | { readonly kind: 'put'; readonly rollout: StoredRollout }
  | { readonly kind: 'no-such-preset' }
  | { readonly kind: 'no-such-version'; readonly version: number }
  /** The halt rule compares versions with the live one, which gets no requests. */
  | { readonly kind: 'live-version-missing'; readonly live: number }

type NewRollout = Pick<StoredRollout, 'id' | 'splits' | 'sticky' | 'halt'>

export interface RolloutStore {
  get(preset: PresetRef): Promise<StoredRollout | null>
  /** `layOut` makes the segments for the splits from the current segments, of which there are none if no rollout runs. */
  put(
    preset: PresetRef,
    wanted: NewRollout,
    layOut: (live: number, before: StoredRollout['segments']) => StoredRollout['segments'],
    change: Change,
  ): Promise<PutRollout>
  /** Returns false if none runs. */
  end(preset: PresetRef, change: Change): Promise<boolean>
  running(): Promise<ReadRows<RunningRollout>>
  /** The figures from the stored records of its requests, by version. */
  figures(id: string): Promise<readonly RolloutFigures[]>
  quantiles(id: string, version: number, of: 'first_token_ms' | 'total_ms'): Promise<Quantiles>
  /** Does nothing if another process has looked since, or the rollout no longer runs. */
  noteLooks(rollout: RunningRollout, looks: StoredRollout['looks']): Promise<void>
  /** Returns false if another process has looked since, or the rollout no longer runs in this form. */
  halt(rollout: RunningRollout, reason: string, change: Change): Promise<boolean>
}

/** Neither a client that leaves nor a spent budget is the fault of a version. */
const isFault = sql<number>`case when error_type is not null and not ${lackedMoney} then 1 else 0 end`

/** PostgreSQL widens a sum to a type that has no number in JavaScript. */
const sumOf = (value: RawBuilder<unknown>) => sql<number>`cast(sum(${value}) as bigint)`

export const createRolloutStore = (database: Database): RolloutStore => ({
  get: async ({ workspaceId, slug }) => {
    const row = await database.kysely
      .selectFrom('preset_rollouts')
      .innerJoin('presets', 'presets.id', 'preset_rollouts.preset_id')
      .selectAll('preset_rollouts')
      .where('presets.workspace_id', '=', workspaceId)
      .where('presets.slug', '=', slug)
      .executeTakeFirst()
    return row === undefined ? null : toRollout(row)
  },

  put: (ref, wanted, layOut, change) =>
    inPresetLine(database, ref, () =>
      recordChange<PutRollout>(database, change, async (transaction) => {
        const preset = await lockPreset(transaction, ref)
        if (preset === null) return { result: { kind: 'no-such-preset' }, audit: null }
        const missing = wanted.splits.find(({ version }) => version > preset.last_version)
        if (missing !== undefined) return { result: { kind: 'no-such-version', version: missing.version }, audit: null }
        const live = await liveVersion(transaction, preset.designated_version_id)
        if (wanted.halt !== null && !wanted.splits.some(({ version, weight }) => version === live && weight > 0)) {
          return { result: { kind: 'live-version-missing', live }, audit: null }
        }
        const earlier = await rowOf(transaction, preset.id)
        const before = earlier?.state === 'running' ? toRollout(earlier) : null
        const segments = layOut(live, before?.segments ?? [])
        const row = {
          id: wanted.id,
          state: 'running',
          live_version: live,
          splits: JSON.stringify(wanted.splits),
          segments: JSON.stringify(segments),
          sticky: wanted.sticky,
          halt: wanted.halt === null ? null : JSON.stringify(wanted.halt),
          // Looks of earlier splits count too: each of them was a chance to be wrong.
          looks: JSON.stringify(before?.looks ?? {}),
          started_at: before?.startedAt ?? change.now,
          updated_at: change.now,
          ended_at: null,
          reason: null,
        } as const
        await transaction
          .insertInto('preset_rollouts')
          .values({ preset_id: preset.id, ...row })
          .onConflict((conflict) => conflict.column('preset_id').doUpdateSet(row))
          .execute()
        const rollout = toRollout({ preset_id: preset.id, ...row })
        return {
          result: { kind: 'put', rollout },
          audit: audited(ref, before === null ? 'rollout_started' : 'rollout_changed', before, rollout),
        }
      }),
    ),

  end: (ref, change) =>
    inPresetLine(database, ref, () =>
      recordChange<boolean>(database, change, async (transaction) => {
        const preset = await lockPreset(transaction, ref)
        const row =
          preset === null ? undefined : await endRollout(transaction, preset.id, { state: 'ended', reason: null, now: change.now })
        if (row === undefined) return { result: false, audit: null }
        const before = shownIfReadable(() => toRollout(row))
        return { result: true, audit: audited(ref, 'rollout_ended', before, null) }
      }),
    ),

  async running() {
    const rows = await database.kysely
      .selectFrom('preset_rollouts')
      .innerJoin('presets', 'presets.id', 'preset_rollouts.preset_id')
      .selectAll('preset_rollouts')
      .select(['presets.workspace_id', 'presets.slug'])
      .where('preset_rollouts.state', '=', 'running')
      .execute()
    return readEach(rows, (row) => ({ ...toRollout(row), workspaceId: row.workspace_id, slug: row.slug }))
  },

  async figures(id) {
    const rows = await database.kysely
      .selectFrom('generations')
      .select((eb) => [
        'preset_version',
        eb.fn.countAll<number>().as('requests'),
        sumOf(isFault).as('errors'),
        sumOf(sql.ref('cancelled')).as('cancelled'),
        sumOf(sql`case when guardrail_hits > 0 then 1 else 0 end`).as('guardrail_hits'),
        sumOf(sql.ref('cost_nanos')).as('cost_sum'),
        // As text, because numbers from the database must be safe integers.
        sql<string>`cast(sum(cast(cost_nanos as double precision) * cost_nanos) as text)`.as('cost_squares'),
      ])
      .where('rollout_id', '=', id)
      .groupBy('preset_version')
      .execute()
    return rows.flatMap((row) =>
      row.preset_version === null
        ? []
        : [
            {
              version: row.preset_version,
              requests: row.requests,
              errors: row.errors,
              cancelled: row.cancelled,
              guardrailHits: row.guardrail_hits,
              costSum: row.cost_sum,
              costSquares: Number(row.cost_squares),
            },
          ],
    )
  },

  async quantiles(id, version, of) {
    const known = database.kysely
      .selectFrom('generations')
      .where('rollout_id', '=', id)
      .where('preset_version', '=', version)
      .where(of, 'is not', null)
    const { count } = await known.select((eb) => eb.fn.countAll<number>().as('count')).executeTakeFirstOrThrow()
    const at = async (part: number): Promise<number | null> => {
      if (count === 0) return null
      const row = await known
        .select(of)
        .orderBy(of)
        .offset(Math.floor(part * count))
        .limit(1)
        .executeTakeFirst()
      return row?.[of] ?? null
    }
    return { p50: await at(0.5), p95: await at(0.95) }
  },

  noteLooks: (rollout, looks) =>
    database.transaction(async (transaction) => {
      await transaction
        .updateTable('preset_rollouts')
        .set({ looks: JSON.stringify(looks) })
        .where('preset_id', '=', rollout.presetId)
        .where('id', '=', rollout.id)
        .where('state', '=', 'running')
        .where('looks', '=', JSON.stringify(rollout.looks))
        .execute()
    }),

  halt: (rollout, reason, change) =>
    inPresetLine(database, rollout, () =>
      recordChange<boolean>(database, change, async (transaction) => {
        const preset = await lockPreset(transaction, rollout)
        const row = preset === null ? undefined : await rowOf(transaction, preset.id)
        if (preset === null || row?.id !== rollout.id || row.looks !== JSON.stringify(rollout.looks)) return { result: false, audit: null }
        const ended = await endRollout(transaction, preset.id, { state: 'halted', reason, now: change.now })
        if (ended === undefined) return { result: false, audit: null }
        const before = toRollout(ended)
        return {
          result: true,
          audit: { ...audited(rollout, 'rollout_halted', before, null), after: { reason, version: before.liveVersion } },
        }
      }),
    ),
})

/**
 * Returns the row of the rollout that was ended, as it was before; undefined if none ran. The caller must hold the
 * preset's lock, and must notify other processes.
 */
export const endRollout = async (
  transaction: Transaction<Schema>,
  presetId: string,
  { state, reason, now }: { readonly state: 'halted' | 'ended'; readonly reason: string | null; readonly now: string },
): Promise<Selectable<PresetRolloutsTable> | undefined> => {
  const row = await rowOf(transaction, presetId)
  if (row?.state !== 'running') return undefined
  await transaction.updateTable('preset_rollouts').set({ state, reason, ended_at: now }).where('preset_id', '=', presetId).execute()
  return row
}

/** The rollout that runs for a preset; null if there is none. */
export const runningRollout = async (kysely: Kysely<Schema>, presetId: string): Promise<StoredRollout | null> => {
  const row = await rowOf(kysely, presetId)
  return row?.state === 'running' ? toRollout(row) : null
}

const rowOf = (kysely: Kysely<Schema>, presetId: string): Promise<Selectable<PresetRolloutsTable> | undefined> =>
  kysely.selectFrom('preset_rollouts').selectAll().where('preset_id', '=', presetId).executeTakeFirst()

const stored = {
  splits: z.array(split),
  segments: z.array(z.object({ end: z.number(), version: z.int() })),
  looks: z.record(z.string(), z.int()),
}

const toRollout = (row: Selectable<PresetRolloutsTable>): StoredRollout => ({
  id: row.id,
  presetId: row.preset_id,
  state: row.state,
  liveVersion: row.live_version,
  splits: readStoredJson('preset_rollouts', row.preset_id, stored.splits, row.splits),
  segments: readStoredJson('preset_rollouts', row.preset_id, stored.segments, row.segments),
  halt: row.halt === null ? null : readStoredJson('preset_rollouts', row.preset_id, haltRule, row.halt),
  looks: readStoredJson('preset_rollouts', row.preset_id, stored.looks, row.looks),
  sticky: row.sticky,
  startedAt: row.started_at,
  updatedAt: row.updated_at,
  endedAt: row.ended_at,
  reason: row.reason,
})

const audited = (ref: PresetRef, action: string, before: StoredRollout | null, after: StoredRollout | null) => ({
  ...auditOf(ref, action),
  before: before === null ? null : auditView(before),
  after: after === null ? null : auditView(after),
})

const auditView = ({ splits, sticky, halt }: StoredRollout): JsonObject => ({
  splits: splits.map(({ version, weight }) => ({ version, weight })),
  sticky,
  halt: halt === null ? false : { ...halt },
})

/** The version that the preset serves apart from the rollout. */
const liveVersion = async (kysely: Kysely<Schema>, versionId: string): Promise<number> => {
  const { version } = await kysely.selectFrom('preset_versions').select('version').where('id', '=', versionId).executeTakeFirstOrThrow()
  return version
}
