/** Converts large percent-escaped `data:` URLs, which an encoder would decode in one go, to base64 in steps. */
import type { Part } from '../../canonical/prompt.ts'
import type { GatewayError } from '../../errors.ts'
import { inBase64, isDataUrl } from '../../lib/network/data-url.ts'
import { inTurns, LARGE_BYTES } from '../../lib/steps.ts'
import { mediaOf, withAddresses } from './load-media.ts'
import type { Attempt, ProviderContext } from '../provider.ts'

/** Shorter URLs are left to the encoder. */
const LONG = 64 * 1024

/** `malformed`: makes the error for escapes that are not well formed; without it such escapes are taken as plain text. */
export const withUnescapedMedia = async (
  attempt: Attempt,
  { turn }: Pick<ProviderContext, 'turn'>,
  malformed?: (at: string) => GatewayError,
): Promise<Attempt> => {
  if (turn === undefined || attempt.call.body.held.length <= LARGE_BYTES) return attempt
  const addresses = new Map<Part, string>()
  for (const { part, at } of mediaOf(attempt.call.prompt())) {
    if (part.url.length < LONG || !isDataUrl(part.url)) continue
    const decoded = await inTurns(inBase64(part.url), turn)
    if (decoded === null && malformed !== undefined) throw malformed(at)
    const url =
      decoded ??
      (await inTurns(
        inBase64(part.url, (text) => text),
        turn,
      ))
    if (url !== null && url !== part.url) addresses.set(part, url)
  }
  return addresses.size === 0 ? attempt : withAddresses(attempt, addresses)
}
