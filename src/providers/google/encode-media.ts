/** Encodes images, audio, video and files of a message as parts: their bytes inline, or their address. */
import { GatewayError } from '../../errors.ts'
import { partsOf } from '../../lib/network/data-url.ts'
import { typeOfName } from '../../lib/file-types.ts'
import type { JsonObject } from '../../lib/json/json.ts'
import type { GeminiModel } from './gemini-model.ts'

/** Encodes the bytes of a data: URL. Throws `invalid_prompt` if it has no data. */
export const inlineData = (url: string, at: string): JsonObject => {
  const { type, isBase64, data } = partsOf(url)
  if (data === null) throw new GatewayError('invalid_prompt', `${at}: a data: URL has no data.`)
  return { inlineData: { mimeType: type === '' ? 'text/plain' : type, data: isBase64 ? data : encoded(data, at) } }
}

const encoded = (text: string, at: string): string => {
  try {
    return Buffer.from(decodeURIComponent(text)).toString('base64')
  } catch (cause) {
    throw malformedData(at, cause)
  }
}

export const malformedData = (at: string, cause?: unknown): GatewayError =>
  new GatewayError('invalid_prompt', `${at}: the data of a data: URL is not well formed.`, { cause })

/** Says whether Google itself fetches an address. */
export const isReadByGoogle = (url: string, { readsUrls }: GeminiModel): boolean => isGoogleUrl(url) || (readsUrls && /^https:/i.test(url))

/** Addresses that every model takes: files that were uploaded to Google, and public videos. */
const isGoogleUrl = (url: string): boolean =>
  /^https:\/\/(?:generativelanguage\.googleapis\.com\/[^?#]*files\/|(?:www\.)?youtube\.com\/watch\?|youtu\.be\/)/.test(url)

/** Encodes an address that Google itself fetches. The type is sent if the name of the file shows it. */
export const fileData = (url: string): JsonObject => {
  const mimeType = typeOfName(url.replace(/[?#].*$/s, ''))
  return { fileData: { ...(mimeType === undefined ? {} : { mimeType }), fileUri: url } }
}
