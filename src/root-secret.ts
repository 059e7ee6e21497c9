/** The root secret, and the secrets derived from it: one for each purpose, so that none can stand in for another. */
import { createHash, hkdfSync, randomBytes } from 'node:crypto'
import {
  chmodSync,
  closeSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  statSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'

import { SettingError } from './config.ts'

export type SecretPurpose = 'key-pepper' | 'check' | 'id' | 'provider-keys' | 'preset-key' | 'sign-in' | 'response-cache'

export interface Secret {
  /** Short, public, and says nothing of the secret: what was made with it carries it. */
  readonly id: string
  derive(purpose: SecretPurpose): Uint8Array
}

/** During a rotation several are valid: all is written with this one, and read with any. */
export interface RootSecret extends Secret {
  readonly others: readonly Secret[]
}

/** A purpose's key under one root secret, named by that secret. */
export interface DerivedKey {
  readonly id: string
  readonly bytes: Uint8Array
}

/** One key for each valid secret; the key of the secret in use comes first. */
export const derivedKeys = (secret: RootSecret, purpose: SecretPurpose): readonly [DerivedKey, ...DerivedKey[]] => {
  const keyOf = ({ id, derive }: Secret): DerivedKey => ({ id, bytes: derive(purpose) })
  return [keyOf(secret), ...secret.others.map(keyOf)]
}

/** The secrets that the settings give: the one in use, and those that it replaces. */
export interface GivenSecret {
  readonly secret: string | null
  readonly secretPrevious: string | null
}

const BYTES = 32

/** The one given, or the one in the data directory, the newest in use; null where neither is there. Throws SettingError. */
export const readRootSecret = ({ secret, secretPrevious }: GivenSecret, dataDir: string): RootSecret | null => {
  const found =
    secret === null ? orFault(dataDir, () => readSecrets(dataDir)) : [secret, ...(secretPrevious === null ? [] : [secretPrevious])]
  return found === null ? null : rootSecret(found)
}

/** A new one in the data directory (mode 0600), or the one that another process made there meanwhile. Throws SettingError. */
export const makeRootSecret = (dataDir: string): RootSecret =>
  orFault(dataDir, () => {
    mkdirSync(dataDir, { recursive: true, mode: 0o700 })
    // A link appears whole or not at all: two processes that start at once agree on the secret of the first.
    const draft = writeDraft(dataDir, [newSecret()])
    try {
      linkSync(draft, secretPath(dataDir))
    } catch (thrown) {
      if (codeOf(thrown) !== 'EEXIST') throw thrown
    } finally {
      unlinkSync(draft)
    }
    return rootSecret(readSecrets(dataDir) ?? [])
  })

/** Puts a new secret before those of the data directory, which stay valid. The file is whole at every instant. Throws SettingError. */
export const addRootSecret = (dataDir: string): RootSecret =>
  orFault(dataDir, () => replaceSecrets(dataDir, [newSecret(), ...(readSecrets(dataDir) ?? [])]))

/** Leaves the data directory only the secret in use. Throws SettingError. */
export const dropPreviousSecrets = (dataDir: string): RootSecret =>
  orFault(dataDir, () => replaceSecrets(dataDir, (readSecrets(dataDir) ?? []).slice(0, 1)))

export const secretPath = (dataDir: string): string => join(dataDir, 'secret')

const newSecret = (): string => randomBytes(BYTES).toString('base64url')

const writeDraft = (dataDir: string, secrets: readonly string[]): string => {
  const draft = `${secretPath(dataDir)}.${randomBytes(8).toString('hex')}`
  const file = openSync(draft, 'wx', 0o600)
  try {
    writeFileSync(file, secrets.map((secret) => `${secret}\n`).join(''))
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
  return draft
}

const replaceSecrets = (dataDir: string, secrets: readonly string[]): RootSecret => {
  renameSync(writeDraft(dataDir, secrets), secretPath(dataDir))
  // Without this the rename itself might not survive the machine.
  const directory = openSync(dataDir, 'r')
  fsyncSync(directory)
  closeSync(directory)
  return rootSecret(secrets)
}

const rootSecret = ([newest = '', ...older]: readonly string[]): RootSecret => ({ ...secretOf(newest), others: older.map(secretOf) })

/**
 * The same secrets with that one in use by which a database knows itself; null where it is none of them. So a new secret is
 * read with from when it is there, and written with from when the rotation says so: no process is ahead of the others.
 */
export const inUseBy = (secret: RootSecret, check: string): RootSecret | null => {
  const valid = [secret, ...secret.others]
  const used = valid.find((one) => secretCheck(one) === check)
  return used === undefined ? null : { id: used.id, derive: used.derive, others: valid.filter((one) => one !== used) }
}

/** By which a database knows its root secret. */
export const secretCheck = (secret: Secret): string => Buffer.from(secret.derive('check')).toString('hex')

const secretOf = (root: string): Secret => {
  const derive = (purpose: SecretPurpose): Uint8Array => new Uint8Array(hkdfSync('sha256', root, '', `patchbay/${purpose}`, BYTES))
  return { id: createHash('sha256').update(derive('id')).digest('hex').slice(0, 16), derive }
}

/** One a line, the one in use first. */
const readSecrets = (dataDir: string): readonly string[] | null => {
  const path = secretPath(dataDir)
  let text: string
  try {
    text = readFileSync(path, 'utf8').trim()
  } catch (thrown) {
    if (codeOf(thrown) === 'ENOENT') return null
    throw thrown
  }
  const secrets = text.split(/\s*\n\s*/)
  if (secrets.some((secret) => Buffer.byteLength(secret) < BYTES))
    throw new SettingError(`${path}: the root secret holds fewer than ${BYTES} bytes.`)
  return secrets
}

/** A sentence about a secret file that others could read, which is closed to them now; null where it was closed. Throws SettingError where it cannot be. */
export const closeSecretFile = (dataDir: string): string | null => {
  const path = secretPath(dataDir)
  let mode: number
  try {
    mode = statSync(path).mode & 0o777
    if ((mode & 0o077) === 0) return null
    chmodSync(path, 0o600)
  } catch (thrown) {
    if (codeOf(thrown) === 'ENOENT') return null
    throw new SettingError(
      `${path} is open to others, and cannot be closed to them (${codeOf(thrown) ?? 'unknown reason'}): make it readable by its owner alone.`,
    )
  }
  return `${path} could be read by others (mode ${mode.toString(8)}); it is mode 600 now. If somebody may have read it, run: patchbay secret rotate`
}

const orFault = <Value>(dataDir: string, work: () => Value): Value => {
  try {
    return work()
  } catch (thrown) {
    if (thrown instanceof SettingError) throw thrown
    throw new SettingError(`--data-dir ${dataDir}: the root secret cannot be read or made (${codeOf(thrown) ?? 'unknown reason'}).`)
  }
}

const codeOf = (thrown: unknown): string | undefined => (thrown as NodeJS.ErrnoException).code
