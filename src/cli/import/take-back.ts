import { systemFault } from '../../lib/system-fault.ts'
import type { Remote } from '../remote.ts'
import { warn } from '../warn.ts'

/** Revokes new keys that nobody has seen, and names those that it cannot revoke. `why` begins the sentence about each. */
export const takeBack = async (hashes: readonly string[], remote: Remote, why: string): Promise<void> => {
  for (const hash of hashes) {
    try {
      await remote.ask('DELETE', `/keys/${hash}`)
      warn(`${why}: a new key is taken back.`)
    } catch (cause) {
      warn(`nobody has seen the new key with the hash ${hash}, and it stays valid: ${systemFault(cause)}`)
    }
  }
}
