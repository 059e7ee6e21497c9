/** Finds who pays for requests that the service makes by itself, for somebody who manages it. */
import { scopeOf } from '../canonical/reach.ts'
import { isPerson } from '../keys/caller.ts'
import type { Keys, Principal } from '../keys/keys.ts'
import { callerOf, changedBy, reachOf, type RouteRequest } from './route.ts'

/** The key of this hash, else the caller's own; that of the playground for a person who is signed in. */
export const payerOf = async (
  request: RouteRequest,
  keys: Pick<Keys, 'payer' | 'playground'>,
  hash: string | undefined,
): Promise<Principal> => {
  if (hash !== undefined) return keys.payer(scopeOf(reachOf(request)), hash)
  const caller = callerOf(request)
  return isPerson(caller) ? keys.playground(caller, changedBy(request)) : caller
}
