/** A provider over a real socket, scripted down to the byte, for tests with pauses, cuts and resets. */
import { readFileSync } from 'node:fs'
import { createServer, type Server, type Socket } from 'node:net'
import { join } from 'node:path'

import { afterAll } from 'bun:test'

export interface Exchange {
  readonly path: string
  /** The names are in lower case. */
  readonly headers: Readonly<Record<string, string>>
  /** The body as it was received. */
  readonly text: string
  readonly body: ReceivedBody
  /** Resolves when the other side has closed the connection, with the time on performance.now()'s clock. */
  readonly gone: Promise<number>
  /** Sends raw bytes; resolves when they were handed to the system. */
  send(bytes: string | Uint8Array): Promise<void>
  /** Sends the status line and headers for a chunked body. */
  head(status: number, headers?: Readonly<Record<string, string>>): Promise<void>
  /** Sends a piece of a chunked body. */
  piece(text: string): Promise<void>
  /** Sends the last, empty chunk: the body is complete. */
  done(): Promise<void>
  /** Sends a whole response. */
  answer(status: number, text: string, headers?: Readonly<Record<string, string>>): Promise<void>
  /** Sends a whole event stream: one event for each line of data, then `[DONE]`. */
  stream(lines: readonly string[]): Promise<void>
  /** Closes our side normally (FIN). */
  end(): void
  /** Breaks the connection (RST). */
  reset(): void
}

interface ReceivedBody {
  readonly model: string
  readonly stream?: boolean
  readonly messages: readonly { readonly role: string; readonly content: unknown }[]
  readonly tools?: readonly { readonly function: { readonly name: string; readonly description?: string } }[]
  readonly [field: string]: unknown
}

export type Script = (exchange: Exchange) => void | Promise<void>

export interface FakeUpstream {
  readonly url: string
  /** Every request so far, oldest first. */
  readonly exchanges: readonly Exchange[]
  readonly last: Exchange
  /** Sets how every request from now on is answered. */
  script(script: Script): void
}

/** Stopped after the tests of the file. Call it while the file loads, when `afterAll` means the file. */
export const startFakeUpstream = async (): Promise<FakeUpstream> => {
  const exchanges: Exchange[] = []
  const sockets = new Set<Socket>()
  let current: Script = (exchange) => exchange.answer(500, 'no script')
  const server = createServer((socket) => {
    sockets.add(socket)
    serve(socket, (exchange) => {
      exchanges.push(exchange)
      void Promise.resolve(current(exchange)).catch(() => socket.destroy())
    })
  })
  const port = await listen(server)
  afterAll(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return {
    url: `http://127.0.0.1:${port}/v1`,
    exchanges,
    get last() {
      const last = exchanges.at(-1)
      if (last === undefined) throw new Error('The upstream was not asked.')
      return last
    },
    script(next) {
      current = next
    },
  }
}

const listen = (server: Server): Promise<number> =>
  new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(0, '127.0.0.1', () => {
      const address = server.address()
      if (typeof address === 'object' && address !== null) resolve(address.port)
      else reject(new Error('no port'))
    })
  })

/** Serves one request after the other on a connection, as a client with keep-alive sends them. */
const serve = (socket: Socket, begin: (exchange: Exchange) => void): void => {
  let buffered = Buffer.alloc(0)
  const gone = new Promise<number>((resolve) => {
    const over = (): void => resolve(performance.now())
    socket.once('end', over)
    socket.once('close', over)
    socket.on('error', over)
  })
  socket.setNoDelay(true)
  socket.on('data', (bytes: Buffer) => {
    buffered = Buffer.concat([buffered, bytes])
    for (;;) {
      const request = readRequest(buffered)
      if (request === null) return
      buffered = buffered.subarray(request.size)
      begin(exchangeOn(socket, gone, request))
    }
  })
}

interface RawRequest {
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly text: string
  readonly size: number
}

const readRequest = (bytes: Buffer): RawRequest | null => {
  const headEnd = bytes.indexOf('\r\n\r\n')
  if (headEnd < 0) return null
  const [first = '', ...lines] = bytes.toString('latin1', 0, headEnd).split('\r\n')
  const headers = Object.fromEntries(
    lines.map((line) => [line.slice(0, line.indexOf(':')).toLowerCase(), line.slice(line.indexOf(':') + 1).trim()]),
  )
  const size = headEnd + 4 + Number(headers['content-length'] ?? 0)
  return bytes.length < size ? null : { path: first.split(' ')[1] ?? '', headers, text: bytes.toString('utf8', headEnd + 4, size), size }
}

