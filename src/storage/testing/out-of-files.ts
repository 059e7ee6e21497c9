/** Run it in a process of its own with a low limit of open files: it prints, as JSON, what settling says without files and with them. */
import { closeSync, openSync, writeSync } from 'node:fs'
import { devNull } from 'node:os'

import { createGenerationStore } from '../generations/generation-store.ts'
import { createLedgerStore } from '../ledger/ledger-store.ts'
import { openDatabase } from '../open-database.ts'
import { rejection } from './rejection.ts'

const [dataDir = '', id = '', line = ''] = process.argv.slice(2)
const database = await openDatabase({ databaseUrl: null, dataDir, exclusive: true, thread: true, onError: () => {} })
const taken: number[] = []
try {
  for (;;) taken.push(openSync(devNull, 'r'))
} catch {
  const failure = await rejection(createLedgerStore(database).settleLines([line]))
  for (const file of taken) closeSync(file)
  await createLedgerStore(database).settleLines([line])
  const stored = (await createGenerationStore(database).get(id, null)) !== null
  await database.close()
  writeSync(1, JSON.stringify({ failure: failure instanceof Error ? failure.name : null, stored }))
}
