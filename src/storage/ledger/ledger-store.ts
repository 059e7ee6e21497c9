/**
 * Money in storage. Every figure of a window changes in the same transaction as the row that causes the change, under the window's
 * lock: what is admitted fits, and what is charged is charged once.
 */
import { admitRequests, type Admission } from './admit-requests.ts'
import { growHold } from './grow-hold.ts'
import type { Database } from '../database.ts'
import type { ScopeWindowTable } from '../tables/ledger-tables.ts'
import { createWindows, windowName, windowsByName, type WindowKey } from './scope-windows.ts'
import { settleRequests, type Settlement } from './settle-requests.ts'

export interface LedgerStore {
  /** Returns, for each admission in turn, null if its hold was written, otherwise the refusal. If it throws, nothing was written. */
  admit<Refusal>(admissions: readonly Admission<Refusal>[]): Promise<readonly (Refusal | null)[]>
  /** Holds the admission's amount in place of what is held for its request; returns null if it did, or `gone` if nothing is held. */
  grow<Refusal>(admission: Admission<Refusal>): Promise<Refusal | 'gone' | null>
  /** Writes, charges and releases, each at most once however often it is sent; a batch whose outcome is unknown can be sent again. */
  settle(settlements: readonly Settlement[]): Promise<void>
  /** Like `settle`, for settlements as lines of JSON; runs in the database's thread if there is one. */
  settleLines(lines: readonly string[]): Promise<void>
  /** The figures of windows, which are created if they do not exist. */
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
        const byName = windowsByName(rows)
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
