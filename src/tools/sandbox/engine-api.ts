/** Sends requests to a sandbox server: the Engine API of Docker or Podman on its socket, or a server at an address. */
import type { IncomingMessage, RequestOptions } from 'node:http'

import type { JsonObject } from '../../lib/json/json.ts'
import { SandboxFailure } from './sandbox.ts'

export interface EngineRequest {
  readonly method: string
  readonly path: string
  readonly body: JsonObject | null
  readonly signal?: AbortSignal
}

export interface EngineAnswer {
  readonly status: number
  readonly stream: IncomingMessage
}

/** The API version that Docker 20.10, Podman 3 and all later versions support. */
const VERSION = '/v1.41'

/** Throws a SandboxFailure if there is no answer, or the signal's reason. */
export const askEngine = (socketPath: string, { path, ...asked }: EngineRequest): Promise<EngineAnswer> =>
  send({ socketPath, path: VERSION + path, headers: { host: 'localhost' } }, asked)

/** Like `askEngine`, for a server at an address. */
export const askServer = (
  origin: URL,
  { path, ...asked }: EngineRequest,
  headers: Readonly<Record<string, string>>,
): Promise<EngineAnswer> => {
  const { protocol, hostname, port } = origin
  return send({ protocol, hostname: hostname.replace(/^\[|\]$/g, ''), ...(port === '' ? {} : { port }), path, headers }, asked)
}

const send = (
  { headers: given, ...to }: RequestOptions & { readonly headers: Readonly<Record<string, string>> },
  { method, body, signal }: Omit<EngineRequest, 'path'>,
): Promise<EngineAnswer> =>
  new Promise((resolve, reject) => {
    const text = body === null ? '' : JSON.stringify(body)
    const headers = {
      connection: 'close',
      ...given,
      'content-length': Buffer.byteLength(text),
      ...(body === null ? {} : { 'content-type': 'application/json' }),
    }
    const client = process.getBuiltinModule(to.protocol === 'https:' ? 'node:https' : 'node:http')
    const outgoing = client.request({ ...to, method, headers, ...(signal === undefined ? {} : { signal }) })
    outgoing.once('response', (stream) => resolve({ status: stream.statusCode ?? 0, stream }))
    outgoing.once('error', (cause) =>
      reject(signal?.aborted === true ? (signal.reason as Error) : new SandboxFailure('The sandbox cannot be reached.', { cause })),
    )
    outgoing.end(text)
  })

const ANSWER_MAX_BYTES = 1024 * 1024

/** Returns the answer's text. Throws a SandboxFailure if it breaks off or is too long. */
export const readAll = async (stream: IncomingMessage): Promise<string> => {
  const pieces: Buffer[] = []
  let length = 0
  try {
    for await (const piece of stream as AsyncIterable<Buffer>) {
      length += piece.length
      if (length > ANSWER_MAX_BYTES) break
      pieces.push(piece)
    }
  } catch (cause) {
    throw new SandboxFailure('The sandbox broke off its answer.', { cause })
  }
  if (length > ANSWER_MAX_BYTES) throw new SandboxFailure('The sandbox gave an answer that is too long.')
  return Buffer.concat(pieces).toString()
}