const exchangeOn = (socket: Socket, gone: Promise<number>, { path, headers, text }: RawRequest): Exchange => {
  const send = (bytes: string | Uint8Array): Promise<void> =>
    new Promise((resolve) => {
      if (socket.destroyed || !socket.writable) resolve()
      else socket.write(bytes, () => resolve())
    })
  const head: Exchange['head'] = (status, more = {}) =>
    send(
      `HTTP/1.1 ${status} Status\r\n${headerLines({ 'content-type': 'text/event-stream', 'transfer-encoding': 'chunked', ...more })}\r\n`,
    )
  const piece: Exchange['piece'] = (content) => send(`${Buffer.byteLength(content).toString(16)}\r\n${content}\r\n`)
  const done: Exchange['done'] = () => send('0\r\n\r\n')
  return {
    path,
    headers,
    text,
    get body() {
      return JSON.parse(text) as ReceivedBody
    },
    gone,
    send,
    head,
    piece,
    done,
    answer: (status, content, more = {}) =>
      send(
        `HTTP/1.1 ${status} Status\r\n${headerLines({ 'content-type': 'application/json', 'content-length': String(Buffer.byteLength(content)), ...more })}\r\n${content}`,
      ),
    async stream(lines) {
      await head(200)
      await piece([...lines, '[DONE]'].map(dataEvent).join(''))
      await done()
    },
    end: () => void socket.end(),
    reset: () => void socket.resetAndDestroy(),
  }
}

const headerLines = (headers: Readonly<Record<string, string>>): string =>
  Object.entries(headers)
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join('')

export const dataEvent = (line: string): string => `data: ${line}\n\n`

/** A chunk of text, as providers write it. */
export const proseChunk = (content: string, more: Readonly<Record<string, unknown>> = {}): string =>
  JSON.stringify({
    id: 'chatcmpl-fake',
    object: 'chat.completion.chunk',
    created: 1_700_000_000,
    model: 'fake-1',
    choices: [{ index: 0, delta: { role: 'assistant', content }, finish_reason: null }],
    ...more,
  })

export const FINISH_CHUNK = JSON.stringify({
  id: 'chatcmpl-fake',
  object: 'chat.completion.chunk',
  created: 1_700_000_000,
  model: 'fake-1',
  choices: [{ index: 0, delta: {}, finish_reason: 'stop' }],
})

/** A whole answer of text. */
export const proseAnswer = (content: string, more: Readonly<Record<string, unknown>> = {}): string =>
  JSON.stringify({
    id: 'chatcmpl-fake',
    object: 'chat.completion',
    created: 1_700_000_000,
    model: 'fake-1',
    choices: [{ index: 0, message: { role: 'assistant', content, refusal: null }, finish_reason: 'stop', logprobs: null }],
    usage: { prompt_tokens: 7, completion_tokens: 3, total_tokens: 10 },
    ...more,
  })

/** The same on Responses. */
export const responsesAnswer = (text: string): string =>
  JSON.stringify({
    id: 'resp_1',
    object: 'response',
    created_at: 1_700_000_000,
    status: 'completed',
    model: 'fake-1',
    output: [
      { type: 'message', id: 'msg_1', role: 'assistant', status: 'completed', content: [{ type: 'output_text', text, annotations: [] }] },
    ],
    usage: { input_tokens: 1, output_tokens: 1, total_tokens: 2 },
  })

/** Answers each request in the way it asks for: with a stream if it asked for one. */
export const say =
  (content: string): Script =>
  (exchange) =>
    exchange.body.stream === true ? exchange.stream([proseChunk(content), FINISH_CHUNK]) : exchange.answer(200, proseAnswer(content))

const RECORDED = join(import.meta.dir, '../fixtures/recorded/openai-chat')

/** The body of a recording, or the lines of a recorded stream. */
export const recordedBody = (name: string): string => readFileSync(join(RECORDED, `${name}.json`), 'utf8')
export const recordedLines = (name: string): string[] =>
  readFileSync(join(RECORDED, `${name}.chunks.txt`), 'utf8')
    .split('\n')
    .filter((line) => line !== '')
