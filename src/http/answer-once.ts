/** An operation that creates something is done once for an `Idempotency-Key`; a repetition gets the first answer, byte for byte. */
import { idempotencyKey } from '../contract/idempotency.ts'
import { validate } from '../contract/validate.ts'
import { isoTimestamp, type Clock } from '../lib/clock.ts'
import { writeInSteps } from '../lib/json/json-steps.ts'
import { throughout } from '../lib/steps.ts'
import { textDigest } from '../lib/text/text-digest.ts'
import { AnsweredBefore, type Once } from '../storage/changes/idempotency.ts'
import type { TextSeal } from '../storage/rows/seal.ts'
import { isPerson } from '../keys/caller.ts'
import { jsonInTurns, jsonText } from './response/json-response.ts'
import { callerOf, type RouteRequest } from './route.ts'

export interface Onceness {
  readonly clock: Clock
  /** An answer may contain a key that is shown only once, so it is stored sealed. */
  readonly seal: TextSeal
}

/** For an answer of megabytes, most of which is stored elsewhere already. */
interface KeptInPart<Made> {
  /** The part of the answer that is kept for a repetition. */
  readonly kept: (made: Made) => unknown
  /** Makes the whole answer from that part, given as text; null if the text is a whole answer already. */
  readonly whole: (kept: string) => Promise<Made | null>
}

const KEPT_MS = 24 * 60 * 60 * 1000

/**
 * `asked` is the text that a repetition must send again. `render` writes the body of the answer, and must return the same
 * text for the same thing, since it writes the kept copy too.
 */
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
      // The key counts for the API key or the session that sent it, so that an answer that is shown once is shown to nobody else.
      claim: {
        workspaceId: caller.workspaceId,
        route: operation,
        slug: isPerson(caller) ? caller.sessionId : caller.hash,
        key: validate(idempotencyKey, key, ['Idempotency-Key']),
        bodySha256: await throughout(textDigest(whole), turn),
        now: isoTimestamp(clock.now()),
        expiredBefore: isoTimestamp(clock.now() - KEPT_MS),
      },
      answer: async (result) => ({ status: made, body: await throughout(writeInSteps(inPart.kept(result)), turn), warnings: [] }),
      seal,
    }
  }
}
