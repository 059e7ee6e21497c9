/**
 * `patchbay secret …`: rotation of the root secret. After every step everything stored can be read, and running the command
 * again finishes an interrupted rotation: every process can read with the new secret before anything is written with it,
 * and the old secret is removed last, by a separate command.
 */
import { SettingError, type StorageSettings } from '../config.ts'
import { rewrap } from '../byok/envelope.ts'
import { isoTimestamp, systemClock } from '../lib/clock.ts'
import { systemIds } from '../lib/id.ts'
import type { Storage } from '../open-storage.ts'
import { addRootSecret, derivedKeys, dropPreviousSecrets, readRootSecret, secretCheck, type RootSecret } from '../root-secret.ts'
import { presetKeyFollows, rewrapPresetKey } from '../presets/preset-seal.ts'
import { recordChange } from '../storage/changes/audit-log.ts'
import { createByokStore } from '../storage/keys/byok-store.ts'
import { bumpChangeCounter } from '../storage/changes/change-counter.ts'
import { createFactStore } from '../storage/service/fact-store.ts'
import { createKeyStore } from '../storage/keys/key-store.ts'
import { fromShell } from './from-shell.ts'
import { print } from './print.ts'
import { withStorage } from './with-storage.ts'

/** Called before each step; a test stops the process there. */
export type Step = 'add' | 'announce' | 'rewrap' | 'check' | 'done'

/** A running service looks for changes twice a second. */
const ANNOUNCE_MS = 1500
const seenByAll = (): Promise<void> => new Promise((resolve) => void systemClock.after(ANNOUNCE_MS, resolve))

export const rotateSecretVerb = (settings: StorageSettings, reached: (step: Step) => void = () => undefined): Promise<void> =>
  withStorage(settings, async (storage) => {
    const { database } = storage
    reached('add')
    const isDone = await isFinished(storage, settings)
    if (isDone && settings.secret !== null && storage.secret.others.length > 0) {
      print('rotated already: everything is sealed under PATCHBAY_SECRET')
      return await printWaiting(storage, storage.secret)
    }
    const secret = isDone ? newSecret(settings) : newestSecret(storage, settings)
    reached('announce')
    await database.transaction(bumpChangeCounter)
    await seenByAll()
    reached('rewrap')
    const wrapped = await rewrapAll(storage, secret)
    await rewrapPresetKey(createFactStore(database), derivedKeys(secret, 'preset-key'), systemIds)
    reached('check')
    await createFactStore(database).replace('secret-check', secretCheck(secret))
    await audit(storage, 'rotated', secret)
    reached('done')
    // Until then a service may still store a key under the old secret when the key is used, as before.
    await seenByAll()
    print(`rotated: ${wrapped} provider key${wrapped === 1 ? '' : 's'} sealed anew`)
    await printWaiting(storage, secret)
  })

const printWaiting = async ({ database }: Storage, { id }: RootSecret): Promise<void> => {
  const waiting = await createKeyStore(database).countOtherPeppers(id)
  print(`${waiting} API keys follow when they are next used; both secrets are valid until "patchbay secret retire"`)
}

/** If the secret is set by variable, the operator must provide both secrets; in the data directory, the file holds both. */
const newSecret = (settings: StorageSettings): RootSecret => {
  if (settings.secret === null) return addRootSecret(settings.dataDir)
  throw new SettingError(
    'the root secret comes from PATCHBAY_SECRET: set it to a new one, and PATCHBAY_SECRET_PREVIOUS to the old one, everywhere; then run this again.',
  )
}

const newestSecret = ({ secret }: Storage, settings: StorageSettings): RootSecret => readRootSecret(settings, settings.dataDir) ?? secret

/** True if the newest secret is the one in use, and nothing is sealed under another. */
const isFinished = async (storage: Storage, settings: StorageSettings): Promise<boolean> => {
  const { id } = newestSecret(storage, settings)
  const { database } = storage
  if (id !== storage.secret.id || !(await presetKeyFollows(createFactStore(database), { id }))) return false
  return (await createByokStore(database).sealedUnderOther(id, 1)).length === 0
}

const BATCH = 100

const rewrapAll = async ({ database }: Storage, secret: RootSecret): Promise<number> => {
  const store = createByokStore(database)
  const keys = derivedKeys(secret, 'provider-keys')
  let wrapped = 0
  for (;;) {
    const batch = await store.sealedUnderOther(secret.id, BATCH)
    for (const record of batch) {
      const context = {
        credentialId: record.id,
        workspaceId: record.workspaceId,
        provider: record.provider,
        version: record.version,
        origin: '',
      }
      await store.rewrap({ ...record, ...rewrap(record, context, keys, systemIds) })
    }
    wrapped += batch.length
    if (batch.length < BATCH) return wrapped
  }
}

/** The entry makes a running service read its secret anew. */
const audit = async ({ database, owner }: Storage, action: string, { id }: RootSecret): Promise<void> => {
  const entry = { workspaceId: owner.workspaceId, action, objectType: 'root_secret' as const, objectId: id, before: null, after: null }
  await recordChange(database, { by: fromShell(owner.userId), now: isoTimestamp(systemClock.now()) }, async () => ({
    result: undefined,
    audit: entry,
  }))
}

export const retireSecretVerb = (settings: StorageSettings, flags: { readonly force?: boolean }): Promise<void> =>
  withStorage(settings, async (storage) => {
    const { secret, database } = storage
    if (secret.others.length === 0) throw new SettingError('there is no older root secret to retire.')
    if (!(await isFinished(storage, settings))) throw new SettingError('the rotation is not finished: run "patchbay secret rotate" first.')
    const waiting = await createKeyStore(database).countOtherPeppers(secret.id)
    if (waiting > 0 && flags.force !== true) {
      throw new SettingError(
        `${waiting} API keys have not been used since the rotation and would stop working: use them once, revoke them, or add --force.`,
      )
    }
    if (settings.secret !== null) {
      print('nothing needs the older secret any more: remove PATCHBAY_SECRET_PREVIOUS.')
      return
    }
    dropPreviousSecrets(settings.dataDir)
    await audit(storage, 'retired', secret)
    print('the older root secret is forgotten')
  })
