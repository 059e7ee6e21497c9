/**
 * Money in storage. Every figure of a window moves in the same transaction as the row that is the reason for it, under
 * the window's lock: what is admitted fits, and what is charged is charged once.
 */
import type { Transaction } from 'kysely'

import { bulkInsert } from './bulk-insert.ts'
import type { Database } from './database.ts'
import { insertGenerations, withoutNul, type GenerationRecord } from './generation-store.ts'
import type { HoldScopeTable, HoldTable, LedgerTable, ScopeWindowTable } from './ledger-tables.ts'
import { createWindows, holdOffNewWindows, lockWindows, SUBJECTS, windowName, type WindowKey } from './scope-windows.ts'
import type { Schema } from './schema.ts'
import { addUsageDays, sumUsageDays, type UsageDay } from './usage-days.ts'
import { utcDay } from './usage-windows.ts'

/** Who pays, and when it counts. */
interface Payer {
  readonly keyHash: string
  readonly workspaceId: string
  readonly userId: string
}

/** A finished request: its record, and its rows in the ledger. */
export interface Settlement {
  readonly record: GenerationRecord
  readonly userId: string
  /** It was admitted under a limit, so there is a hold to release. */
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

export interface Admission<Refusal> {
  readonly hold: Omit<HoldTable, 'state'>
  /** Distinct. */
  readonly windows: readonly WindowKey[]
  /** Called under the locks with the figures in the order of `windows`; null admits. May be called several times. */
  readonly decide: (figures: readonly ScopeWindowTable[]) => Refusal | null
}

export interface LedgerStore {
  /** For each admission in turn: null where its hold is written, else why not. All or nothing where it throws. */
  admit<Refusal>(admissions: readonly Admission<Refusal>[]): Promise<readonly (Refusal | null)[]>
  /** Writes, charges and releases, each at most once however often it is told; a batch whose outcome is unknown can be sent again. */
  settle(settlements: readonly Settlement[]): Promise<void>
  /** The figures of windows, made where they were not there. */
  read(keys: readonly WindowKey[]): Promise<readonly ScopeWindowTable[]>
}

export const createLedgerStore = (database: Database): LedgerStore => ({
  async admit(admissions) {
    for (;;) {
      const outcome = await database.transaction((transaction) => tryToAdmit(transaction, database, admissions), 'process')
      if (outcome.missing.length === 0) return outcome.refusals
      await createWindows(database, outcome.missing)
    }
  },
  async settle(settlements) {
    if (settlements.length === 0) return
    await database.transaction(async (transaction) => {
      const { engine } = database
      await holdOffNewWindows(transaction, engine)
      await insertGenerations(
        transaction,
        engine,
        settlements.map(({ record }) => record),
      )
      const released = await releaseHolds(
        transaction,
        settlements.filter(({ held }) => held).map(({ record }) => record.id),
      )
      const charged = await chargedBefore(
        transaction,
        settlements.filter(({ held, record }) => held && !released.requests.has(record.id)).map(({ record }) => record.id),
      )
      const rows = settlements.flatMap((settlement) => ledgerRows(settlement, charged.get(settlement.record.id)))
      const inserted = new Set((await insertLedger(transaction, engine, rows)).map(rowName))
      const payers = new Map(settlements.map((settlement) => [settlement.record.id, payerOf(settlement)]))
      // Deleting it here counts a row once, also when the batch itself repeats it.
      const written = rows.filter((row) => inserted.delete(rowName(row)))
      const tokens = new Map(settlements.map(({ record }) => [record.id, record.tokensPrompt + record.tokensCompletion]))
      const firstDay = earliest(settlements.map(({ record }) => utcDay(record.createdAt)))
      await charge(transaction, database, { rows: written, payers, tokens, released: released.scopes, firstDay })
    }, 'process')
  },
  async read(keys) {
    const find = async (): Promise<readonly (ScopeWindowTable | undefined)[]> => {
      const rows = await database.kysely
        .selectFrom('scope_window')
        .selectAll()
        .where(
          'subject',
          'in',
          keys.map(({ subject }) => subject),
        )
        .execute()
      const byName = new Map(rows.map((row) => [windowName({ subject: row.subject, span: row.span, start: row.window_start }), row]))
      return keys.map((key) => byName.get(windowName(key)))
    }
    if (keys.length === 0) return []
    for (;;) {
      const found = await find()
      const missing = keys.filter((_, index) => found[index] === undefined)
      if (missing.length === 0) return found.filter((row) => row !== undefined)
      await createWindows(database, missing)
    }
  },
})

/** Of at least one. */
export const earliest = (days: readonly string[]): string => days.reduce((a, b) => (a < b ? a : b))

interface Attempted<Refusal> {
  readonly refusals: readonly (Refusal | null)[]
  /** Not empty: nothing was decided. */
  readonly missing: readonly WindowKey[]
}

const tryToAdmit = async <Refusal>(
  transaction: Transaction<Schema>,
  { engine }: Database,
  admissions: readonly Admission<Refusal>[],
): Promise<Attempted<Refusal>> => {
  const keys = new Map(admissions.flatMap(({ windows }) => windows.map((key) => [windowName(key), key] as const)))
  const subjects = [...new Set([...keys.values()].map(({ subject }) => subject))]
  const firstDay = earliest(admissions.map(({ hold }) => utcDay(hold.created_at)))
  const windows = await lockWindows(transaction, engine, subjects, firstDay)
  const missing = [...keys.values()].filter((key) => windows.find(key) === undefined)
  if (missing.length > 0) return { refusals: [], missing }
  const holds: HoldTable[] = []
  const scopes: HoldScopeTable[] = []
  const refusals = admissions.map(({ hold, windows: bounding, decide }) => {
    const refusal = decide(bounding.map((key) => windows.find(key)).filter((row) => row !== undefined))
    if (refusal !== null) return refusal
    for (const key of bounding) {
      windows.hold(key, hold.amount_n)
      scopes.push({
        request_id: hold.request_id,
        subject: key.subject,
        span: key.span,
        window_start: key.start,
        amount_n: hold.amount_n,
      })
    }
    holds.push({ ...hold, state: 'held' })
    return null
  })
  await windows.write()
  await insertHolds(transaction, engine, holds)
  await insertHoldScopes(transaction, engine, scopes)
  return { refusals, missing }
}

const insertHolds = bulkInsert<HoldTable>((transaction, rows) => transaction.insertInto('hold').values(rows).compile())

const insertHoldScopes = bulkInsert<HoldScopeTable>((transaction, rows) => transaction.insertInto('hold_scope').values(rows).compile())

type RowName = Pick<LedgerTable, 'request_id' | 'attempt_no' | 'kind'>

export const insertLedger = bulkInsert<LedgerTable, RowName>((transaction, rows) =>
  transaction
    .insertInto('ledger')
    .values(rows)
    .onConflict((conflict) => conflict.doNothing())
    .returning(['request_id', 'attempt_no', 'kind'])
    .compile(),
)

const rowName = ({ request_id, attempt_no, kind }: RowName): string => `${request_id} ${attempt_no} ${kind}`

interface Released {
  /** Whose hold was there. */
  readonly requests: ReadonlySet<string>
  readonly scopes: readonly HoldScopeTable[]
}

/** Of the requests named, those that still have a hold; a hold that the reaper took keeps its row until its request ends. */
const releaseHolds = async (transaction: Transaction<Schema>, requests: readonly string[]): Promise<Released> => {
  if (requests.length === 0) return NOTHING_RELEASED
  const ids = [...requests].sort()
  const held = await transaction
    .deleteFrom('hold')
    .where('request_id', 'in', ids)
    .where('state', '=', 'held')
    .returning('request_id')
    .execute()
  return { requests: new Set(held.map(({ request_id }) => request_id)), scopes: await releaseScopes(transaction, held) }
}

const NOTHING_RELEASED: Released = { requests: new Set(), scopes: [] }

export const releaseScopes = async (
  transaction: Transaction<Schema>,
  holds: readonly Pick<HoldTable, 'request_id'>[],
): Promise<readonly HoldScopeTable[]> => {
  if (holds.length === 0) return []
  const ids = holds.map(({ request_id }) => request_id)
  return transaction.deleteFrom('hold_scope').where('request_id', 'in', ids).returningAll().execute()
}

interface Before {
  amount: number
  byok: number
  final: boolean
}

/** Requests without a hold were settled before, or the reaper took them; or power failed and the hold was lost. */
const chargedBefore = async (transaction: Transaction<Schema>, requests: readonly string[]): Promise<ReadonlyMap<string, Before>> => {
  const charged = new Map<string, Before>()
  if (requests.length === 0) return charged
  await transaction.deleteFrom('hold').where('request_id', 'in', requests).where('state', '=', 'reaped').execute()
  const rows = await transaction
    .selectFrom('ledger')
    .select(['request_id', 'kind', 'amount_n', 'byok_n'])
    .where('request_id', 'in', requests)
    .where('kind', '!=', 'attempt')
    .execute()
  for (const row of rows) {
    const before = charged.get(row.request_id) ?? { amount: 0, byok: 0, final: false }
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

const subjectsOf = ({ keyHash, workspaceId, userId }: Payer): readonly string[] => [
  SUBJECTS.key(keyHash),
  SUBJECTS.member(workspaceId, userId),
  SUBJECTS.workspace(workspaceId),
]

/** What was written in the ledger and what was released, in the figures of days and windows. */
export const charge = async (
  transaction: Transaction<Schema>,
  { engine }: Database,
  changes: {
    readonly rows: readonly LedgerTable[]
    readonly payers: ReadonlyMap<string, Payer>
    readonly tokens: ReadonlyMap<string, number>
    readonly released: readonly HoldScopeTable[]
    /** The earliest day of admission among them. */
    readonly firstDay: string
  },
): Promise<void> => {
  const charges = changes.rows.filter(({ kind }) => kind !== 'attempt')
  const days = sumUsageDays(
    charges.map((row): UsageDay => ({
      key_hash: row.key_hash,
      day: row.day,
      cost_nanos: row.amount_n,
      byok_cost_nanos: row.byok_n,
      requests: row.kind === 'adjust' ? 0 : 1,
      tokens: changes.tokens.get(row.request_id) ?? 0,
    })),
  )
  await addUsageDays(transaction, days)
  const spent = charges.flatMap((row) => {
    const payer = changes.payers.get(row.request_id)
    return payer === undefined || (row.amount_n === 0 && row.byok_n === 0) ? [] : subjectsOf(payer).map((subject) => ({ subject, row }))
  })
  const subjects = new Set([...spent, ...changes.released].map(({ subject }) => subject))
  const windows = await lockWindows(transaction, engine, [...subjects], changes.firstDay)
  for (const { subject, row } of spent) windows.charge(subject, row.day, row.amount_n, row.byok_n)
  for (const { subject, span, window_start, amount_n } of changes.released) windows.hold({ subject, span, start: window_start }, -amount_n)
  await windows.write()
}
