/** The database of these settings, its root secret and its owner: what the service and every verb of the CLI begin with. */
import { type StorageSettings, SettingError } from './config.ts'
import { isoTimestamp, systemClock } from './lib/clock.ts'
import { systemIds } from './lib/id.ts'
import { closeSecretFile, inUseBy, makeRootSecret, readRootSecret, secretCheck, secretPath, type RootSecret } from './root-secret.ts'
import type { Database } from './storage/database.ts'
import { createFactStore, type FactStore } from './storage/fact-store.ts'
import { openDatabase } from './storage/open-database.ts'
import { createWorkspaceStore } from './storage/workspace-store.ts'

export interface Storage {
  readonly database: Database
  readonly secret: RootSecret
  /** As it is now: another process may have rotated it. */
  rereadSecret(): Promise<RootSecret>
  readonly owner: { readonly workspaceId: string; readonly userId: string }
  /** True once in the life of a database: for the first caller. */
  claimFirstStart(): Promise<boolean>
  /** Where a service on this database listened last; null where none ever did. */
  address(): Promise<string | null>
  noteAddress(url: string): Promise<void>
  /** The next start is the first again. */
  forgetFirstStart(): Promise<void>
}

/** `service`: this process serves, and is the only one to do so on a SQLite file. Throws SettingError, StorageRefused, StorageUnavailable. */
export const openStorage = async (
  settings: StorageSettings,
  options: { service: boolean; onError: (error: Error) => void; warn: (sentence: string) => void },
): Promise<Storage> => {
  const database = await openDatabase({ ...settings, exclusive: options.service, thread: options.service, onError: options.onError })
  try {
    const facts = createFactStore(database)
    const opened = settings.secret === null ? closeSecretFile(settings.dataDir) : null
    if (opened !== null) options.warn(opened)
    const secret = await verifiedSecret(settings, facts)
    const now = isoTimestamp(systemClock.now())
    const owner = await createWorkspaceStore(database).ensureDefaults({
      workspaceId: systemIds.uuid(),
      userId: `user_${systemIds.uuid()}`,
      now,
    })
    const rereadSecret = (): Promise<RootSecret> => verifiedSecret(settings, facts)
    return {
      database,
      secret,
      rereadSecret,
      owner,
      claimFirstStart: async () => (await facts.establish('first-start', now)).written,
      address: () => facts.read('address'),
      async noteAddress(url) {
        const { written, value } = await facts.establish('address', url)
        if (!written && value !== url) await facts.replace('address', url)
      },
      forgetFirstStart: () => facts.forget('first-start'),
    }
  } catch (thrown) {
    await database.close()
    throw thrown
  }
}

/** A process with another root secret than the database's would refuse every key without a word. */
const verifiedSecret = async (settings: StorageSettings, facts: FactStore): Promise<RootSecret> => {
  const { dataDir } = settings
  const known = await facts.read('secret-check')
  const found = readRootSecret(settings, dataDir)
  if (found === null && known !== null) {
    throw new SettingError(
      `${secretPath(dataDir)} is missing: it holds the root secret that this database was made with. Restore it, or set PATCHBAY_SECRET.`,
    )
  }
  const secret = found ?? makeRootSecret(dataDir)
  // In the middle of a rotation the database still knows itself by the one before.
  const used = inUseBy(secret, (await facts.establish('secret-check', secretCheck(secret))).value)
  if (used !== null) return used
  const source = settings.secret === null ? secretPath(dataDir) : 'PATCHBAY_SECRET'
  throw new SettingError(
    `${source} is not the root secret that this database was made with: its keys could not be verified. Start with that secret.`,
  )
}
