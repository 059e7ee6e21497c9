/**
 * Pictures, videos and files that a request names by their address, for providers that take only bytes: if the operator allows it, they are
 * fetched here by the rules of safe-fetch.ts. An address that leads to something else is left for the encoder to refuse.
 */
import type { Part, Prompt } from '../../canonical/prompt.ts'
import { mediaOfResult } from '../../canonical/result-pieces.ts'
import { GatewayError } from '../../errors.ts'
import { cutText } from '../../lib/text/cut-text.ts'
import type { Attempt, Media, LoadMedia } from '../provider.ts'
import { type SafeFetch, UnsafeRequest } from '../transport/safe-fetch.ts'

const TIMEOUT_MS = 10_000

export const createLoadMedia =
  (get: SafeFetch): LoadMedia =>
  async ({ url }, { maxBytes, signal }) => {
    const { status, contentType, bytes } = await get({
      url,
      headers: { accept: '*/*' },
      body: null,
      timeoutMs: TIMEOUT_MS,
      maxBytes,
      signal,
    })
    if (status !== 200) throw new UnsafeRequest(`its host answered with status ${status}`)
    const type = contentType?.split(';')[0]?.trim().toLowerCase() ?? ''
    return `data:${type === '' || type === 'application/octet-stream' ? sniffed(bytes) : type};base64,${bytes.toString('base64')}`
  }

/** For requests that are only previewed: nothing is fetched. */
export const pretendToLoad: LoadMedia = async ({ type }) => `data:${SAMPLE_TYPES[type]};base64,`

const SAMPLE_TYPES = { image: 'image/png', file: 'application/pdf', video: 'video/mp4' } as const

/** The type by the first bytes, for a host that does not name it. */
const sniffed = (bytes: Buffer): string => {
  const head = bytes.subarray(0, 16).toString('latin1')
  return MAGIC.find(([begins]) => begins.test(head))?.[1] ?? 'application/octet-stream'
}

const MAGIC: readonly (readonly [RegExp, string])[] = [
  [/^\x89PNG/, 'image/png'],
  [/^\xFF\xD8\xFF/, 'image/jpeg'],
  [/^GIF8/, 'image/gif'],
  [/^RIFF....WEBP/s, 'image/webp'],
  [/^%PDF-/, 'application/pdf'],
  [/^....ftyp/s, 'video/mp4'],
]

const MEDIA_MAX = 20
const BYTES_MAX = 20 * 1024 * 1024

/**
 * Returns the attempt with the bytes of the media that `wants` selects. Without `load` the attempt stays as it is. Throws
 * `image_download_failed`, `invalid_request`.
 */
export const withLoadedMedia = async (attempt: Attempt, load: LoadMedia | undefined, wants: (part: Media) => boolean): Promise<Attempt> => {
  const prompt = attempt.call.prompt()
  const wanted = mediaOf(prompt).filter(({ part }) => /^https?:/i.test(part.url) && wants(part))
  const [first] = wanted
  if (load === undefined || first === undefined) return attempt
  if (wanted.length > MEDIA_MAX)
    throw new GatewayError(
      'invalid_request',
      `${first.at}: no more than ${MEDIA_MAX} files are fetched for one request; send them as data: URLs.`,
    )
  const { signal } = attempt.connection
  const loaded = new Map<Media, string>()
  let left = BYTES_MAX
  // Fetched one after the other, so that together they stay within the limit.
  for (const { part, at } of wanted) {
    const url = await load(part, { maxBytes: left, signal }).catch((thrown: unknown) => {
      if (!(thrown instanceof UnsafeRequest)) throw thrown
      if (signal.aborted && signal.reason instanceof GatewayError) throw signal.reason
      throw new GatewayError(
        part.type === 'image' ? 'image_download_failed' : 'invalid_request',
        `${at}: ${cutText(part.url, 200)} could not be fetched: ${thrown.message}.`,
        {
          cause: thrown,
        },
      )
    })
    left -= Math.floor((url.length * 3) / 4)
    loaded.set(part, url)
  }
  return withAddresses(attempt, loaded)
}

const isMedia = (part: Part): part is Media => part.type === 'image' || part.type === 'file' || part.type === 'video'

export const mediaOf = ({ messages }: Prompt): { readonly part: Media; readonly at: string }[] =>
  messages.flatMap(({ parts, at = 'messages' }) =>
    parts
      .flatMap((part) => (part.type === 'tool-result' ? mediaOfResult(part) : [part]))
      .filter(isMedia)
      .map((part) => ({ part, at })),
  )

/** Returns the attempt with new addresses for some of its media. */
export const withAddresses = (attempt: Attempt, addresses: ReadonlyMap<Part, string>): Attempt => {
  const change = (part: Part): Part => {
    if (part.type === 'tool-result') return part.pieces === undefined ? part : { ...part, pieces: part.pieces.map(change) }
    const url = addresses.get(part)
    return url === undefined || !isMedia(part) ? part : { ...part, url }
  }
  const prompt = attempt.call.prompt()
  const changed = { ...prompt, messages: prompt.messages.map((message) => ({ ...message, parts: message.parts.map(change) })) }
  return { ...attempt, call: { ...attempt.call, prompt: () => changed } }
}
