/**
 * Sessions of people (docs/contract/sign-in.md). A session is identified by two secrets: the browser keeps one as a cookie, which it also
 * sends to other services on the same host, and the page keeps the other, which no other service gets. Neither is stored. The session's
 * validity is checked each time, so that whatever ends it takes effect at once, in every process.
 */
import type { Person } from '../keys/caller.ts'
import type { Keys } from '../keys/keys.ts'
import { GatewayError } from '../errors.ts'
import { isoTimestamp, type Clock } from '../lib/clock.ts'
import type { IdSource } from '../lib/id.ts'
import type { ChangedBy } from '../storage/changes/audit-log.ts'
import type { SessionRecord, SessionScope, SessionStore } from '../storage/workspaces/session-store.ts'
import { digestsOf, isSameSecret, looksLikeToken, newSecret, TOKEN_BYTES, type Peppers } from './secrets.ts'

export interface OpenedSession {
  readonly session: SessionRecord
  /** Both are returned here and nowhere else. */
  readonly token: string
  readonly csrf: string
}

interface Opening {
  readonly requestId: string
  readonly userAgent: string | null
}

export interface Sessions {
  /** Throws `authentication` for a link that is unknown, used or expired. */
  openByLink(token: string, opening: Opening): Promise<OpenedSession>
  /** Throws `authentication` for anything but a valid management key. */
  openByKey(key: string, opening: Opening): Promise<OpenedSession>
  /** Null if there is no such session any more; 'half' if there is one but the second half is wrong. Throws StorageUnavailable. */
  authenticate(token: string, csrf: string): Promise<Person | 'half' | null>
  isInForce(id: string): Promise<boolean>
  current(person: Person): Promise<SessionRecord>
  /** The name of the session's person in its workspace; null if none is known there. */
  nameOf(session: SessionRecord): Promise<string | null>
  list(scope: SessionScope): Promise<readonly SessionRecord[]>
  signOut(person: Person, by: ChangedBy): Promise<void>
  /** Throws `not_found`. */
  revoke(scope: SessionScope, id: string, by: ChangedBy): Promise<void>
  /** The signal is aborted within a second after the session ends. Call `stop` when you no longer listen. */
  watch(id: string): { readonly signal: AbortSignal; readonly stop: () => void }
}

export interface SessionsParts {
  readonly store: SessionStore
  readonly keys: Pick<Keys, 'authenticate'>
  readonly clock: Clock
  readonly ids: IdSource
  readonly peppers: Peppers
  readonly onError: (thrown: unknown) => void
}

const HOUR_MS = 60 * 60 * 1000
/** A session ends after this long without use. */
const IDLE_MS = 12 * HOUR_MS
/** A session ends after this long, however it is used. */
const LIFE_MS = 7 * 24 * HOUR_MS
/** A use is stored if the last stored one is older than this. */
const NOTED_MS = 60_000
const LISTED_MAX = 100
/** How often the sessions of open streams are checked. */
const WATCH_MS = 400

