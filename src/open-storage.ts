/** Opens the database of these settings with its root secret and its owner: the first step of the service and of every command. */
import { type StorageSettings, SettingError } from './config.ts'
import { isoTimestamp, systemClock } from './lib/clock.ts'
import { systemIds } from './lib/id.ts'
import { closeSecretFile, inUseBy, makeRootSecret, readRootSecret, secretCheck, secretPath, type RootSecret } from './root-secret.ts'
import type { Database } from './storage/database.ts'
import { createFactStore, type FactStore } from './storage/service/fact-store.ts'
import { openDatabase } from './storage/open-database.ts'
import { uncheckedServer } from './storage/postgres/postgres-address.ts'
import { createWorkspaceStore } from './storage/workspaces/workspace-store.ts'

export interface Storage {
  readonly database: Database
  readonly secret: RootSecret
  /** Reads the secret again, since another process may have rotated it. */
  rereadSecret(): Promise<RootSecret>
  readonly owner: { readonly workspaceId: string; readonly userId: string }
  /** True only once in the life of a database, for the first caller. */
  claimFirstStart(): Promise<boolean>
  /** The address at which a service on this database listened last; null if none ever did. */
  address(): Promise<string | null>
  noteAddress(url: string): Promise<void>
  /** Makes the next start count as the first again. */
  forgetFirstStart(): Promise<void>
}

/**
 * `service`: this process serves requests, and must be the only one to do so on a SQLite file. Throws SettingError, StorageRefused,
 * StorageUnavailable.
 */
export const openStorage = async (
  settings: StorageSettings,
  options: { service: boolean; onError: (error: Error) => void; warn: (sentence: string) => void },
): Promise<Storage> => {
  const database = await openDatabase({
    ...settings,
    exclusive: options.service,
    thread: options.service,
    refusesOlder: !options.service,
    onError: options.onError,
    onWait: options.warn,
  })
  try {
    const facts = createFactStore(database)
    const opened = settings.secret === null ? closeSecretFile(settings.dataDir) : null
    if (opened !== null) options.warn(opened)
    const unchecked = options.service && settings.databaseUrl !== null ? uncheckedServer(settings.databaseUrl) : null
    if (unchecked !== null) options.warn(unchecked)
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

/** A process with a root secret other than the database's would silently refuse every key. */
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
  // During a rotation the database still identifies itself by the previous secret.
  const used = inUseBy(secret, (await facts.establish('secret-check', secretCheck(secret))).value)
  if (used !== null) return used
  const source = settings.secret === null ? secretPath(dataDir) : 'PATCHBAY_SECRET'
  throw new SettingError(
    `${source} is not the root secret that this database was made with: its keys could not be verified. Start with that secret.`,
  )
}
