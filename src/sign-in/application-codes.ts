/** Codes that applications exchange for a key of the person who allowed them (docs/contract/sign-in.md#applications). */
import { createHash } from 'node:crypto'

import { z } from 'zod'

import { EVERY_KEY } from '../contract/key-filter.ts'
import type { ChallengeMethod, createCodeBody } from '../contract/oauth.ts'
import { GatewayError } from '../errors.ts'
import { UNBOUNDED, type Keys } from '../keys/keys.ts'
import { cutText } from '../lib/text/cut-text.ts'
import { isoTimestamp, type Clock } from '../lib/clock.ts'
import { crc32 } from '../lib/crc32.ts'
import type { IdSource } from '../lib/id.ts'
import { nanosOf } from '../lib/money.ts'
import type { ChangedBy } from '../storage/changes/audit-log.ts'
import { readStoredJson } from '../storage/rows/damaged-row.ts'
import type { OauthCodeRecord, OauthCodeStore } from '../storage/workspaces/oauth-code-store.ts'
import type { Sessions } from './sessions.ts'
import { digestsOf, isSameSecret, looksLikeToken, newSecret, TOKEN_BYTES, type Peppers } from './secrets.ts'

export interface OauthSettings {
  /** Null means any host. */
  readonly allowedCallbackHosts: readonly string[] | null
  readonly allowWithoutPkce: boolean
}

/** An application's request for access. */
export type RequestedAccess = Omit<z.output<typeof createCodeBody>, 'workspace_id'>

export interface Consent {
  readonly workspaceId: string
  readonly userId: string
  /** The hash of the key, or the id of the session, with which consent was given. */
  readonly by: { readonly keyHash: string } | { readonly sessionId: string }
  /** A member's keys are limited in amount and in number, and may be refused. */
  readonly isMember: boolean
}

export interface Exchange {
  readonly code: string
  readonly verifier: string | null
  readonly method: string | null
  readonly requestId: string
}

export interface ApplicationCodes {
  /** Throws `invalid_request` for a request that the operator does not allow. */
  requireAllowed(requested: Pick<RequestedAccess, 'callback_url' | 'code_challenge'>, settings: OauthSettings): void
  /** Throws `permission_denied` for a member who may have no more. */
  make(requested: RequestedAccess, consent: Consent): Promise<{ readonly code: string; readonly appId: number; readonly createdAt: string }>
  /** Throws `permission_denied` for a code that is unknown, used, expired or another's, and `invalid_request` for another method. */
  exchange(exchange: Exchange): Promise<{ readonly key: string; readonly userId: string }>
}

const CODE_MS = 10 * 60 * 1000

/** The amount in US dollars that a member's application may spend in a month: as much as the member's playground. */
const MEMBER_USD = 5
/** The most applications that a member may have at once, since each may spend that amount. */
const MEMBER_APPLICATIONS = 20

