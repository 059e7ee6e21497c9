/** Refuses a change under a condition (`If-Match` and the like) that its route does not check: it would be made unconditionally. */
import { GatewayError } from '../errors.ts'
import type { Route } from './route.ts'

const CONDITIONS = ['If-Match', 'If-None-Match', 'If-Unmodified-Since']

/** Throws `precondition_failed`. Reads, and requests of models, change nothing that a condition could be about. */
export const requireKnownConditions = ({ surface, method, path, headers: known = {} }: Route, given: Headers): void => {
  if (surface !== 'management' || method === 'GET') return
  const unheeded = CONDITIONS.find((name) => !(name in known) && given.has(name))
  if (unheeded !== undefined)
    throw new GatewayError('precondition_failed', `${method} ${path} takes no ${unheeded}, so nothing was changed.`)
}
