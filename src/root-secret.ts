/** The root secret, and the secrets derived from it: one for each purpose, so that none can stand in for another. */
import { hkdfSync, randomBytes } from 'node:crypto'
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { SettingError } from './config.ts'

export type SecretPurpose = 'key-pepper' | 'check'

export interface RootSecret {
  derive(purpose: SecretPurpose): Uint8Array
}

const FILE = 'secret'
const BYTES = 32

/** The one given, or the one in the data directory, made there (mode 0600) when there is none. Throws SettingError. */
export const openRootSecret = (given: string | null, dataDir: string): RootSecret => {
  const root = given ?? readOrMake(dataDir)
  return { derive: (purpose) => new Uint8Array(hkdfSync('sha256', root, '', `patchbay/${purpose}`, BYTES)) }
}

const readOrMake = (dataDir: string): string => {
  const path = join(dataDir, FILE)
  try {
    mkdirSync(dataDir, { recursive: true, mode: 0o700 })
    try {
      // `wx` fails where the file is there: two processes that start at once agree on one secret.
      writeFileSync(path, `${randomBytes(BYTES).toString('base64url')}\n`, { flag: 'wx', mode: 0o600 })
    } catch (thrown) {
      if ((thrown as NodeJS.ErrnoException).code !== 'EEXIST') throw thrown
    }
    const secret = readFileSync(path, 'utf8').trim()
    if (Buffer.byteLength(secret) < BYTES) throw new SettingError(`${path}: the root secret holds fewer than ${BYTES} bytes.`)
    chmodSync(path, 0o600)
    return secret
  } catch (thrown) {
    if (thrown instanceof SettingError) throw thrown
    throw new SettingError(
      `--data-dir ${dataDir}: the root secret cannot be read or made (${(thrown as NodeJS.ErrnoException).code ?? 'unknown reason'}).`,
    )
  }
}
