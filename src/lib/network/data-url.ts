/** `data:` URLs (RFC 2397). */
import { decodedOrSame, decodePieces } from '../text/percent-text.ts'
import type { Steps } from '../steps.ts'

export interface DataUrl {
  /** In lower case and without parameters; `text/plain` if the URL names no type. */
  readonly mediaType: string
  base64(): string
  text(): string
}

/** Null if the URL is not a `data:` URL. */
export const readDataUrl = (url: string): DataUrl | null => {
  if (!isDataUrl(url)) return null
  const { type, isBase64, data } = partsOf(url)
  const payload = data ?? ''
  return {
    mediaType: type.toLowerCase() || 'text/plain',
    base64: () => (isBase64 ? payload : Buffer.from(decodedOrSame(payload)).toString('base64')),
    text: () => (isBase64 ? Buffer.from(payload, 'base64').toString() : decodedOrSame(payload)),
  }
}

export const isDataUrl = (url: string): boolean => /^data:/i.test(url)

/** An address that a provider can be given: on the web, or the data itself. */
export const isWebOrDataUrl = (text: string): boolean => /^(?:https?|data):/i.test(text)

/** The URL as it is; anything else is base64, which becomes a `data:` URL of this type. */
export const urlOfMedia = (urlOrBase64: string, mediaType: string): string =>
  isWebOrDataUrl(urlOrBase64) ? urlOrBase64 : `data:${mediaType};base64,${urlOrBase64}`

/** A name for a file that has none, by the type of its `data:` URL; an unknown type counts as PDF. */
export const fileNameFor = (url: string): string => `file.${/^data:[^/;,]+\/([a-z0-9]+)/i.exec(url)?.[1]?.toLowerCase() ?? 'pdf'}`

interface DataUrlParts {
  /** As written, without parameters. */
  readonly type: string
  readonly isBase64: boolean
  /** As written; null if there is none. */
  readonly data: string | null
}

export const partsOf = (url: string): DataUrlParts => {
  const head = headOf(url)
  const [type = '', ...parameters] = (head ?? url.slice(0, HEAD_MAX)).slice('data:'.length).split(';')
  return {
    type: type.trim(),
    isBase64: parameters.some((parameter) => parameter.trim().toLowerCase() === 'base64'),
    data: head === null ? null : url.slice(head.length + 1),
  }
}

/** No real head is longer. */
const HEAD_MAX = 1000

const headOf = (url: string): string | null => {
  const comma = url.slice(0, HEAD_MAX).indexOf(',')
  return comma < 0 ? null : url.slice(0, comma)
}

/** The same URL with base64 instead of percent escapes; null if `decode` throws. */
export function* inBase64(url: string, decode: (text: string) => string = decodeURIComponent): Steps<string | null> {
  const head = headOf(url)
  const { data, isBase64 } = partsOf(url)
  if (head === null || data === null || isBase64) return url
  const pieces = [`${head};base64,`]
  let rest = Buffer.alloc(0)
  const take = (text: string): void => {
    const bytes = Buffer.concat([rest, Buffer.from(text)])
    const whole = bytes.length - (bytes.length % 3)
    pieces.push(bytes.toString('base64', 0, whole))
    rest = bytes.subarray(whole)
  }
  if (!(yield* decodePieces(data, decode, take))) return null
  pieces.push(rest.toString('base64'))
  return pieces.join('')
}
