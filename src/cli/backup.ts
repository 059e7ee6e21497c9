/** `patchbay backup` and `patchbay restore`: the database as one file, whether the service is running or not. */
import { statSync } from 'node:fs'
import { join, resolve } from 'node:path'

import type { StorageSettings } from '../config.ts'
import { secretPath } from '../root-secret.ts'
import { restoreBackup, writeBackup } from '../storage/backup/backup.ts'
import { DATABASE_FILE } from '../storage/sqlite/sqlite.ts'
import { requireData } from './require-data.ts'
import { print } from './print.ts'

/** `path` is the file to create, or the directory to create it in. */
export const backupVerb = async (settings: StorageSettings, path: string): Promise<void> => {
  requireData(settings)
  const isDirectory = statSync(path, { throwIfNoEntry: false })?.isDirectory() === true
  const file = resolve(isDirectory ? join(path, DATABASE_FILE) : path)
  await writeBackup(settings, file)
  const secret = settings.secret === null ? secretPath(settings.dataDir) : 'PATCHBAY_SECRET'
  print(`backed up to ${file}`)
  print(`The root secret (${secret}) is not in it, and without it no key of the backup works: keep it apart.`)
}

export const restoreVerb = async (settings: StorageSettings, path: string): Promise<void> => {
  await restoreBackup(resolve(path), settings)
  print(`restored to ${settings.databaseUrl === null ? join(settings.dataDir, DATABASE_FILE) : 'the PostgreSQL database'}`)
  if (settings.secret === null)
    print(`Put the root secret of the backup into ${secretPath(settings.dataDir)} (mode 0600) before you start.`)
}
