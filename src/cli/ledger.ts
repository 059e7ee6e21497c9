/** `patchbay ledger audit`: recomputes the money, whether the service is running or not. */
import type { StorageSettings } from '../config.ts'
import { isoTimestamp, systemClock } from '../lib/clock.ts'
import { auditLedger, INVARIANTS } from '../storage/ledger/ledger-audit.ts'
import { print } from './print.ts'
import { withStorage } from './with-storage.ts'

/** Returns the exit code: 1 if something is wrong. */
export const auditLedgerVerb = (settings: StorageSettings, flags: { readonly json?: boolean }): Promise<number> =>
  withStorage(settings, async ({ database }) => {
    const breaches = await auditLedger(database, isoTimestamp(systemClock.now()))
    if (flags.json === true) print(JSON.stringify({ fine: breaches.length === 0, breaches }))
    else {
      for (const { name, says } of INVARIANTS) {
        const own = breaches.filter(({ invariant }) => invariant === name)
        print(`${own.length === 0 ? 'fine ' : 'WRONG'}  ${name}  ${says}`)
        for (const { what } of own) print(`         ${what}`)
      }
    }
    return breaches.length === 0 ? 0 : 1
  })
