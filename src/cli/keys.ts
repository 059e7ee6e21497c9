/** `patchbay keys …`: works on storage itself; a running service sees the change within half a second. */
import { validate } from '../contract/validate.ts'
import { createKeyBody, keyHash } from '../contract/key.ts'
import { SettingError, type StorageSettings } from '../config.ts'
import { keyResource } from '../keys/key-resource.ts'
import { createKeys, type Keys } from '../keys/keys.ts'
import { KEY_KINDS } from '../keys/key-format.ts'
import { systemClock } from '../lib/clock.ts'
import { systemIds } from '../lib/id.ts'
import { nanosOf } from '../lib/money.ts'
import { openStorage, type Storage } from '../open-storage.ts'
import { createKeyStore } from '../storage/key-store.ts'

interface CreateFlags {
  readonly kind: string
  readonly name: string
  readonly limitUsd?: string
  readonly limitReset?: string
  readonly expires?: string
  readonly json?: boolean
}

export const createKeyVerb = async (settings: StorageSettings, flags: CreateFlags): Promise<void> => {
  const kind = KEY_KINDS.find((known) => known === flags.kind)
  if (kind === undefined) throw new SettingError(`--kind must be management or inference (it is ${JSON.stringify(flags.kind)}).`)
  const limit = flags.limitUsd === undefined ? null : Number(flags.limitUsd)
  if (limit !== null && (flags.limitUsd?.trim() === '' || !Number.isFinite(limit)))
    throw new SettingError('--limit-usd must be a number of US dollars.')
  const body = validate(createKeyBody, {
    name: flags.name,
    kind,
    limit,
    limit_reset: flags.limitReset ?? null,
    expires_at: flags.expires ?? null,
  })
  await withKeys(settings, async (keys, { owner }) => {
    const { key, record } = await keys.create({
      kind,
      name: body.name,
      workspaceId: owner.workspaceId,
      creatorUserId: owner.userId,
      limitNanos: limit === null ? null : nanosOf(limit),
      limitReset: body.limit_reset ?? null,
      includeByokInLimit: false,
      strict: false,
      expiresAt: body.expires_at ?? null,
    })
    print(flags.json === true ? JSON.stringify({ key, ...keyResource(await keys.get(owner.workspaceId, record.hash)) }) : key)
  })
}

const LIST_PAGE = 100

export const listKeysVerb = (settings: StorageSettings, flags: { readonly json?: boolean }): Promise<void> =>
  withKeys(settings, async (keys, { owner }) => {
    for (let offset = 0; ; offset += LIST_PAGE) {
      const page = await keys.list({ workspaceId: owner.workspaceId, includeDisabled: true, offset, limit: LIST_PAGE })
      for (const key of page.map(keyResource)) {
        print(
          flags.json === true
            ? JSON.stringify(key)
            : [key.hash, key.kind.padEnd(10), key.label, key.disabled ? 'disabled' : 'active', `$${key.usage}`, key.name].join('  '),
        )
      }
      if (page.length < LIST_PAGE) return
    }
  })

export const revokeKeyVerb = async (settings: StorageSettings, hash: string): Promise<void> => {
  const valid = validate(keyHash, hash, ['hash'])
  await withKeys(settings, async (keys, { owner }) => {
    await keys.revoke(owner.workspaceId, valid)
    print(`revoked ${valid}`)
  })
}

const withKeys = async (settings: StorageSettings, work: (keys: Keys, storage: Storage) => Promise<void>): Promise<void> => {
  const storage = await openStorage(settings, { service: false, onError: () => undefined })
  try {
    await work(
      createKeys({
        store: createKeyStore(storage.database),
        clock: systemClock,
        ids: systemIds,
        pepper: storage.secret.derive('key-pepper'),
      }),
      storage,
    )
  } finally {
    await storage.database.close()
  }
}

const print = (line: string): void => void process.stdout.write(`${line}\n`)
