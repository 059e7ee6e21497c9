/** A server below HTTP: it plays a script of bytes, pauses and breaks on each connection, and records what it received. */
import { createServer, type Socket } from 'node:net'

import { afterAll } from 'bun:test'

export type RawStep =
  | string
  | { readonly ms: number }
  | { readonly end: 'fin' | 'rst' | 'stall' }
  /** Sends it again every `everyMs` while the connection is open. */
  | { readonly repeat: string; readonly everyMs: number }

export const fin: RawStep = { end: 'fin' }
export const rst: RawStep = { end: 'rst' }
export const stall: RawStep = { end: 'stall' }

export interface RawUpstream {
  readonly port: number
  /** The number of connections so far, and of those that are still open. */
  readonly connections: number
  readonly open: number
  /** The bytes that each connection sent, as text. */
  readonly received: readonly string[]
  /** Sets the scripts for the next requests of each connection, in order; the last one serves all further requests. */
  play(...scripts: readonly (readonly RawStep[])[]): void
}

/** Stopped after the tests of the file. Call it while the file loads. */
export const startRawUpstream = async (...scripts: readonly (readonly RawStep[])[]): Promise<RawUpstream> => {
  const sockets = new Set<Socket>()
  const received: string[] = []
  let current = scripts
  let connections = 0
  const server = createServer((socket) => {
    const number = connections
    connections += 1
    received[number] = ''
    sockets.add(socket)
    socket.on('error', () => undefined)
    socket.once('close', () => sockets.delete(socket))
    let request = 0
    socket.on('data', (bytes: Buffer) => {
      received[number] += bytes.toString('latin1')
      if (requestsIn(received[number] ?? '') <= request) return
      const script = current[Math.min(request, current.length - 1)] ?? []
      request += 1
      void play(socket, script)
    })
  })
  const port = await new Promise<number>((resolve) =>
    server.listen(0, '127.0.0.1', () => {
      const address = server.address()
      resolve(typeof address === 'object' && address !== null ? address.port : 0)
    }),
  )
  afterAll(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return {
    port,
    get connections() {
      return connections
    },
    get open() {
      return sockets.size
    },
    received,
    play(...next) {
      current = next
    },
  }
}

/** The number of complete requests. Bytes that are not HTTP, such as a TLS handshake, count as one. */
const requestsIn = (text: string): number => {
  let at = 0
  let count = 0
  while (at < text.length) {
    const head = text.indexOf('\r\n\r\n', at)
    if (head < 0) return text.startsWith('POST ') ? count : 1
    const length = Number(/content-length: (\d+)/i.exec(text.slice(at, head))?.[1] ?? 0)
    at = head + 4 + length
    if (at > text.length) return count
    count += 1
  }
  return count
}

const play = async (socket: Socket, script: readonly RawStep[]): Promise<void> => {
  for (const step of script) {
    if (typeof step === 'string') socket.write(step)
    else if ('ms' in step) await Bun.sleep(step.ms)
    else if ('repeat' in step) {
      while (!socket.destroyed) {
        socket.write(step.repeat)
        await Bun.sleep(step.everyMs)
      }
    } else if (step.end === 'fin') socket.end()
    else if (step.end === 'rst') socket.resetAndDestroy()
  }
}

/** A whole HTTP response. */
export const rawAnswer = (status: number, body: string, headers: Readonly<Record<string, string>> = {}): string =>
  `HTTP/1.1 ${status} Status\r\n${Object.entries({
    'content-type': 'application/json',
    ...headers,
    'content-length': String(Buffer.byteLength(body)),
  })
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join('')}\r\n${body}`

/** The head of a chunked response, and a chunk. */
export const rawHead = (type: string): string => `HTTP/1.1 200 OK\r\ncontent-type: ${type}\r\ntransfer-encoding: chunked\r\n\r\n`
export const rawChunk = (text: string): string => `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`
