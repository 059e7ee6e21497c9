/**
 * The two halves of a session in a request and in an answer: the cookie, and the header that the
 * page adds (docs/contract/sign-in.md#two-halves).
 */
import { GatewayError, MISSING_AUTHENTICATION } from '../../errors.ts'
import type { Person } from '../../keys/caller.ts'
import { SESSION_ENDED, type OpenedSession, type Sessions } from '../../sign-in/sessions.ts'
import type { OwnOrigin } from './own-origin.ts'

export interface SessionDoor {
  /**
   * The person who asks with a cookie. Throws `authentication`, `permission_denied` for a request that comes from
   * elsewhere, and `unproven` for a session without its second half.
   */
  personOf(headers: Headers, unproven: Unproven): Promise<Person>
  /** Throws `permission_denied` if a page of another origin tries to sign its visitor in. */
  requireSignInFromHere(headers: Headers): void
  /** For an answer that opens a session. */
  cookieFor(headers: Headers, opened: Pick<OpenedSession, 'token'>): string
  /** For an answer that ends the session. */
  endedCookie(headers: Headers): string
}

/** The error for a session's cookie that comes without the session's second half. */
export type Unproven = 'authentication' | 'permission_denied'

const CSRF_HEADER = 'x-patchbay-csrf'

const HALF_MISSING = `A cookie counts together with the header ${CSRF_HEADER} of its session only.`

/** A browser drops its half after the longest life of a session. */
const COOKIE_SECONDS = 7 * 24 * 60 * 60

/** `instanceId` makes cookie names unique, because services on one host share cookies across ports. */
export const createSessionDoor = (parts: {
  sessions: Pick<Sessions, 'authenticate'>
  ownOrigin: OwnOrigin
  instanceId: string
}): SessionDoor => {
  const { sessions, ownOrigin } = parts
  const plainName = `pb_session_${parts.instanceId}`
  const secureName = `__Host-${plainName}`

  const setCookie = (headers: Headers, value: string, seconds: number): string => {
    const secure = ownOrigin.isSecure(headers)
    return `${secure ? secureName : plainName}=${value}; Path=/; HttpOnly; SameSite=Strict; Max-Age=${seconds}${secure ? '; Secure' : ''}`
  }

  return {
    async personOf(headers, unproven) {
      const cookies = headers.get('cookie') ?? ''
      const token = cookieIn(cookies, secureName) ?? cookieIn(cookies, plainName)
      if (token === null) throw new GatewayError('authentication', MISSING_AUTHENTICATION)
      ownOrigin.refuseForeign(headers)
      const csrf = headers.get(CSRF_HEADER)
      // Nothing is looked up for a cookie alone, unless the error depends on its session.
      if (csrf === null && unproven === 'authentication') throw new GatewayError(unproven, HALF_MISSING)
      if (csrf !== null) ownOrigin.requireOwn(headers)
      const person = await sessions.authenticate(token, csrf ?? '')
      if (person === null || (person === 'half' && unproven === 'authentication')) throw new GatewayError('authentication', SESSION_ENDED)
      if (person === 'half') throw new GatewayError(unproven, HALF_MISSING)
      return person
    },
    requireSignInFromHere: ownOrigin.refuseForeign,
    cookieFor: (headers, { token }) => setCookie(headers, token, COOKIE_SECONDS),
    endedCookie: (headers) => setCookie(headers, '', 0),
  }
}

const cookieIn = (cookies: string, name: string): string | null => {
  for (const pair of cookies.split(';')) {
    const at = pair.indexOf('=')
    if (at > 0 && pair.slice(0, at).trim() === name) return pair.slice(at + 1).trim()
  }
  return null
}
