/** Identifies the caller from the headers and the route's policy: by a key or, if none is sent, by a session. */
import { GatewayError, INVALID_KEY, MISSING_AUTHENTICATION } from '../../errors.ts'
import type { Caller } from '../../keys/caller.ts'
import type { Keys } from '../../keys/keys.ts'
import { requireAdmitted, type Policy } from './policies.ts'
import type { SessionDoor, Unproven } from './session-door.ts'

export interface Doors {
  readonly keys: Keys
  /** Null if people cannot sign in. */
  readonly door: Pick<SessionDoor, 'personOf'> | null
}

/** Throws `authentication` and `permission_denied`. Returns null on public routes, whose callers stay unknown. */
export const authenticate = (
  headers: Headers,
  policy: Policy,
  { keys, door }: Doors,
  unproven: Unproven = 'authentication',
): Caller | null | Promise<Caller> => {
  if (policy === 'public') return null
  const token = tokenOf(headers)
  if (token === null) {
    if (door === null) throw new GatewayError('authentication', MISSING_AUTHENTICATION)
    return door.personOf(headers, unproven).then((person) => admit(person, policy))
  }
  const known = keys.authenticate(token)
  return known instanceof Promise ? known.then((principal) => admit(principal, policy)) : admit(known, policy)
}

/** Null if no key is sent. */
const tokenOf = (headers: Headers): string | null => {
  const authorization = headers.get('authorization')
  // Anthropic's clients send the key in a header of its own (docs/contract/keys-and-workspaces.md#authentication).
  return authorization === null ? headers.get('x-api-key') : bearer(authorization)
}

const bearer = (header: string): string => {
  const token = /^bearer +(\S+) *$/i.exec(header)?.[1]
  if (token === undefined) throw new GatewayError('authentication', 'The Authorization header must be: Bearer <API key>.')
  return token
}

const admit = <Found extends Caller>(caller: Found | null, policy: Exclude<Policy, 'public'>): Found => {
  if (caller === null) throw new GatewayError('authentication', INVALID_KEY)
  requireAdmitted(caller, policy)
  return caller
}
