/** Settles requests that ended: their records, their ledger rows, and their holds. */
import type { Transaction } from 'kysely'

import { addActivity } from '../usage/activity-store.ts'
import { addEndpointHealth } from '../nodes/endpoint-health.ts'
import { charge, earliest, insertLedger, releaseScopes, type Payer, type RowName } from './charge.ts'
import type { Database } from '../database.ts'
import { type FinishedGeneration, insertGenerations, withoutNul } from '../generations/generation-store.ts'
import { addGuardrailHits } from '../guardrails/guardrail-hours.ts'
import type { HoldScopeTable, LedgerTable } from '../tables/ledger-tables.ts'
import { lockedHolds } from './locked-holds.ts'
import { oneOf } from '../statements/one-of.ts'
import { holdOffNewWindows } from './scope-windows.ts'
import type { Schema } from '../tables/schema.ts'
import { addUsageHours, usageOfReaped, usageOfRequest } from '../usage/usage-hours.ts'
import type { UsageHoursTable } from '../tables/usage-tables.ts'
import { utcDay } from '../usage/usage-windows.ts'

/** A finished request: its record, and its rows in the ledger. */
export interface Settlement extends FinishedGeneration {
  /** The request was admitted under a limit, so there is a hold to release. */
  readonly held: boolean
  readonly final: LedgerEntry
  /** Attempts that failed and may have cost something upstream. */
  readonly attempts: readonly LedgerEntry[]
}

export interface LedgerEntry {
  readonly attempt: number
  readonly provider: string | null
  readonly amountNanos: number
  readonly byokNanos: number
  readonly upstreamNanos: number | null
  readonly estimated: boolean
  /** JSON. */
  readonly usage: string
}

/** `settlements` must not be empty. Each is written once, however often it is sent. */
export const settleRequests = async (
  transaction: Transaction<Schema>,
  database: Database,
  settlements: readonly Settlement[],
): Promise<void> => {
  const { engine } = database
  const held = settlements.filter((settlement) => settlement.held)
  // Statements that need nothing of each other are sent at once, always in the same order: this wait is one round trip to a server.
  const [, , released] = await Promise.all([
    holdOffNewWindows(transaction, engine),
    insertGenerations(transaction, engine, settlements),
    releaseHolds(
      transaction,
      database,
      held.map(({ record }) => record.id),
    ),
  ])
  const charged = await chargedBefore(
    transaction,
    database,
    held.filter(({ record }) => !released.requests.has(record.id)).map(({ record }) => record.id),
  )
  const rows = settlements.flatMap((settlement) => ledgerRows(settlement, charged.get(settlement.record.id)))
  const inserted = new Set((await insertLedger(transaction, engine, rows)).map(rowName))
  const payers = new Map(settlements.map((settlement) => [settlement.record.id, payerOf(settlement)]))
  // Deleting the name counts a row once, even if the batch itself repeats it.
  const written = rows.filter((row) => inserted.delete(rowName(row)))
  const fresh = freshOf(settlements, written)
  const records = fresh.map(({ record }) => record)
  const tokens = new Map(settlements.map(({ record }) => [record.id, record.tokensPrompt + record.tokensCompletion]))
  const firstDay = earliest(settlements.map(({ record }) => utcDay(record.createdAt)))
  await Promise.all([
    addActivity(transaction, engine, records),
    addGuardrailHits(transaction, engine, records),
    addEndpointHealth(transaction, engine, fresh),
    addUsageHours(transaction, engine, [
      ...fresh.map((each) => usageOfRequest(each, each.final)),
      ...fresh.flatMap((each) => cameBack(each, charged)),
    ]),
    charge(transaction, database, { rows: written, payers, tokens, released: released.scopes, firstDay }),
  ])
}

/** Each request that was charged by this batch and not before, once. */
const freshOf = (settlements: readonly Settlement[], written: readonly LedgerTable[]): readonly Settlement[] => {
  const fresh = new Set(written.flatMap(({ kind, request_id }) => (kind === 'attempt' ? [] : [request_id])))
  return settlements.filter(({ record }) => fresh.delete(record.id))
}

