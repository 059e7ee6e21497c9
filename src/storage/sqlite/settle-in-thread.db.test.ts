import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { afterEach, beforeEach, expect, test } from 'bun:test'
import { sql } from 'kysely'

import type { Database } from '../database.ts'
import { createGenerationStore, type GenerationRecord } from '../generations/generation-store.ts'
import { createLedgerStore } from '../ledger/ledger-store.ts'
import { openDatabase } from '../open-database.ts'
import { StorageRefused } from '../storage-errors.ts'
import { rejection } from '../testing/rejection.ts'
import { settlementOf } from '../testing/settlement.ts'
import { generationRecord } from '../testing/generation-record.ts'

let dataDir = ''
let database: Database

beforeEach(async () => {
  dataDir = mkdtempSync(join(tmpdir(), 'patchbay-settling-'))
  database = await openDatabase({ databaseUrl: null, dataDir, exclusive: true, thread: true, onError: () => {} })
})

afterEach(async () => {
  await database.close()
  rmSync(dataDir, { recursive: true, force: true })
})

const recordOf = (id: string): GenerationRecord =>
  generationRecord({
    id,
    createdAt: '2026-11-20T10:00:00.000Z',
    workspaceId: 'w',
    keyHash: 'ab'.repeat(32),
    model: 'm/one',
    provider: 'a',
    costNanos: 1,
  })

const line = (id: string): string => JSON.stringify(settlementOf(recordOf(id)))

const settle = (...ids: readonly string[]): Promise<void> => createLedgerStore(database).settleLines(ids.map(line))

const stored = async (id: string): Promise<boolean> => (await createGenerationStore(database).get(id, null)) !== null

test('the event loop goes on turning while a batch is settled', async () => {
  let turns = 0
  let settled = false
  const batch = settle(...Array.from({ length: 1000 }, (_, index) => `gen-${index}`)).finally(() => (settled = true))
  while (!settled) {
    await new Promise((resolve) => setImmediate(resolve))
    turns += 1
  }
  await batch
  // In one piece it would take a turn or two; here each of its sixteen slices is awaited.
  expect(turns).toBeGreaterThanOrEqual(16)
  expect([await stored('gen-0'), await stored('gen-999')]).toEqual([true, true])
})

test('an admission has its turn between two parts of a batch', async () => {
  const order: string[] = []
  const batch = settle(...Array.from({ length: 200 }, (_, index) => `gen-${index}`)).then(() => order.push('batch'))
  const other = database
    .transaction(async (transaction) => {
      await transaction.updateTable('change_counter').set({ value: 7 }).execute()
    }, 'process')
    .then(() => order.push('transaction'))
  await Promise.all([batch, other])
  expect(order).toEqual(['transaction', 'batch'])
})

test('no commit of the connection that requests wait for empties the log', async () => {
  const { rows } = await sql<{ wal_autocheckpoint: number }>`pragma wal_autocheckpoint`.execute(database.kysely)
  expect(rows).toEqual([{ wal_autocheckpoint: 0 }])
  await settle('gen-1')
  await database.checkpoint()
  const [checkpoint] = (await sql<{ log: number; checkpointed: number }>`pragma wal_checkpoint(passive)`.execute(database.kysely)).rows
  expect(checkpoint?.checkpointed).toBe(checkpoint?.log ?? -1)
})

test('the log stays short while requests are settled', async () => {
  for (let batch = 0; batch < 8; batch++) await settle(...Array.from({ length: 1000 }, (_, index) => `gen-${batch}-${index}`))
  const { size } = statSync(join(dataDir, 'patchbay.db'))
  // Without a checkpoint everything would be only in the log.
  expect(statSync(join(dataDir, 'patchbay.db-wal')).size).toBeLessThan(size)
})

test('the log stays short while much is written and nothing is settled, such as a long deletion', async () => {
  const mebibyte = 1024 * 1024
  for (let write = 0; write < 200; write++)
    await database.transaction(
      (transaction) =>
        transaction
          .insertInto('service_facts')
          .values({ name: 'large', value: '' })
          .onConflict((conflict) => conflict.column('name').doUpdateSet({ value: String(write % 10).repeat(mebibyte) }))
          .execute(),
      'process',
    )
  expect(statSync(join(dataDir, 'patchbay.db-wal')).size).toBeLessThan(100 * mebibyte)
})

test('a thread that cannot open the database says why, and the next batch starts another', async () => {
  const witness = join(dataDir, 'database.json')
  const intact = readFileSync(witness, 'utf8')
  writeFileSync(witness, intact.replace(/"changes":\d+/, '"changes":999999'))
  const failures = await Promise.all([rejection(settle('gen-1')), rejection(settle('gen-2'))])
  for (const failure of failures) expect(failure).toBeInstanceOf(StorageRefused)
  writeFileSync(witness, intact)
  await settle('gen-1')
  expect([await stored('gen-1'), await stored('gen-2')]).toEqual([true, false])
})

test('where no file is left, a batch fails and the process lives; the next one starts the thread', async () => {
  await database.close()
  const program = join(import.meta.dir, '../testing/out-of-files.ts')
  const script = 'ulimit -n 64; exec "$0" "$@"'
  const { stdout } = spawnSync('sh', ['-c', script, process.execPath, program, dataDir, 'gen-1', line('gen-1')], { encoding: 'utf8' })
  expect(stdout).toBe('{"failure":"StorageUnavailable","stored":true}')
})

test('a batch that storage refuses fails with its reason, and the thread goes on', async () => {
  const broken = JSON.stringify(settlementOf({ ...recordOf('gen-1'), tokensPrompt: -1 }))
  const failure = await rejection(createLedgerStore(database).settleLines([broken]))
  expect(String(failure)).toContain('CHECK constraint failed')
  await settle('gen-2')
  expect([await stored('gen-1'), await stored('gen-2')]).toEqual([false, true])
})
