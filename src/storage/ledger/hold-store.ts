/** Holds over time: leases that their nodes extend, checkpoints, and the reaper that ends the holds of dead nodes. */
import { type Kysely, sql, type Transaction } from 'kysely'

import type { Database } from '../database.ts'
import { lockedHolds } from './locked-holds.ts'
import { charge, earliest, insertLedger, releaseScopes } from './charge.ts'
import type { HoldTable, LedgerTable, Span } from '../tables/ledger-tables.ts'
import { holdOffNewWindows, lockWindows, type WindowKey } from './scope-windows.ts'
import type { Schema } from '../tables/schema.ts'
import { addUsageHours, usageOfReaped } from '../usage/usage-hours.ts'
import { utcDay } from '../usage/usage-windows.ts'

/** A process that admits requests. A node has one process at a time, so a different epoch of the same node belongs to a dead process. */
export interface LedgerNode {
  readonly id: string
  readonly epoch: number
}

export interface HoldStore {
  /** Extends the leases of all holds of the node. */
  extendLeases(node: LedgerNode, until: string): Promise<void>
  /** Stores, for each request, the amount to be charged if its node died now. */
  checkpoint(charges: ReadonlyMap<string, number>): Promise<void>
  /** Releases what was held for requests that never ran, and gives back what another node charged for them while this one was cut off. */
  release(requests: readonly string[]): Promise<void>
  /** Charges and releases up to `limit` holds of dead nodes; returns the number. `node` never reaps its own holds. */
  reap(node: LedgerNode, now: string, limit: number): Promise<number>
  /**
   * Corrects the held amount of each window for which it is not the sum of its holds; returns how many were wrong. `running`: looks only at
   * windows in which something is held now, which are few; `all` also finds those that are said to hold what nobody holds.
   */
  recount(which: 'running' | 'all'): Promise<number>
  /** The holds in a window, the first expected to end first. */
  expected(window: WindowKey, limit: number): Promise<readonly Pick<HoldTable, 'amount_n' | 'ends_at'>[]>
}

export const createHoldStore = (database: Database): HoldStore => ({
  extendLeases: (node, until) =>
    database.transaction(async (transaction) => {
      await transaction
        .updateTable('hold')
        .set({ lease_until: until })
        .where(
          'request_id',
          'in',
          lockedHolds(transaction, database.engine)
            .where('node_id', '=', node.id)
            .where('node_epoch', '=', node.epoch)
            .where('state', '=', 'held'),
        )
        .execute()
    }),
  checkpoint: (charges) =>
    database.transaction(async (transaction) => {
      // Always in the same order, as everywhere.
      const ordered = [...charges].sort(([a], [b]) => (a < b ? -1 : 1))
      const updates = ordered.map(([request, nanos]) =>
        transaction.updateTable('hold').set({ charge_n: nanos }).where('request_id', '=', request).where('state', '=', 'held').execute(),
      )
      await Promise.all(updates)
    }),
  release: (requests) =>
    database.transaction(async (transaction) => {
      await holdOffNewWindows(transaction, database.engine)
      const holds = await transaction
        .deleteFrom('hold')
        .where('request_id', 'in', lockedHolds(transaction, database.engine).where('request_id', 'in', requests))
        .returningAll()
        .execute()
      const reaped = holds.filter(({ state }) => state === 'reaped')
      const rows = reaped.map((hold): LedgerTable => ({ ...reapedRow(hold, hold.created_at), kind: 'adjust', amount_n: -hold.charge_n }))
      if (rows.length > 0) {
        await insertLedger(transaction, database.engine, rows)
        const used = reaped.map((hold) => usageOfReaped(hold, { amountNanos: hold.charge_n, byokNanos: 0 }, -1))
        await addUsageHours(transaction, database.engine, used)
      }
      await settle(transaction, database, holds, rows)
    }),
  reap: (node, now, limit) =>
    database.transaction(async (transaction) => {
      await holdOffNewWindows(transaction, database.engine)
      const dead = await transaction
        .selectFrom('hold')
        .selectAll()
        .where('state', '=', 'held')
        .where((eb) =>
          eb.or([
            eb.and([eb('node_id', '=', node.id), eb('node_epoch', '!=', node.epoch)]),
            eb.and([eb('node_id', '!=', node.id), eb('lease_until', '<', now)]),
          ]),
        )
        .orderBy('request_id')
        .limit(limit)
        // Two nodes that reap at the same time take different holds.
        .$if(database.engine === 'postgres', (query) => query.forUpdate().skipLocked())
        .execute()
      if (dead.length === 0) return 0
      const ids = dead.map(({ request_id }) => request_id)
      await transaction.updateTable('hold').set({ state: 'reaped' }).where('request_id', 'in', ids).execute()
      const rows = dead.map((hold) => reapedRow(hold, now))
      await insertLedger(transaction, database.engine, rows)
      const used = dead.map((hold) => usageOfReaped(hold, { amountNanos: hold.charge_n, byokNanos: 0 }, 1))
      await addUsageHours(transaction, database.engine, used)
      await settle(transaction, database, dead, rows)
      return dead.length
    }),
  async recount(which) {
    const wrongOf = which === 'all' ? wrongWindows : wrongRunning
    const wrong = await wrongOf(database.kysely)
    if (wrong.length === 0) return 0
    return database.transaction(async (transaction) => {
      const windows = await lockWindows(transaction, database.engine, [...new Set(wrong.map(({ subject }) => subject))], '')
      // Counted again under the locks: everything that changed these windows has ended by now.
      let repaired = 0
      for (const { subject, span, window_start, difference } of await wrongOf(transaction)) {
        const window = windows.find({ subject, span, start: window_start })
        // A window that became wrong in between is not locked; the next count has it.
        if (window === undefined) continue
        windows.hold(window, difference)
        repaired += 1
      }
      await windows.write()
      return repaired
    })
  },
  expected: (window, limit) =>
    database.kysely
      .selectFrom('hold_scope')
      .innerJoin('hold', 'hold.request_id', 'hold_scope.request_id')
      .select(['hold_scope.amount_n', 'hold.ends_at'])
      .where('hold_scope.subject', '=', window.subject)
      .where('hold_scope.span', '=', window.span)
      .where('hold_scope.window_start', '=', window.start)
      .orderBy('hold.ends_at')
      .limit(limit)
      .execute(),
})

