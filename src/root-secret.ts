/** The root secret and the secrets derived from it: one for each purpose, so that none can be used in place of another. */
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
import { openPrivateFile } from './lib/private-file.ts'

export type SecretPurpose = 'key-pepper' | 'check' | 'id' | 'provider-keys' | 'preset-key' | 'sign-in' | 'response-cache'

export interface Secret {
  /** Short, public, and reveals nothing about the secret. Values made with the secret carry this id. */
  readonly id: string
  derive(purpose: SecretPurpose): Uint8Array
}

/** Several secrets are valid during a rotation: everything is written with this one, and can be read with any. */
export interface RootSecret extends Secret {
  readonly others: readonly Secret[]
}

/** The key for one purpose under one root secret, with the id of that secret. */
export interface DerivedKey {
  readonly id: string
  readonly bytes: Uint8Array
}

/** One key for each valid secret; the key of the secret in use comes first. */
export const derivedKeys = (secret: RootSecret, purpose: SecretPurpose): readonly [DerivedKey, ...DerivedKey[]] => {
  const keyOf = ({ id, derive }: Secret): DerivedKey => ({ id, bytes: derive(purpose) })
  return [keyOf(secret), ...secret.others.map(keyOf)]
}

/** The secrets from the settings: the one in use, and the one that it replaces. */
export interface GivenSecret {
  readonly secret: string | null
  readonly secretPrevious: string | null
}

const BYTES = 32

/** The given secrets, or those in the data directory, the newest in use; null if there are neither. Throws SettingError. */
export const readRootSecret = ({ secret, secretPrevious }: GivenSecret, dataDir: string): RootSecret | null => {
  const found =
    secret === null ? orFault(dataDir, () => readSecrets(dataDir)) : [secret, ...(secretPrevious === null ? [] : [secretPrevious])]
  return found === null ? null : rootSecret(found)
}

/**
 * Creates a secret in the data directory (mode 0600), or returns the one that another process created there meanwhile. Throws SettingError.
 */
export const makeRootSecret = (dataDir: string): RootSecret =>
  orFault(dataDir, () => {
    mkdirSync(dataDir, { recursive: true, mode: 0o700 })
    // A link appears whole or not at all, so two processes that start at once agree on the secret of the first.
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

/** Puts a new secret before those of the data directory, which stay valid. The file is complete at every instant. Throws SettingError. */
export const addRootSecret = (dataDir: string): RootSecret =>
  orFault(dataDir, () => replaceSecrets(dataDir, [newSecret(), ...(readSecrets(dataDir) ?? [])]))

/** Keeps only the secret in use in the data directory. Throws SettingError. */
export const dropPreviousSecrets = (dataDir: string): RootSecret =>
  orFault(dataDir, () => replaceSecrets(dataDir, (readSecrets(dataDir) ?? []).slice(0, 1)))

export const secretPath = (dataDir: string): string => join(dataDir, 'secret')

const newSecret = (): string => randomBytes(BYTES).toString('base64url')

const writeDraft = (dataDir: string, secrets: readonly string[]): string => {
  const draft = `${secretPath(dataDir)}.${randomBytes(8).toString('hex')}`
  const file = openPrivateFile(draft, dataDir)
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
  // Without this sync the rename might be lost if the machine crashes.
  const directory = openSync(dataDir, 'r')
  fsyncSync(directory)
  closeSync(directory)
  return rootSecret(secrets)
}

const rootSecret = ([newest = '', ...older]: readonly string[]): RootSecret => ({ ...secretOf(newest), others: older.map(secretOf) })

/**
 * The same secrets, with the one in use that the database recorded; null if it is none of them. So processes can read with a new secret as
 * soon as it exists, but write with it only after the rotation switches: no process is ahead of the others.
 */
export const inUseBy = (secret: RootSecret, check: string): RootSecret | null => {
  const valid = [secret, ...secret.others]
  const used = valid.find((one) => secretCheck(one) === check)
  return used === undefined ? null : { id: used.id, derive: used.derive, others: valid.filter((one) => one !== used) }
}

/** The value by which a database recognises its root secret. */
export const secretCheck = (secret: Secret): string => Buffer.from(secret.derive('check')).toString('hex')

const secretOf = (root: string): Secret => {
  const derive = (purpose: SecretPurpose): Uint8Array => new Uint8Array(hkdfSync('sha256', root, '', `patchbay/${purpose}`, BYTES))
  return { id: createHash('sha256').update(derive('id')).digest('hex').slice(0, 16), derive }
}

/** One secret on each line, the one in use first. */
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
    throw new SettingError(`${path}: the root secret holds fewer than ${BYTES} bytes. Put your copy of the file back.`)
  return secrets
}

/**
 * Makes a secret file that others could read private, and returns a sentence that says so; null if it was private already. Throws
 * SettingError if the mode cannot be changed.
 */
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
      `${path} is open to others, and cannot be closed to them (${codeOf(thrown) ?? 'unknown reason'}): make it readable only by its owner.`,
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
