/** `patchbay keys …`: works on storage directly; a running service sees the change within half a second. */
import { validate } from '../contract/validate.ts'
import { EVERY_KEY } from '../contract/key-filter.ts'
import { type ApiKeyResource, createKeyBody } from '../contract/key.ts'
import { keyHash } from '../contract/key-hash.ts'
import { SettingError, type StorageSettings } from '../config.ts'
import { keyResource } from '../keys/key-resource.ts'
import { createKeys, type Keys, UNBOUNDED } from '../keys/keys.ts'
import { KEY_KINDS } from '../keys/key-format.ts'
import { decimalNumber } from '../lib/decimal.ts'
import { systemClock } from '../lib/clock.ts'
import { systemIds } from '../lib/id.ts'
import { nanosOf } from '../lib/money.ts'
import type { Storage } from '../open-storage.ts'
import { derivedKeys } from '../root-secret.ts'
import { createKeyStore } from '../storage/keys/key-store.ts'
import { withFlagNames } from './flag-names.ts'
import { fromShell } from './from-shell.ts'
import { namedWorkspace } from './named-workspace.ts'
import { hasData, requireData } from './require-data.ts'
import { terminalLine } from './terminal-line.ts'
import { print, printWhole } from './print.ts'
import { withNewStorage } from './with-storage.ts'

interface CreateFlags {
  readonly workspace?: string
  readonly kind: string
  readonly name: string
  readonly limitUsd?: string
  readonly limitReset?: string
  readonly expires?: string
  readonly providerFailure?: string
  readonly json?: boolean
}

export const createKeyVerb = async (settings: StorageSettings, flags: CreateFlags): Promise<void> => {
  const kind = KEY_KINDS.find((known) => known === flags.kind)
  if (kind === undefined) throw new SettingError(`--kind must be management or inference (it is ${JSON.stringify(flags.kind)}).`)
  const limit = flags.limitUsd === undefined ? null : decimalNumber(flags.limitUsd)
  if (limit === null && flags.limitUsd !== undefined) throw new SettingError('--limit-usd must be a number of US dollars, such as 12.50.')
  const body = await withFlagNames(FLAGS, () =>
    validate(createKeyBody, {
      name: flags.name,
      kind,
      limit,
      limit_reset: flags.limitReset ?? null,
      expires_at: flags.expires ?? null,
      provider_failure: flags.providerFailure ?? null,
    }),
  )
  if (flags.limitReset !== undefined && limit === null)
    throw new SettingError('--limit-reset needs --limit-usd: there is no limit to reset.')
  const isNew = !hasData(settings)
  await withKeys(settings, async (keys, { owner, database }) => {
    const workspaceId = flags.workspace === undefined ? owner.workspaceId : await namedWorkspace(database, flags.workspace)
    if (isNew) note(`made a new database in ${settings.dataDir}`)
    const { key, record } = await withFlagNames(FLAGS, () =>
      keys.create(
        {
          kind,
          name: body.name,
          workspaceId,
          creatorUserId: owner.userId,
          ...UNBOUNDED,
          limitNanos: limit === null ? null : nanosOf(limit),
          limitReset: body.limit_reset ?? null,
          expiresAt: body.expires_at ?? null,
          providerFailure: body.provider_failure ?? null,
        },
        fromShell(owner.userId),
      ),
    )
    const isJson = flags.json === true
    // Only the key is written to stdout, for scripts.
    const shown = isJson ? JSON.stringify({ key, ...keyResource(await keys.get(workspaceId, record.hash)) }) : key
    try {
      await printWhole(`${shown}\n`)
    } catch (thrown) {
      await keys.revoke(null, record.hash, fromShell(owner.userId))
      note('nobody reads the standard output: the key is taken back')
      throw thrown
    }
    if (!isJson) note(`shown this once; hash ${record.hash}`)
  })
}

const FLAGS = {
  name: '--name',
  limit: '--limit-usd',
  limit_reset: '--limit-reset',
  expires_at: '--expires',
  provider_failure: '--provider-failure',
}

const LIST_PAGE = 100

export const listKeysVerb = async (
  settings: StorageSettings,
  flags: { readonly workspace?: string; readonly json?: boolean },
): Promise<void> => {
  requireData(settings)
  await withKeys(settings, async (keys, { database }) => {
    const workspaceId = flags.workspace === undefined ? null : await namedWorkspace(database, flags.workspace)
    if (flags.json !== true) print(row(HEADER))
    for (let offset = 0; ; offset += LIST_PAGE) {
      const page = await keys.list({ ...EVERY_KEY, workspaceId, offset, limit: LIST_PAGE })
      for (const key of page.items.map(keyResource)) {
        print(flags.json === true ? JSON.stringify(key) : terminalLine(row(cellsOf(key))))
      }
      if (page.items.length < LIST_PAGE) return
    }
  })
}

const HEADER = ['HASH', 'KIND', 'LABEL', 'STATUS', 'USED', 'LIMIT', 'EXPIRES', 'WORKSPACE', 'NAME']
/** Fixed, because keys are printed page by page; the name, of any length, comes last. */
const WIDTHS = [64, 10, 15, 8, 12, 14, 24, 36]

const cellsOf = (key: ApiKeyResource): string[] => [
  key.hash,
  key.kind,
  key.label,
  key.disabled ? 'disabled' : 'active',
  `$${key.usage}`,
  key.limit === null ? 'none' : `$${key.limit}${key.limit_reset === null ? '' : ` ${key.limit_reset}`}`,
  key.expires_at ?? 'never',
  key.workspace_id,
  key.name,
]

const row = (cells: readonly string[]): string => cells.map((cell, column) => cell.padEnd(WIDTHS[column] ?? 0)).join('  ')

export const revokeKeyVerb = async (settings: StorageSettings, hash: string): Promise<void> => {
  const valid = validate(keyHash, hash, ['hash'])
  requireData(settings)
  await withKeys(settings, async (keys, { owner }) => {
    await keys.revoke(null, valid, fromShell(owner.userId))
    print(`revoked ${valid}`)
  })
}

const withKeys = (settings: StorageSettings, work: (keys: Keys, storage: Storage) => Promise<void>): Promise<void> =>
  withNewStorage(settings, async (storage) => {
    const peppers = derivedKeys(storage.secret, 'key-pepper')
    await work(
      createKeys({
        store: createKeyStore(storage.database),
        clock: systemClock,
        ids: systemIds,
        peppers: () => peppers,
        onError: (thrown) => note(`a key could not be stored under the new root secret: ${String(thrown)}`),
      }),
      storage,
    )
  })

/** Writes a line for the person at the terminal; scripts read stdout. */
const note = (line: string): void => void process.stderr.write(`${line}\n`)
