/**
 * Decides which workspace a request acts in, before a handler runs: by the key, and by `workspace_id` in the query of a route that
 * declares it. Any other route refuses the parameter, since it would act in another workspace than the named one.
 */
import type { Reach } from '../canonical/reach.ts'
import { validate } from '../contract/validate.ts'
import { workspaceIdQuery } from '../contract/in-workspace.ts'
import { GatewayError } from '../errors.ts'
import type { Caller } from '../keys/caller.ts'
import type { Workspaces } from '../workspaces/workspaces.ts'
import { callerOf, reachOf, type Route, type RouteRequest } from './route.ts'

const PARAMETER = 'workspace_id'

/** The workspace that the query names; null if it names none. Throws `invalid_request` if the route does not take the parameter. */
export const namedWorkspace = (
  { method, path, query }: Pick<Route, 'method' | 'path' | 'query'>,
  given: URLSearchParams,
): string | null => {
  const values = given.getAll(PARAMETER).filter((value) => value !== '')
  const [first] = values
  if (first === undefined) return null
  if (query?.[PARAMETER] === undefined) throw new GatewayError('invalid_request', `${PARAMETER}: ${method} ${path} does not take it.`)
  if (values.some((value) => value !== first)) throw new GatewayError('invalid_request', `${PARAMETER}: name one workspace.`)
  return validate(workspaceIdQuery, first, [PARAMETER]) ?? null
}

/** Throws `not_found` for a workspace that the caller may not reach. */
export const resolveReach = async (caller: Caller, named: string | null, workspaces: Workspaces): Promise<Reach> => {
  const isOperator = workspaces.reachesAll(caller)
  const onlyUserId = caller.kind === 'member' ? caller.userId : null
  return named === null
    ? { workspaceId: caller.workspaceId, everywhere: isOperator, isOperator, onlyUserId }
    : { workspaceId: (await workspaces.reach(caller, named)).id, everywhere: false, isOperator, onlyUserId }
}

/** The workspace of a new object: the body may name one too. Throws `invalid_request` if body and query name different ones. */
export const workspaceForNew = async (
  request: RouteRequest,
  workspaces: Workspaces,
  inBody: string | null | undefined,
): Promise<string> => {
  const { workspaceId, everywhere, isOperator } = reachOf(request)
  if (inBody === null || inBody === undefined) return workspaceId
  const { id } = await workspaces.reach(callerOf(request), inBody)
  if (isOperator && !everywhere && id !== workspaceId) {
    throw new GatewayError('invalid_request', 'workspace_id: the body names another workspace than the query.')
  }
  return id
}
