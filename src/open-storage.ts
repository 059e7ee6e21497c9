/** The database of these settings, its root secret and its owner: what the service and every verb of the CLI begin with. */
import { type StorageSettings, SettingError } from './config.ts'
import { isoTimestamp, systemClock } from './lib/clock.ts'
import { systemIds } from './lib/id.ts'
import { makeRootSecret, readRootSecret, secretPath, type RootSecret } from './root-secret.ts'
import type { Database } from './storage/database.ts'
import { createFactStore, type FactStore } from './storage/fact-store.ts'
import { openDatabase } from './storage/open-database.ts'
import { createWorkspaceStore } from './storage/workspace-store.ts'

export interface Storage {
  readonly database: Database
  readonly secret: RootSecret
  readonly owner: { readonly workspaceId: string; readonly userId: string }
  /** True once in the life of a database: for the first caller. */
  claimFirstStart(): Promise<boolean>
}

/** `service`: this process serves, and is the only one to do so on a SQLite file. Throws SettingError, StorageRefused, StorageUnavailable. */
export const openStorage = async (
  settings: StorageSettings,
  options: { service: boolean; onError: (error: Error) => void },
): Promise<Storage> => {
  const database = await openDatabase({ ...settings, exclusive: options.service, onError: options.onError })
  try {
    const facts = createFactStore(database)
    const secret = await verifiedSecret(settings, facts)
    const now = isoTimestamp(systemClock.now())
    const owner = await createWorkspaceStore(database).ensureDefaults({
      workspaceId: systemIds.uuid(),
      userId: `user_${systemIds.uuid()}`,
      now,
    })
    return { database, secret, owner, claimFirstStart: async () => (await facts.establish('first-start', now)).written }
  } catch (thrown) {
    await database.close()
    throw thrown
  }
}

/** A process with another root secret than the database's would refuse every key without a word. */
const verifiedSecret = async ({ secret: given, dataDir }: StorageSettings, facts: FactStore): Promise<RootSecret> => {
  const known = await facts.read('secret-check')
  const found = readRootSecret(given, dataDir)
  if (found === null && known !== null) {
    throw new SettingError(
      `${secretPath(dataDir)} is missing: it holds the root secret that this database was made with. Restore it, or set PATCHBAY_SECRET.`,
    )
  }
  const secret = found ?? makeRootSecret(dataDir)
  const check = Buffer.from(secret.derive('check')).toString('hex')
  if ((await facts.establish('secret-check', check)).value === check) return secret
  const source = given === null ? secretPath(dataDir) : 'PATCHBAY_SECRET'
  throw new SettingError(`${source} is not the root secret that this database was made with: its keys could not be verified.`)
}
