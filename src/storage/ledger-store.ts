/**
 * Money in storage. Every figure of a window moves in the same transaction as the row that is the reason for it, under
 * the window's lock: what is admitted fits, and what is charged is charged once.
 */
import { admitRequests, type Admission } from './admit-requests.ts'
import { growHold } from './grow-hold.ts'
import type { Database } from './database.ts'
import type { ScopeWindowTable } from './ledger-tables.ts'
import { createWindows, windowName, type WindowKey } from './scope-windows.ts'
import { settleRequests, type Settlement } from './settle-requests.ts'

export interface LedgerStore {
  /** For each admission in turn: null where its hold is written, else why not. All or nothing where it throws. */
  admit<Refusal>(admissions: readonly Admission<Refusal>[]): Promise<readonly (Refusal | null)[]>
  /** Holds the amount of the admission in place of what is held for its request; null where it does, `gone` where nothing is held. */
  grow<Refusal>(admission: Admission<Refusal>): Promise<Refusal | 'gone' | null>
  /** Writes, charges and releases, each at most once however often it is sent; a batch whose outcome is unknown can be sent again. */
  settle(settlements: readonly Settlement[]): Promise<void>
  /** The same for settlements that are JSON, a line each; in the thread of the database, where it has one. */
  settleLines(lines: readonly string[]): Promise<void>
  /** The figures of windows, made where they were not there. */
  read(keys: readonly WindowKey[]): Promise<readonly ScopeWindowTable[]>
}

export const createLedgerStore = (database: Database): LedgerStore => {
  const settle: LedgerStore['settle'] = async (settlements) => {
    if (settlements.length === 0) return
    await database.transaction((transaction) => settleRequests(transaction, database, settlements), 'process')
  }
  return {
    async admit(admissions) {
      for (;;) {
        const outcome = await database.transaction((transaction) => admitRequests(transaction, database, admissions), 'process')
        if (outcome.missing.length === 0) return outcome.refusals
        await createWindows(database, outcome.missing)
      }
    },
    grow: (admission) => database.transaction((transaction) => growHold(transaction, database, admission), 'process'),
    settle,
    settleLines: database.settleLines ?? ((lines) => settle(lines.map((line) => JSON.parse(line) as Settlement))),
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
  }
}
