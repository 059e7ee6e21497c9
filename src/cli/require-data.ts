import { existsSync, statSync } from 'node:fs'
import { join } from 'node:path'

import { SettingError, type StorageSettings } from '../config.ts'
import { systemFault } from '../lib/system-fault.ts'
import { DATABASE_FILE } from '../storage/sqlite/sqlite.ts'

export const hasData = ({ databaseUrl, dataDir }: StorageSettings): boolean =>
  databaseUrl !== null || existsSync(join(dataDir, DATABASE_FILE))

/** Why `hasData` finds nothing where there may be something; null if nothing is there. */
export const faultOfData = ({ dataDir }: StorageSettings): string | null => {
  try {
    statSync(join(dataDir, DATABASE_FILE))
    return null
  } catch (thrown) {
    const fault = systemFault(thrown)
    return fault === 'ENOENT' || fault === 'ENOTDIR' ? null : fault
  }
}

/** Opening SQLite would create the database: in the wrong directory, the result would look like an empty database. Throws SettingError. */
export const requireData = (settings: StorageSettings): void => {
  if (hasData(settings)) return
  const fault = faultOfData(settings)
  if (fault !== null)
    throw new SettingError(`the data in ${settings.dataDir} cannot be read (${fault}); run this as the user of the service.`)
  throw new SettingError(`there is no Patchbay data in ${settings.dataDir}; use --data-dir to name it.`)
}
