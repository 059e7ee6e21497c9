/**
 * Refuses query parameters that a route does not take, since a misspelt filter would list everything, those that are repeated, and for
 * a change those that are empty (decisions/0181).
 */
import { nearestName } from '../lib/text/nearest-name.ts'
import { ISSUES_MAX, invalidRequest, NAME_SHOWN } from '../contract/validate.ts'
import { cutText } from '../lib/text/cut-text.ts'
import type { Route } from './route.ts'

/** `workspace_id` has a rule of its own (workspace-scope.ts). */
const JUDGED_ELSEWHERE = 'workspace_id'

/** Throws `invalid_request`, which names each unknown parameter and the one that was probably meant, and each that is repeated or empty. */
export const requireKnownParameters = (route: Route, given: URLSearchParams): void => {
  if (!isClosed(route)) return
  const known = Object.keys(route.query ?? {})
  const unknown = [...new Set(given.keys())].filter((name) => name !== JUDGED_ELSEWHERE && !known.includes(name))
  // Only the first would be read.
  const repeated = known.filter((name) => given.getAll(name).length > 1)
  // A script whose variable is not set would save a version live, or delete in another workspace.
  const empty = route.method === 'GET' ? [] : known.filter((name) => given.getAll(name).length === 1 && given.get(name) === '')
  if (unknown.length + repeated.length + empty.length === 0) return
  throw invalidRequest(
    [
      ...unknown.map((name) => ({ path: cutText(name, NAME_SHOWN), message: `Unknown parameter. ${advice(route, known, name)}` })),
      ...repeated.map((name) => ({ path: name, message: 'It is sent more than once. Send one value.' })),
      ...empty.map((name) => ({ path: name, message: 'It is empty. Give it a value, or leave it out.' })),
    ].slice(0, ISSUES_MAX),
  )
}

/** Public pages are the targets of links and redirects, to which others add parameters. */
const isClosed = ({ surface, policy, ignoresUnknownQuery }: Route): boolean =>
  surface === 'management' && policy !== 'public' && ignoresUnknownQuery !== true

const advice = ({ method, path }: Route, known: readonly string[], name: string): string => {
  const nearest = nearestName(known, name)
  if (nearest !== null) return `Did you mean "${nearest}"?`
  return known.length === 0 ? `${method} ${path} takes none.` : `Use one of ${known.join(', ')}.`
}