export const createApplicationCodes = (parts: {
  readonly store: OauthCodeStore
  readonly keys: Pick<Keys, 'create' | 'isKeptOut' | 'list' | 'payer' | 'revoke'>
  readonly sessions: Pick<Sessions, 'isInForce'>
  readonly clock: Clock
  readonly ids: IdSource
  readonly peppers: Peppers
}): ApplicationCodes => {
  const { store, keys, sessions, clock, ids, peppers } = parts

  const by = ({ user_id }: OauthCodeRecord, requestId: string): ChangedBy => ({ requestId, userId: user_id, keyHash: null })

  /** RFC 6749, 4.1.2: if a code is used twice, either of its users may have stolen it. */
  const refuseReplay = async (record: OauthCodeRecord, requestId: string): Promise<never> => {
    const hash = await store.replayed(record.id)
    if (hash !== null) await keys.revoke(null, hash, by(record, requestId)).catch(unlessGone)
    throw invalidCode()
  }

  /** A key that is revoked, disabled or expired makes no other key, not even with a code that it made before. */
  const requireWorking = async (hash: string): Promise<void> => {
    try {
      await keys.payer(null, hash)
    } catch (thrown) {
      if (thrown instanceof GatewayError && (thrown.type === 'not_found' || thrown.type === 'invalid_request')) throw invalidCode()
      throw thrown
    }
  }

  /** A member who is locked out of the playground gets no other key, and nobody gets an unlimited number of keys. */
  const requireRoom = async (member: Pick<Consent, 'workspaceId' | 'userId'>): Promise<void> => {
    if (await keys.isKeptOut(member)) throw new GatewayError('permission_denied', KEPT_OUT)
    const wanted = { ...EVERY_KEY, purpose: 'application', status: 'active', onlyUserId: member.userId, offset: 0 } as const
    const { items } = await keys.list({ ...wanted, workspaceId: member.workspaceId, limit: MEMBER_APPLICATIONS })
    if (items.length >= MEMBER_APPLICATIONS) throw new GatewayError('permission_denied', TOO_MANY)
  }

  return {
    requireAllowed({ callback_url: callback, code_challenge: challenge }, { allowedCallbackHosts, allowWithoutPkce }) {
      const hasCallback = callback !== null && callback !== undefined
      if ((challenge === null || challenge === undefined) && !(hasCallback && allowWithoutPkce)) {
        throw new GatewayError('invalid_request', 'code_challenge: PKCE is required. Send the challenge of your code_verifier.')
      }
      if (hasCallback && allowedCallbackHosts !== null && !allowedCallbackHosts.includes(new URL(callback).hostname)) {
        throw new GatewayError('invalid_request', 'callback_url: the operator does not allow this host (oauth.allowed_callback_hosts).')
      }
    },
    async make(requested, { workspaceId, userId, by: allowing, isMember }) {
      if (isMember) await requireRoom({ workspaceId, userId })
      const code = newSecret(TOKEN_BYTES, ids)
      const createdAt = isoTimestamp(clock.now())
      if (requested.expires_at !== null && requested.expires_at !== undefined && !(Date.parse(requested.expires_at) > clock.now())) {
        throw new GatewayError('invalid_request', 'expires_at: The time has passed. Use a later one.')
      }
      const app = appOf(requested)
      await store.insert({
        id: ids.uuid(),
        digest: digestsOf(code, peppers)[0],
        workspace_id: workspaceId,
        user_id: userId,
        callback_url: requested.callback_url ?? null,
        code_challenge: requested.code_challenge?.replace(/=+$/, '') ?? null,
        code_challenge_method:
          requested.code_challenge === null || requested.code_challenge === undefined ? null : (requested.code_challenge_method ?? 'S256'),
        key_settings: JSON.stringify({
          ...settingsOf(requested, app, isMember ? MEMBER_USD : null),
          ...('keyHash' in allowing ? { allowedBy: allowing.keyHash } : { allowedIn: allowing.sessionId }),
          isMember,
        } satisfies KeptSettings),
        created_at: createdAt,
        expires_at: isoTimestamp(clock.now() + CODE_MS),
        used_at: null,
        key_hash: null,
      })
      return { code, appId: crc32(app) >>> 1, createdAt }
    },
    async exchange({ code, verifier, method, requestId }) {
      const record = looksLikeToken(code) ? await store.find(digestsOf(code, peppers)) : null
      if (record === null) throw invalidCode()
      if (record.used_at !== null) return refuseReplay(record, requestId)
      if (record.expires_at <= isoTimestamp(clock.now())) throw new GatewayError('permission_denied', 'Authorization code expired')
      const { code_challenge: challenge, code_challenge_method: agreed } = record
      if (method !== null && method !== (agreed ?? method)) throw new GatewayError('invalid_request', 'Invalid code_challenge_method')
      if (challenge !== null && (verifier === null || !isSameSecret(challengeOf(verifier, agreed ?? 'S256'), challenge)))
        throw invalidCode()
      const { allowedBy, allowedIn, isMember, ...settings } = readStoredJson('oauth_codes', record.id, keptSettings, record.key_settings)
      // The code may have been made when there was still room.
      if (isMember === true) await requireRoom({ workspaceId: record.workspace_id, userId: record.user_id })
      if (allowedBy !== null && allowedBy !== undefined) await requireWorking(allowedBy)
      // Signing out, or ending somebody else's session, revokes what was allowed in the session.
      if (allowedIn !== undefined && !(await sessions.isInForce(allowedIn))) throw invalidCode()
      if (!(await store.claim(record.id, isoTimestamp(clock.now())))) return refuseReplay(record, requestId)
      const made = await keys.create(
        {
          ...UNBOUNDED,
          ...settings,
          kind: 'inference',
          purpose: 'application',
          workspaceId: record.workspace_id,
          creatorUserId: record.user_id,
        },
        by(record, requestId),
      )
      if (!(await store.settle(record.id, made.record.hash))) {
        await keys.revoke(null, made.record.hash, { ...by(record, requestId), requestId: `${requestId}-replayed` })
        throw invalidCode()
      }
      return { key: made.key, userId: record.user_id }
    },
  }
}

/**
 * `allowedBy` is the hash of the key with which the person allowed it, `allowedIn` the session.
 * Codes of an older version may lack any of them.
 */
const keptSettings = z.object({
  name: z.string(),
  limitNanos: z.int().nullable(),
  limitReset: z.enum(['daily', 'weekly', 'monthly']).nullable(),
  expiresAt: z.string().nullable(),
  allowedBy: z.string().nullish(),
  allowedIn: z.string().optional(),
  isMember: z.boolean().optional(),
})

type KeptSettings = z.output<typeof keptSettings>
type KeySettings = Omit<KeptSettings, 'allowedBy' | 'allowedIn' | 'isMember'>

const settingsOf = (
  { key_label, limit, usage_limit_type, expires_at }: RequestedAccess,
  app: string,
  mostUsd: number | null,
): KeySettings => {
  const asked = limit ?? null
  const bounded = mostUsd !== null && (asked === null || asked > mostUsd || usage_limit_type === 'daily' || usage_limit_type === 'weekly')
  const granted = bounded ? Math.min(asked ?? mostUsd, mostUsd) : asked
  return {
    name: key_label ?? cutText(app, 200),
    limitNanos: granted === null ? null : nanosOf(granted),
    limitReset: bounded ? 'monthly' : (usage_limit_type ?? null),
    expiresAt: expires_at ?? null,
  }
}

/** The application's name for people. */
const appOf = ({ callback_url: callback }: RequestedAccess): string =>
  callback === null || callback === undefined ? 'application' : new URL(callback).host

const challengeOf = (verifier: string, method: ChallengeMethod): string =>
  method === 'plain' ? verifier.replace(/=+$/, '') : createHash('sha256').update(verifier).digest('base64url')

const KEPT_OUT = 'Your key for the playground is disabled, and so you can allow no application. An admin of the workspace can enable it.'
const TOO_MANY = `You have ${MEMBER_APPLICATIONS} applications already. An admin of the workspace can revoke the keys of those that you no longer use.`

const invalidCode = (): GatewayError => new GatewayError('permission_denied', 'Invalid code or code_verifier')

const unlessGone = (thrown: unknown): void => {
  if (!(thrown instanceof GatewayError && thrown.type === 'not_found')) throw thrown
}
