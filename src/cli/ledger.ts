/** `patchbay ledger audit`: recomputes the money, whether the service is running or not. */
import type { StorageSettings } from '../config.ts'
import { isoTimestamp, systemClock } from '../lib/clock.ts'
import { openStorage } from '../open-storage.ts'
import { auditLedger, INVARIANTS } from '../storage/ledger-audit.ts'
import { requireData } from './require-data.ts'
import { warn } from './warn.ts'
import { print } from './print.ts'

/** Returns the exit code: 1 if something is wrong. */
export const auditLedgerVerb = async (settings: StorageSettings, flags: { readonly json?: boolean }): Promise<number> => {
  requireData(settings)
  const { database } = await openStorage(settings, { service: false, onError: () => undefined, warn })
  try {
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
  } finally {
    await database.close()
  }
}
