/** Links that sign a person in, once (docs/contract/sign-in.md#links). */
import { isoTimestamp, type Clock } from '../lib/clock.ts'
import type { IdSource } from '../lib/id.ts'
import type { ChangedBy } from '../storage/changes/audit-log.ts'
import { mapOnce, type Once } from '../storage/changes/idempotency.ts'
import type { LoginLinkRecord, SessionStore } from '../storage/workspaces/session-store.ts'
import { digestsOf, newSecret, TOKEN_BYTES, type Peppers } from './secrets.ts'

export interface LinkWanted {
  readonly workspaceId: string
  readonly userId: string
  /** Null means the person's current role, or `member` for somebody new. */
  readonly role: 'admin' | 'member' | null
  readonly expiresInSeconds: number
}

export interface MadeLink {
  readonly link: LoginLinkRecord
  /** Returned here and nowhere else. */
  readonly token: string
}

export interface LoginLinks {
  make(wanted: LinkWanted, by: ChangedBy, once?: Once<MadeLink>): Promise<MadeLink>
}

export const createLoginLinks = (parts: {
  readonly store: Pick<SessionStore, 'addLink'>
  readonly clock: Clock
  readonly ids: IdSource
  readonly peppers: Peppers
}): LoginLinks => {
  const { store, clock, ids, peppers } = parts
  return {
    async make({ workspaceId, userId, role, expiresInSeconds }, by, once) {
      const token = newSecret(TOKEN_BYTES, ids)
      const link = await store.addLink(
        {
          id: ids.prefixed('link'),
          digest: digestsOf(token, peppers)[0],
          workspace_id: workspaceId,
          user_id: userId,
          role,
          created_at: isoTimestamp(clock.now()),
          expires_at: isoTimestamp(clock.now() + expiresInSeconds * 1000),
        },
        ids.uuid(),
        by,
        mapOnce(once, (made) => ({ link: made, token })),
      )
      return { link, token }
    },
  }
}

/** The token is after the `#`, which browsers never send. `place` has no slash at the end. */
export const loginUrl = (place: string, token: string): string => `${place}/dashboard/#login=${token}`

/**
 * The address at which people reach a service: the one in the configuration file, otherwise the one it listens
 * on, with `localhost` if it listens on every address.
 */
export const signInPlace = (publicUrl: string | undefined, listening: string): string =>
  publicUrl ?? listening.replace(/\/\/(?:0\.0\.0\.0|\[::\])(?=:|$)/, '//localhost')
