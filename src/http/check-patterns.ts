/** Checks the regular expressions of a body; each is compiled in a step of its own, so that other requests are answered meanwhile. */
import { ISSUES_MAX, invalidRequest } from '../contract/validate.ts'
import { compilePatterns } from '../lib/regex/known-regex.ts'
import { inTurns } from '../lib/steps.ts'
import type { RouteRequest } from './route.ts'

/** Throws `invalid_request` if a pattern cannot be matched in one pass over any text. */
export const checkPatterns = async (
  request: RouteRequest,
  given: readonly { readonly path: string; readonly pattern: string }[],
): Promise<void> => {
  const refused = await inTurns(compilePatterns(given.map(({ pattern }) => pattern)), request.startTurn())
  if (refused.size === 0) return
  const issues = [...refused].map(([index, reason]) => ({ path: given[index]?.path ?? '', message: `invalid_regex_pattern: ${reason}` }))
  throw invalidRequest(issues.slice(0, ISSUES_MAX))
}

/** Checks the patterns of a guardrail. `at` is the guardrail's path in the body. */
export const checkFilters = (
  request: RouteRequest,
  filters: readonly { readonly pattern: string }[] | null | undefined,
  at = '',
): Promise<void> =>
  checkPatterns(
    request,
    (filters ?? []).map(({ pattern }, index) => ({ path: `${at}content_filters[${index}].pattern`, pattern })),
  )
