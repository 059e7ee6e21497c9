/** An operation that creates something is done once for an `Idempotency-Key`; a repetition gets the first answer, byte for byte. */
import { createHash } from 'node:crypto'

import { idempotencyKey } from '../contract/idempotency.ts'
import { validate } from '../contract/validate.ts'
import { isoTimestamp, type Clock } from '../lib/clock.ts'
import { AnsweredBefore, type Once } from '../storage/idempotency.ts'
import type { TextSeal } from '../storage/sealed-config.ts'
import { isPerson } from '../keys/caller.ts'
import { jsonInTurns, jsonText } from './json-response.ts'
import { callerOf, type RouteRequest } from './route.ts'

export interface Onceness {
  readonly clock: Clock
  /** An answer may hold a key that is shown once: it is kept sealed. */
  readonly seal: TextSeal
}

const KEPT_MS = 24 * 60 * 60 * 1000

/** `asked`: what a repetition has to ask for again, as text. `render`: writes the body of the answer. It gives the same text for the same thing, since it writes the kept copy too. */
export const answerOnce = async <Made>(
  { request, operation, asked, status: made = 201 }: { request: RouteRequest; operation: string; asked: () => string; status?: number },
  { clock, seal }: Onceness,
  create: (once: Once<Made> | undefined) => Promise<Made>,
  render: (made: Made) => unknown,
): Promise<Response> => {
  try {
    return await jsonInTurns(render(await create(onceFor())), request.startTurn(), { status: made })
  } catch (thrown) {
    if (!(thrown instanceof AnsweredBefore)) throw thrown
    return jsonText(thrown.answer.body, { status: thrown.answer.status })
  }

  function onceFor(): Once<Made> | undefined {
    const key = request.headers.get('idempotency-key')
    if (key === null) return undefined
    const caller = callerOf(request)
    const whole = `${request.query.get('workspace_id') ?? ''}\n${asked()}`
    return {
      // The key counts for the API key or the session that sent it: an answer that is shown once is not shown to anybody else.
      claim: {
        workspaceId: caller.workspaceId,
        route: operation,
        slug: isPerson(caller) ? caller.sessionId : caller.hash,
        key: validate(idempotencyKey, key, ['Idempotency-Key']),
        bodySha256: createHash('sha256').update(whole).digest('hex'),
        now: isoTimestamp(clock.now()),
        expiredBefore: isoTimestamp(clock.now() - KEPT_MS),
      },
      answer: (result) => ({ status: made, body: JSON.stringify(render(result)) }),
      seal,
    }
  }
}
