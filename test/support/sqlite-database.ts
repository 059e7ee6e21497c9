/** A new SQLite database with its owner, for tests that need real storage but not every engine. Removed after the tests of the file. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { afterAll } from 'bun:test'

import type { Database } from '../../src/storage/database.ts'
import { openDatabase } from '../../src/storage/open-database.ts'
import { createWorkspaceStore } from '../../src/storage/workspaces/workspace-store.ts'

export interface OwnedDatabase {
  readonly database: Database
  readonly dataDir: string
  readonly owner: { readonly workspaceId: string; readonly userId: string }
}

/** Makes a new directory, removed after the tests of the file. Call it while the file loads, when `afterAll` means the file. */
export const temporaryDirectory = (): string => {
  const directory = mkdtempSync(join(tmpdir(), 'patchbay-unit-'))
  afterAll(() => rmSync(directory, { recursive: true, force: true }))
  return directory
}

/** Call it while the file loads. */
export const openSqliteDatabase = async (): Promise<OwnedDatabase> => {
  const dataDir = temporaryDirectory()
  const database = await openDatabase({ databaseUrl: null, dataDir, exclusive: false, onError: () => undefined })
  afterAll(() => database.close())
  const owner = await createWorkspaceStore(database).ensureDefaults({
    workspaceId: crypto.randomUUID(),
    userId: 'user_1',
    now: '2026-11-20T10:00:00.000Z',
  })
  return { database, dataDir, owner }
}