/** Reverses the charge that was made when the request's node was taken for dead. */
const cameBack = ({ record, userId }: Settlement, charged: ReadonlyMap<string, Before>): readonly UsageHoursTable[] => {
  const before = charged.get(record.id)
  if (before === undefined) return []
  const { createdAt: created_at, workspaceId: workspace_id, keyHash: key_hash } = record
  const hold = { created_at, workspace_id, key_hash, user_id: userId, provider: before.provider }
  return [usageOfReaped(hold, { amountNanos: before.amount, byokNanos: before.byok }, -1)]
}

const rowName = ({ request_id, attempt_no, kind }: RowName): string => `${request_id} ${attempt_no} ${kind}`

interface Released {
  readonly requests: ReadonlySet<string>
  readonly scopes: readonly HoldScopeTable[]
}

/** Releases the holds that the named requests still have; a reaped hold keeps its row until its request ends. */
const releaseHolds = async (transaction: Transaction<Schema>, database: Database, requests: readonly string[]): Promise<Released> => {
  if (requests.length === 0) return NOTHING_RELEASED
  const ids = [...requests].sort()
  const held = await transaction
    .deleteFrom('hold')
    .where(
      'request_id',
      'in',
      lockedHolds(transaction, database.engine)
        .where(oneOf(database.engine, 'request_id', ids))
        .where('state', '=', 'held'),
    )
    .returning('request_id')
    .execute()
  return { requests: new Set(held.map(({ request_id }) => request_id)), scopes: await releaseScopes(transaction, database, held) }
}

const NOTHING_RELEASED: Released = { requests: new Set(), scopes: [] }

interface Before {
  amount: number
  byok: number
  provider: string | null
  final: boolean
}

/** Requests without a hold were either settled before or reaped, or their hold was lost in a power failure. */
const chargedBefore = async (
  transaction: Transaction<Schema>,
  { engine }: Database,
  requests: readonly string[],
): Promise<ReadonlyMap<string, Before>> => {
  const charged = new Map<string, Before>()
  if (requests.length === 0) return charged
  await transaction
    .deleteFrom('hold')
    .where('request_id', 'in', lockedHolds(transaction, engine).where('request_id', 'in', requests).where('state', '=', 'reaped'))
    .execute()
  const rows = await transaction
    .selectFrom('ledger')
    .select(['request_id', 'kind', 'provider', 'amount_n', 'byok_n'])
    .where('request_id', 'in', requests)
    .where('kind', '!=', 'attempt')
    .execute()
  for (const row of rows) {
    const before = charged.get(row.request_id) ?? { amount: 0, byok: 0, provider: row.provider, final: false }
    before.amount += row.amount_n
    before.byok += row.byok_n
    before.final ||= row.kind !== 'reaped'
    charged.set(row.request_id, before)
  }
  return charged
}

const ledgerRows = ({ record, final, attempts }: Settlement, before: Before | undefined): readonly LedgerTable[] => {
  const rowOf = (kind: LedgerTable['kind'], entry: LedgerEntry): LedgerTable => ({
    request_id: record.id,
    attempt_no: entry.attempt,
    kind,
    key_hash: record.keyHash,
    workspace_id: record.workspaceId,
    provider: entry.provider === null ? null : withoutNul(entry.provider),
    amount_n: entry.amountNanos,
    byok_n: entry.byokNanos,
    upstream_n: entry.upstreamNanos,
    estimated: entry.estimated ? 1 : 0,
    usage_json: entry.usage,
    day: utcDay(record.createdAt),
    created_at: record.createdAt,
  })
  const others = attempts.map((entry) => rowOf('attempt', entry))
  if (before === undefined) return [rowOf('final', final), ...others]
  if (before.final) return others
  const difference = { ...final, amountNanos: final.amountNanos - before.amount, byokNanos: final.byokNanos - before.byok }
  return [rowOf('adjust', difference), ...others]
}

const payerOf = ({ record, userId }: Settlement): Payer => ({ keyHash: record.keyHash, workspaceId: record.workspaceId, userId })
