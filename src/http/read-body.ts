/** A request body as text: only JSON, only UTF-8, and never more than is allowed, whatever the headers claim. */
import { GatewayError } from '../errors.ts'

/** What is used of a request: the runtime has more than one type of them. */
export type HttpRequest = Pick<Request, 'method' | 'url' | 'headers' | 'signal' | 'body' | 'arrayBuffer'>

/** A body as it came, and as text. */
export interface ReceivedBody {
  readonly text: string
  readonly bytes: Uint8Array
}

type Readable = Pick<HttpRequest, 'headers' | 'body' | 'arrayBuffer'>

export const readBodyText = async (request: Readable, maxBytes: number): Promise<string> => (await readBody(request, maxBytes)).text

export const readBody = async (request: Readable, maxBytes: number): Promise<ReceivedBody> => {
  checkType(request.headers)
  const declared = request.headers.get('content-length')
  if (declared !== null) {
    if (Number(declared) > maxBytes) throw tooLarge(maxBytes)
    const bytes = new Uint8Array(await request.arrayBuffer())
    if (bytes.byteLength > maxBytes) throw tooLarge(maxBytes)
    return decode(bytes)
  }
  const pieces: Uint8Array[] = []
  let size = 0
  if (request.body !== null) {
    const reader = request.body.getReader()
    for (;;) {
      const { done, value } = await reader.read()
      if (done) break
      size += value.byteLength
      if (size > maxBytes) {
        await reader.cancel()
        throw tooLarge(maxBytes)
      }
      pieces.push(value)
    }
  }
  return decode(Buffer.concat(pieces))
}

const JSON_TYPE = /^application\/(?:[\w.+-]+\+)?json\s*(?:;\s*charset="?utf-8"?\s*)?$/i

const checkType = (headers: Headers): void => {
  const type = headers.get('content-type')
  if (type !== null && !JSON_TYPE.test(type)) {
    throw new GatewayError('invalid_request', `Content-Type is "${type.slice(0, 100)}"; send application/json in UTF-8.`, { status: 415 })
  }
  const encoding = headers.get('content-encoding')
  if (encoding !== null && encoding !== 'identity') {
    throw new GatewayError('invalid_request', `Content-Encoding "${encoding.slice(0, 40)}" is not accepted; send the body uncompressed.`, {
      status: 415,
    })
  }
}

const tooLarge = (maxBytes: number): GatewayError =>
  new GatewayError('payload_too_large', `Request payload too large: at most ${maxBytes} bytes.`, { metadata: { max_bytes: maxBytes } })

// A byte order mark is kept, so that the JSON reader refuses it instead of two readers disagreeing on it.
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

const decode = (bytes: Uint8Array): ReceivedBody => {
  try {
    return { text: decoder.decode(bytes), bytes }
  } catch (cause) {
    throw new GatewayError('invalid_request', 'The body is not valid UTF-8.', { cause })
  }
}