interface WrongWindow {
  subject: string
  span: Span
  window_start: string
  difference: number
}

/** Windows in which something is held and whose `held_n` is not the sum of it, with the difference. Each is found by its key. */
const wrongRunning = async (kysely: Kysely<Schema>): Promise<readonly WrongWindow[]> => {
  const { rows } = await sql<WrongWindow>`
    select w.subject, w.span, w.window_start, held.amount - w.held_n as difference from (
      select subject, span, window_start, cast(sum(amount_n) as bigint) as amount from hold_scope group by subject, span, window_start
    ) as held join scope_window w on w.subject = held.subject and w.span = held.span and w.window_start = held.window_start
    where w.held_n <> held.amount`.execute(kysely)
  return rows
}

/** The same for all windows. There may be many, but few with holds, so nothing is looked up for each window. */
const wrongWindows = async (kysely: Kysely<Schema>): Promise<readonly WrongWindow[]> => {
  const { rows } = await sql<WrongWindow>`
    select subject, span, window_start, cast(sum(amount_n) as bigint) as difference from (
      select subject, span, window_start, amount_n from hold_scope
      union all
      select subject, span, window_start, -held_n from scope_window where held_n > 0
    ) as amounts group by subject, span, window_start having sum(amount_n) <> 0`.execute(kysely)
  return rows
}

/** Removes rows that have left `hold` from the windows too, charged by `rows`. */
const settle = async (
  transaction: Transaction<Schema>,
  database: Database,
  holds: readonly HoldTable[],
  rows: readonly LedgerTable[],
): Promise<void> => {
  if (holds.length === 0) return
  await charge(transaction, database, {
    rows,
    payers: new Map(
      holds.map((hold) => [hold.request_id, { keyHash: hold.key_hash, workspaceId: hold.workspace_id, userId: hold.user_id }]),
    ),
    tokens: new Map(),
    released: await releaseScopes(transaction, database, holds),
    firstDay: earliest(holds.map(({ created_at }) => utcDay(created_at))),
  })
}

/** Charged by the rule for missing usage: the amount of the last checkpoint. */
const reapedRow = (hold: HoldTable, now: string): LedgerTable => ({
  request_id: hold.request_id,
  attempt_no: 0,
  kind: 'reaped',
  key_hash: hold.key_hash,
  workspace_id: hold.workspace_id,
  provider: hold.provider,
  amount_n: hold.charge_n,
  byok_n: 0,
  upstream_n: null,
  estimated: 1,
  usage_json: '{}',
  day: utcDay(hold.created_at),
  created_at: now,
})
