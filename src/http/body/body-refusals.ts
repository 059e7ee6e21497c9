/** Bodies that are refused by their headers or their length (docs/contract/requests.md#bodies). */
import { GatewayError } from '../../errors.ts'

const JSON_TYPE = /^application\/(?:[\w.+-]+\+)?json$/i

/** Nothing, UTF-8, or a parameter that means nothing here: servers skip those that they do not know, and clients of other APIs send some. */
const PARAMETER = /^(?:charset="?utf-?8"?|(?!charset=)[\w!#$&^.+-]+=(?:[^\s",]+|"[^"\\]*"))?$/i

const isJsonType = (contentType: string): boolean => {
  if (contentType === 'application/json') return true
  const [type = '', ...parameters] = contentType.split(';').map((part) => part.trim())
  return JSON_TYPE.test(type) && parameters.every((parameter) => PARAMETER.test(parameter))
}

/** Null for a body of JSON. */
export const typeRefusal = (headers: Headers): GatewayError | null => {
  const type = headers.get('content-type')
  return type === null || isJsonType(type)
    ? null
    : new GatewayError('invalid_request', `Content-Type is "${type.slice(0, 100)}"; send application/json in UTF-8.`)
}

/** Null for a body that is not compressed; uploads must not be. */
export const compressedRefusal = (headers: Headers): GatewayError | null => {
  const encoding = headers.get('content-encoding')
  return encoding === null || encoding.toLowerCase() === 'identity'
    ? null
    : new GatewayError('invalid_request', `Content-Encoding "${encoding.slice(0, 40)}" is not accepted; send the body uncompressed.`)
}

export const tooLarge = (maxBytes: number): GatewayError =>
  new GatewayError('payload_too_large', `Request payload too large: at most ${maxBytes} bytes.`, {
    metadata: { max_bytes: maxBytes },
  })
