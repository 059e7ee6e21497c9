/** Bodies that clients send compressed: coding agents do so with long conversations (docs/contract/requests.md#bodies). */
import { GatewayError } from '../../errors.ts'
import { joinBytes } from '../../lib/join-bytes.ts'
import { type ContentCoding, decodeBounded, readCodings, TooManyBytes } from '../../lib/network/content-coding.ts'
import { inTurns } from '../../lib/steps.ts'
import type { BodySpace } from '../../limits/body-room.ts'
import { tooLarge } from './body-refusals.ts'

/** The codings of a body, in the order in which they were applied, or the refusal of those that are not known. */
export const codingsOf = (headers: Headers): readonly ContentCoding[] | GatewayError => {
  const header = headers.get('content-encoding')
  if (header === null) return NONE
  return (
    readCodings(header) ??
    new GatewayError(
      'invalid_request',
      `Content-Encoding "${header.slice(0, 40)}" is not accepted; send the body with gzip, deflate, br or zstd, or uncompressed.`,
    )
  )
}

const NONE: readonly ContentCoding[] = []

interface Limits {
  /** For the decompressed bytes, as for those that were sent. */
  readonly maxBytes: number
  readonly space: Pick<BodySpace, 'take'>
  readonly pause: () => Promise<void>
}

/**
 * Decompresses beside other requests: each piece takes its room before the next one is made. The bytes that were sent have room already, and
 * are no longer needed at the end. Throws GatewayError.
 */
export const decompressed = async (
  sent: Uint8Array,
  codings: readonly ContentCoding[],
  { maxBytes, space, pause }: Limits,
): Promise<Uint8Array> => {
  const pieces: Uint8Array[] = []
  let size = 0
  try {
    for await (const piece of decodeBounded([sent], codings, maxBytes)) {
      const room = Math.max(sent.byteLength, size)
      size += piece.byteLength
      const refusal = space.take(Math.max(0, size - room))
      if (refusal !== null) throw refusal
      pieces.push(piece)
    }
  } catch (thrown) {
    if (thrown instanceof GatewayError) throw thrown
    if (thrown instanceof TooManyBytes) throw tooLarge(maxBytes)
    throw new GatewayError('invalid_request', `The body is not valid ${codings.join(', ')}, which its Content-Encoding names.`, {
      cause: thrown,
    })
  }
  return inTurns(joinBytes(pieces), pause)
}
