import { writeInSteps } from '../../lib/json/json-steps.ts'
import { atOnce, inTurns, type Steps } from '../../lib/steps.ts'
import type { Attempt, ProviderContext } from '../provider.ts'

/** This many characters of the slowest JSON take about ten milliseconds. */
const AT_ONCE_MAX = 64 * 1024

/**
 * The result of an encoder: at once for a request of the usual size. For a large request, or one that was continued here, the steps are run
 * in turns with other requests.
 */
export const encoded = <Body>(
  steps: Steps<Body>,
  { call }: Pick<Attempt, 'call'>,
  { turn }: Pick<ProviderContext, 'turn'>,
): Body | Promise<Body> => (turn === undefined || isSmall(call) ? atOnce(steps) : inTurns(madeWhole(steps), turn))

/** Joining a long text, flattening it and sending it each need new memory, so each is a step of its own. */
function* madeWhole<Body>(steps: Steps<Body>): Steps<Body> {
  const body = yield* steps
  yield
  // The engine joins the pieces of a string when a character is read.
  if (typeof body === 'string') void body.charCodeAt(body.length - 1)
  yield
  return body
}

const isSmall = ({ body, continued }: Attempt['call']): boolean => body.held.length <= AT_ONCE_MAX && continued !== true

/** Like JSON.stringify, but in steps if the request is large. */
export function* jsonText(value: object, call: Attempt['call']): Steps<string> {
  return isSmall(call) ? JSON.stringify(value) : yield* writeInSteps(value)
}
