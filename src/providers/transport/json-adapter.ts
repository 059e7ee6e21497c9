/** The course of an attempt in every dialect over JSON: the request is sent, and its answer is read in the form in which it comes. */
import { passesAsWritten, type ClientDialect } from '../../canonical/call.ts'
import type { Frame } from '../../canonical/event.ts'
import type { Steps } from '../../lib/steps.ts'
import { WHOLE_BODY_MAX } from './answer-room.ts'
import { turnsOf } from './answer-turns.ts'
import type { EventReader } from './event-reader.ts'
import { answerForm, postJson, readWholeAnswer, takeWhole, type JsonPost, type WholeAnswer } from './json-post.ts'
import type { Attempt, ProviderAdapter, ProviderContext } from '../provider.ts'
import { keptPieces } from './piece-reader.ts'
import type { UpstreamResponse } from './upstream-response.ts'
import { streamFrames } from './stream-frames.ts'

/** `native`: the client speaks this dialect and gets the form that it asked for, so the upstream's own text can be passed on. */
interface Exchange extends Omit<JsonPost, 'stream'> {
  /** This dialect as a dialect of clients; null if no client speaks it. */
  readonly dialect: ClientDialect | null
  readonly events: (native: boolean) => EventReader
  readonly whole: (answer: WholeAnswer, native: boolean, frames: Frame[]) => void | Steps<void>
}

export const jsonAdapter =
  (exchangeOf: (attempt: Attempt, context: ProviderContext) => Exchange): ProviderAdapter =>
  async (attempt, context, take) => {
    const { stream } = attempt.call
    const { dialect, url, headers, body, failure, events, whole } = exchangeOf(attempt, context)
    const posted = await postJson({ url, headers, body, stream, failure }, attempt, context)
    const { streams, response } = await answerForm(posted, stream)
    const native = passesAsWritten(attempt.call, dialect) && streams === stream
    if (streams) {
      const reading = { reader: events(native), target: attempt.target, turn: turnsOf(context, attempt) }
      await streamFrames(stream ? response : keptWhole(response, context), reading, take)
    } else {
      const answer = await readWholeAnswer(response, attempt, context)
      await takeWhole(answer, context, take, (frames) => whole(answer, native, frames))
    }
  }

/** Some upstreams answer with a stream although a whole answer was asked for; it is kept until it ends. */
const keptWhole = (response: UpstreamResponse, { answerSpace }: Pick<ProviderContext, 'answerSpace'>): UpstreamResponse => ({
  ...response,
  pieces: () => keptPieces(response.pieces(), WHOLE_BODY_MAX, answerSpace),
})
