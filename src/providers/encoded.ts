import { writeInSteps } from '../lib/json-steps.ts'
import { atOnce, inTurns, type Steps } from '../lib/steps.ts'
import type { Attempt, ProviderContext } from './provider.ts'

/** So much of the most laborious JSON takes ten milliseconds. */
const AT_ONCE_MAX = 64 * 1024

/** The outcome of an encoder: at once for a request of the usual size; behind a large one, or one that went on here, others get their turn. */
export const encoded = <Body>(
  steps: Steps<Body>,
  { call }: Pick<Attempt, 'call'>,
  { turn }: Pick<ProviderContext, 'turn'>,
): Body | Promise<Body> => (turn === undefined || isSmall(call) ? atOnce(steps) : inTurns(madeWhole(steps), turn))

/** To put a long text together, to make one of its pieces and to send it takes new memory each time, which is a step of its own. */
function* madeWhole<Body>(steps: Steps<Body>): Steps<Body> {
  const body = yield* steps
  yield
  // The engine puts pieces together where a character is read.
  if (typeof body === 'string') void body.charCodeAt(body.length - 1)
  yield
  return body
}

const isSmall = ({ body, continued }: Attempt['call']): boolean => body.searchable.length <= AT_ONCE_MAX && continued !== true

/** As JSON.stringify: in steps where the request is large. */
export function* jsonText(value: object, call: Attempt['call']): Steps<string> {
  return isSmall(call) ? JSON.stringify(value) : yield* writeInSteps(value)
}