export const createSessions = ({ store, keys, clock, ids, peppers, onError }: SessionsParts): Sessions => {
  const now = (): string => isoTimestamp(clock.now())
  const begin = ({ userAgent }: Opening, whose: Pick<SessionRecord, 'workspace_id' | 'user_id' | 'role' | 'key_hash'>): OpenedSession => {
    const token = newSecret(TOKEN_BYTES, ids)
    const csrf = newSecret(CSRF_BYTES, ids)
    const at = clock.now()
    const session: SessionRecord = {
      id: ids.prefixed('sess'),
      digest: digestsOf(token, peppers)[0],
      csrf_digest: digestsOf(csrf, peppers)[0],
      ...whose,
      user_agent: userAgent?.slice(0, USER_AGENT_MAX) ?? null,
      created_at: isoTimestamp(at),
      last_used_at: isoTimestamp(at),
      expires_at: isoTimestamp(at + IDLE_MS),
      ends_at: isoTimestamp(at + LIFE_MS),
    }
    return { session, token, csrf }
  }

  const noteUse = async (session: SessionRecord): Promise<void> => {
    if (clock.now() - Date.parse(session.last_used_at) < NOTED_MS) return
    const expires = Math.min(clock.now() + IDLE_MS, Date.parse(session.ends_at))
    await store.prolong(session.id, now(), isoTimestamp(expires)).catch(onError)
  }

  const watched = new Map<string, Set<AbortController>>()
  let stopWatching: (() => void) | null = null
  const lookAgain = (): void => {
    stopWatching = clock.after(WATCH_MS, () => {
      void store
        .live([...watched.keys()], now())
        .then((live) => {
          for (const [id, controllers] of watched) if (!live.has(id)) for (const controller of controllers) controller.abort()
        }, onError)
        .finally(() => {
          if (watched.size > 0) lookAgain()
          else stopWatching = null
        })
    })
  }

  return {
    async openByLink(token, opening) {
      let opened: OpenedSession | null = null
      if (looksLikeToken(token)) {
        await store.redeem(
          digestsOf(token, peppers),
          { by: { requestId: opening.requestId, userId: null, keyHash: null }, now: now() },
          (link) => {
            opened = begin(opening, { workspace_id: link.workspace_id, user_id: link.user_id, role: link.role, key_hash: null })
            return opened.session
          },
        )
      }
      if (opened === null) throw new GatewayError('authentication', WRONG_LINK)
      return opened
    },
    async openByKey(key, opening) {
      const principal = await keys.authenticate(key)
      if (principal?.kind === 'inference') throw new GatewayError('authentication', INFERENCE_KEY)
      if (principal?.kind !== 'management') throw new GatewayError('authentication', WRONG_KEY)
      if (principal.isReplaced) throw new GatewayError('authentication', REPLACED_KEY)
      const { workspaceId, userId, hash } = principal
      const opened = begin(opening, { workspace_id: workspaceId, user_id: userId, role: 'admin', key_hash: hash })
      await store.insert(opened.session, { requestId: opening.requestId, userId, keyHash: hash, sessionId: opened.session.id })
      return opened
    },
    async authenticate(token, csrf) {
      if (!looksLikeToken(token)) return null
      const session = await store.find(digestsOf(token, peppers), now())
      if (session === null) return null
      if (!digestsOf(csrf, peppers).some((one) => isSameSecret(one, session.csrf_digest))) return 'half'
      await noteUse(session)
      return { kind: session.role, workspaceId: session.workspace_id, userId: session.user_id, sessionId: session.id }
    },
    isInForce: async (id) => (await store.live([id], now())).has(id),
    async current({ sessionId }) {
      const session = await store.get(sessionId, now())
      if (session === null) throw new GatewayError('authentication', SESSION_ENDED)
      return session
    },
    nameOf: store.nameOf,
    list: (scope) => store.list(scope, now(), LISTED_MAX),
    async signOut({ workspaceId, userId, sessionId }, by) {
      await store.end({ workspaceId, userId }, sessionId, 'signed_out', { by, now: now() })
    },
    async revoke(scope, id, by) {
      if (!(await store.end(scope, id, 'revoked', { by, now: now() })))
        throw new GatewayError('not_found', 'There is no session with this id.')
    },
    watch(id) {
      const controller = new AbortController()
      const controllers = watched.get(id) ?? new Set()
      watched.set(id, controllers.add(controller))
      if (stopWatching === null) lookAgain()
      return {
        signal: controller.signal,
        stop() {
          controllers.delete(controller)
          if (controllers.size === 0 && watched.get(id) === controllers) watched.delete(id)
        },
      }
    },
  }
}

const CSRF_BYTES = 16
const USER_AGENT_MAX = 256

const WRONG_LINK = 'This sign-in link is unknown, used or expired. Make a new one: npx patchbay login.'
const WRONG_KEY = 'This is no management key in force.'
const REPLACED_KEY = 'This key was replaced by a rotation, and works only until its grace period ends. Sign in with the new one.'
const INFERENCE_KEY = 'This is an inference key, with which programs call models. Sign in with a management key (pb_mgmt_…).'
export const SESSION_ENDED = 'The session is unknown or has ended. Sign in again.'
