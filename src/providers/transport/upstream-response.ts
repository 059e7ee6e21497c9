/** A provider's response while its body is read: in pieces, or as one text. */
import { GatewayError } from '../../errors.ts'
import type { Clock } from '../../lib/clock.ts'
import { joinCohort } from '../../lib/cohort.ts'
import { decodePieces, readCodings } from '../../lib/network/content-coding.ts'
import { LARGE_BYTES } from '../../lib/steps.ts'
import type { AnswerSpace } from './answer-room.ts'
import { BEHIND_END_MS, type BytesReader, createPatience } from './patience.ts'
import { joinedText, type PieceReader } from './piece-reader.ts'
import { watchSilence } from './silence.ts'
import { transportError } from './transport-error.ts'

export interface UpstreamResponse {
  readonly status: number
  readonly headers: Headers
  /** The pieces as they arrive. May be called only once. */
  pieces(): PieceReader
  /**
   * Says that the answer is complete: anything after it is waited for no longer than `patienceMs` in all (a second by default), and closing
   * its pieces now keeps the connection for reuse, once its last bytes have come.
   */
  complete(patienceMs?: number): void
  /** The whole body as text; throws `provider_unavailable` for more than `maxBytes`, and what `space` refuses with. */
  text(maxBytes: number, space?: AnswerSpace): Promise<string>
  /** The body's first `maxBytes` as text; the rest stays unread. For bodies of errors, whose status says enough. */
  beginning(maxBytes: number): Promise<string>
}

/** Servers answer a POST with 201 too, and Portkey with 246 if a check of its guardrails failed: their clients take each for an answer. */
export const isSuccess = (status: number): boolean => status >= 200 && status < 300

export const responseOf = (response: Response, connection: AbortController, clock: Clock, idleMs: number): UpstreamResponse => {
  const patience = createPatience(clock, () => connection.abort())
  const pieces = (): PieceReader => {
    const reader = readerOf(response)
    const silence = watchSilence(clock, idleMs, () => {
      if (patience.began()) return
      connection.abort(new GatewayError('timeout', `The provider sent nothing for ${Math.round(idleMs / 1000)} seconds.`))
    })
    let ended = false
    const end = (): null => {
      ended = true
      silence.stop()
      return null
    }
    return {
      async next() {
        if (reader === undefined || ended) return end()
        try {
          silence.listen()
          // Pieces that come in the meantime are read as one. After the end few come.
          if (!patience.began()) await joinCohort()
          const { done, value } = await patience.during(reader)
          silence.pause()
          return done ? end() : value
        } catch (thrown) {
          end()
          // A fault after a complete answer changes nothing (docs/contract/streams.md#ends), unless the client no longer wants the answer.
          if (!patience.began() || (connection.signal.aborted && !patience.expired())) throw transportError(thrown, connection.signal)
          return null
        }
      },
      close() {
        if (ended) return
        end()
        // Without this the provider would go on sending.
        if (patience.began() && reader !== undefined) void readAway(reader, connection, clock)
        else connection.abort()
      },
    }
  }
  return {
    status: response.status,
    headers: response.headers,
    pieces,
    complete: patience.begin,
    async beginning(maxBytes) {
      const decoder = new TextDecoder()
      let text = ''
      let left = maxBytes
      const body = pieces()
      while (left > 0) {
        const piece = await body.next()
        if (piece === null) break
        text += decoder.decode(piece.subarray(0, left), { stream: true })
        left -= piece.byteLength
      }
      body.close()
      return text + decoder.decode()
    },
    async text(maxBytes, space) {
      // A small body with a known length is read in one go, which costs less than a reader's loop; for a large one the loop splits the work
      // into many steps. A compressed answer, which was not asked for, does not show its length.
      const { headers } = response
      if (!headers.has('content-encoding') && Number(headers.get('content-length') ?? Number.NaN) <= Math.min(maxBytes, LARGE_BYTES))
        return readWhole(response, connection, clock, idleMs)
      return joinedText(pieces(), maxBytes, space)
    },
  }
}

/** Decompresses piece by piece what was compressed although no compression was asked for. Bytes in an unknown coding stay as they are. */
const readerOf = ({ headers, body }: Response): BytesReader | undefined => {
  const codings = readCodings(headers.get('content-encoding')) ?? []
  if (body === null || codings.length === 0) return body?.getReader()
  const decoded = decodePieces(body, codings)[Symbol.asyncIterator]()
  return { read: () => decoded.next() }
}

const READ_AWAY_PIECES = 16

const readAway = async (reader: BytesReader, connection: AbortController, clock: Clock): Promise<void> => {
  const cancelDeadline = clock.after(BEHIND_END_MS, () => connection.abort())
  try {
    for (let piece = 0; piece < READ_AWAY_PIECES; piece += 1) if ((await reader.read()).done) return
    connection.abort()
  } catch {
    // The rest broke off or did not end in time. The answer was complete before, so this is not reported.
  } finally {
    cancelDeadline()
  }
}

const readWhole = async (response: Response, connection: AbortController, clock: Clock, deadlineMs: number): Promise<string> => {
  const cancelDeadline = clock.after(deadlineMs, () =>
    connection.abort(new GatewayError('timeout', 'The provider did not finish its response in time.')),
  )
  try {
    return await response.text()
  } catch (thrown) {
    throw transportError(thrown, connection.signal)
  } finally {
    cancelDeadline()
  }
}
