/**
 * The history of what a preset serves and of its labels. It is written under the lock of the
 * preset's row, in the transaction of the move.
 */
import { sql, type Transaction } from 'kysely'

import type { PresetMove } from '../../contract/preset.ts'
import type { Change } from '../changes/audit-log.ts'
import type { Database } from '../database.ts'
import { presetIdOf, type PresetRef } from './preset-ref.ts'
import { endRollout } from './rollout-store.ts'
import type { Schema } from '../tables/schema.ts'

export type Move = Pick<PresetMove, 'label' | 'from' | 'to'>

export const writeMoves = async (
  transaction: Transaction<Schema>,
  presetId: string,
  moves: readonly Move[],
  { by, now }: Change,
): Promise<void> => {
  if (moves.length === 0) return
  const served = moves.find(({ label }) => label === null)
  // The designated version serves all requests from now on, so a rollout ends.
  if (served !== undefined) await endRollout(transaction, presetId, { state: 'ended', reason: `Version ${served.to} was designated.`, now })
  const last = sql<number>`(select coalesce(max(position), 0) from preset_moves where preset_id = ${presetId})`
  await transaction
    .insertInto('preset_moves')
    .values(
      moves.map(({ label, from, to }, index) => ({
        preset_id: presetId,
        position: sql<number>`${last} + ${sql.lit(index + 1)}`,
        label,
        from_version: from,
        to_version: to,
        moved_at: now,
        user_id: by.userId,
        key_hash: by.keyHash,
      })),
    )
    .execute()
}

export interface MoveQuery extends PresetRef {
  /** Null means every move, including those of what the preset itself serves. */
  readonly label: string | null
  /** Moves before this position; null means the newest. */
  readonly before: number | null
  readonly limit: number
}

export interface MoveSlice {
  readonly items: readonly PresetMove[]
  /** The value of `before` for the next slice; null at the end. */
  readonly next: number | null
}

/** Newest first; null if there is no such preset. */
export const listMoves = async (database: Database, { label, before, limit, ...ref }: MoveQuery): Promise<MoveSlice | null> => {
  const presetId = await presetIdOf(database.kysely, ref)
  if (presetId === null) return null
  const rows = await database.kysely
    .selectFrom('preset_moves')
    .selectAll()
    .where('preset_id', '=', presetId)
    .$if(label !== null, (query) => query.where('label', '=', label))
    .$if(before !== null, (query) => query.where('position', '<', before ?? 0))
    .orderBy('position', 'desc')
    .limit(limit + 1)
    .execute()
  const items = rows.slice(0, limit)
  return {
    items: items.map((row) => ({
      label: row.label,
      from: row.from_version,
      to: row.to_version,
      moved_at: row.moved_at,
      user_id: row.user_id,
      key_hash: row.key_hash,
    })),
    next: rows.length > limit ? (items.at(-1)?.position ?? null) : null,
  }
}
