/** The root secret, and the secrets derived from it: one for each purpose, so that none can stand in for another. */
import { hkdfSync, randomBytes } from 'node:crypto'
import { chmodSync, linkSync, mkdirSync, readFileSync, unlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { SettingError } from './config.ts'

export type SecretPurpose = 'key-pepper' | 'check'

export interface RootSecret {
  derive(purpose: SecretPurpose): Uint8Array
}

const BYTES = 32

/** The one given, or the one in the data directory; null where neither is there. Throws SettingError. */
export const readRootSecret = (given: string | null, dataDir: string): RootSecret | null => {
  const secret = given ?? orFault(dataDir, () => readSecret(dataDir))
  return secret === null ? null : rootSecret(secret)
}

/** A new one in the data directory (mode 0600), or the one that another process made there meanwhile. Throws SettingError. */
export const makeRootSecret = (dataDir: string): RootSecret =>
  orFault(dataDir, () => {
    mkdirSync(dataDir, { recursive: true, mode: 0o700 })
    // A link appears whole or not at all: two processes that start at once agree on the secret of the first.
    const draft = `${secretPath(dataDir)}.${randomBytes(8).toString('hex')}`
    writeFileSync(draft, `${randomBytes(BYTES).toString('base64url')}\n`, { flag: 'wx', mode: 0o600 })
    try {
      linkSync(draft, secretPath(dataDir))
    } catch (thrown) {
      if (codeOf(thrown) !== 'EEXIST') throw thrown
    } finally {
      unlinkSync(draft)
    }
    return rootSecret(readSecret(dataDir) ?? '')
  })

export const secretPath = (dataDir: string): string => join(dataDir, 'secret')

const rootSecret = (root: string): RootSecret => ({
  derive: (purpose) => new Uint8Array(hkdfSync('sha256', root, '', `patchbay/${purpose}`, BYTES)),
})

const readSecret = (dataDir: string): string | null => {
  const path = secretPath(dataDir)
  let secret: string
  try {
    secret = readFileSync(path, 'utf8').trim()
  } catch (thrown) {
    if (codeOf(thrown) === 'ENOENT') return null
    throw thrown
  }
  if (Buffer.byteLength(secret) < BYTES) throw new SettingError(`${path}: the root secret holds fewer than ${BYTES} bytes.`)
  chmodSync(path, 0o600)
  return secret
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
