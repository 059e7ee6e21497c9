/** Finds who pays for requests that the service makes by itself for a caller who manages it. */
import { scopeOf } from '../canonical/reach.ts'
import { isPerson } from '../keys/caller.ts'
import type { Principal } from '../keys/principal.ts'
import type { Keys } from '../keys/keys.ts'
import { callerOf, changedBy, reachOf, type RouteRequest } from './route.ts'

/** The key with this hash, otherwise the caller's own; for a signed-in person, their playground key. */
export const payerOf = async (
  request: RouteRequest,
  keys: Pick<Keys, 'payer' | 'playground'>,
  hash: string | undefined,
): Promise<Principal> => {
  if (hash !== undefined) return keys.payer(scopeOf(reachOf(request)), hash)
  const caller = callerOf(request)
  return isPerson(caller) ? keys.playground(caller, changedBy(request)) : caller
}
