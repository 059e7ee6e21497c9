/** An operation that creates something is done once for an `Idempotency-Key`; a repetition gets the first answer, byte for byte. */
import { idempotencyKey } from '../contract/idempotency.ts'
import { validate } from '../contract/validate.ts'
import { isoTimestamp, type Clock } from '../lib/clock.ts'
import { writeInSteps } from '../lib/json-steps.ts'
import { throughout } from '../lib/steps.ts'
import { textDigest } from '../lib/text-digest.ts'
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

/** For an answer of megabytes, most of which is kept elsewhere already. */
interface KeptInPart<Made> {
  /** The rest of it, which is kept for a repetition. */
  readonly kept: (made: Made) => unknown
  /** Makes it whole from that rest, as text; null where the text is a whole answer. */
  readonly whole: (kept: string) => Promise<Made | null>
}

const KEPT_MS = 24 * 60 * 60 * 1000

/** `asked`: what a repetition has to ask for again, as text. `render`: writes the body of the answer. It gives the same text for the same thing, since it writes the kept copy too. */
export const answerOnce = async <Made>(
  { request, operation, asked, status: made = 201 }: { request: RouteRequest; operation: string; asked: () => string; status?: number },
  { clock, seal }: Onceness,
  create: (once: Once<Made> | undefined) => Promise<Made>,
  render: (made: Made) => unknown,
  inPart: KeptInPart<Made> = { kept: render, whole: async () => null },
): Promise<Response> => {
  const turn = request.startTurn()
  try {
    return await jsonInTurns(render(await create(await onceFor())), turn, { status: made })
  } catch (thrown) {
    if (!(thrown instanceof AnsweredBefore)) throw thrown
    const { status, body } = thrown.answer
    const again = await inPart.whole(body)
    return again === null ? jsonText(body, { status }) : jsonInTurns(render(again), turn, { status })
  }

  async function onceFor(): Promise<Once<Made> | undefined> {
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
        bodySha256: await throughout(textDigest(whole), turn),
        now: isoTimestamp(clock.now()),
        expiredBefore: isoTimestamp(clock.now() - KEPT_MS),
      },
      answer: async (result) => ({ status: made, body: await throughout(writeInSteps(inPart.kept(result)), turn) }),
      seal,
    }
  }
}
