/** Who is calling, decided from one header and the policy of the route that was found. */
import { GatewayError, INFERENCE_KEY_REQUIRED, INVALID_KEY, MANAGEMENT_KEY_REQUIRED, MISSING_AUTHENTICATION } from '../errors.ts'
import type { Keys, Principal } from '../keys/keys.ts'
import type { Policy } from './route.ts'

const TOKEN_MAX = 512

/** Throws `authentication` and `permission_denied`; null on public routes, whose callers stay unknown. */
export const authenticate = (headers: Headers, policy: Policy, keys: Keys): Principal | null | Promise<Principal> => {
  if (policy === 'public') return null
  const token = tokenOf(headers)
  const known = keys.authenticate(token)
  return known instanceof Promise ? known.then((principal) => admit(principal, policy)) : admit(known, policy)
}

const tokenOf = (headers: Headers): string => {
  const authorization = headers.get('authorization')
  // Anthropic's clients send the key in a header of its own (docs/contract/keys-and-workspaces.md#authentication).
  const token = authorization === null ? headers.get('x-api-key') : bearer(authorization)
  if (token === null) throw new GatewayError('authentication', MISSING_AUTHENTICATION)
  if (token.length > TOKEN_MAX) throw new GatewayError('authentication', INVALID_KEY)
  return token
}

const bearer = (header: string): string => {
  const token = /^bearer +(\S+) *$/i.exec(header.slice(0, TOKEN_MAX + 16))?.[1]
  if (token === undefined) throw new GatewayError('authentication', 'The Authorization header must be: Bearer <API key>.')
  return token
}

const admit = (principal: Principal | null, policy: Policy): Principal => {
  if (principal === null) throw new GatewayError('authentication', INVALID_KEY)
  if (policy === 'management' && principal.kind !== 'management') throw new GatewayError('permission_denied', MANAGEMENT_KEY_REQUIRED)
  if (policy === 'inference' && principal.kind !== 'inference') throw new GatewayError('permission_denied', INFERENCE_KEY_REQUIRED)
  return principal
}
