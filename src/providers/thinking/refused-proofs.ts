/** Remembers which proofs of thinking an account refused (refused-thinking.ts). */
import { digestOf } from './proof-digest.ts'
interface Account {
  readonly provider: string
  readonly baseUrl: string
  readonly apiKey: string | null
}

export interface RefusedProofs {
  /** Says of a proof whether the account refused it. Null for an account that has refused nothing, as nearly all. */
  find(account: Account): ((proof: string) => boolean) | null
  remember(account: Account, proofs: readonly string[]): void
}

const ACCOUNTS_MAX = 100
/** Takes about 100 KB for an account. */
const PROOFS_MAX = 1000

/** Kept in memory: another process, or a restarted one, is refused once more and then knows. */
export const createRefusedProofs = (): RefusedProofs => {
  /** Digests of proofs by account, in both the oldest first. */
  const accounts = new Map<string, Set<string>>()
  return {
    find(account) {
      const refused = accounts.size === 0 ? undefined : accounts.get(nameOf(account))
      return refused === undefined ? null : (proof) => refused.has(digestOf(proof))
    },
    remember(account, proofs) {
      const name = nameOf(account)
      const refused = accounts.get(name) ?? new Set()
      accounts.delete(name)
      accounts.set(name, refused)
      for (const proof of proofs) refused.add(digestOf(proof))
      for (const digest of refused) if (refused.size > PROOFS_MAX) refused.delete(digest)
      const [oldest] = accounts.keys()
      if (accounts.size > ACCOUNTS_MAX && oldest !== undefined) accounts.delete(oldest)
    },
  }
}

const nameOf = ({ provider, baseUrl, apiKey }: Account): string => digestOf(JSON.stringify([provider, baseUrl, apiKey]))
