/**
 * A provider that may fail, in its own process: the name of the model says how it answers. `bin/bun bench/soak/upstream.ts` prints
 * `upstream ready http://127.0.0.1:PORT`.
 */
import { createServer, type Socket } from 'node:net'

import { exitWithParent } from '../child.ts'

const EVENTS = 40
const WORDS = 'the quick brown fox jumps over the lazy dog and goes on to the next hill '

const chunk = (delta: object, more: object = {}): string =>
  `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [{ index: 0, delta, finish_reason: null, ...more }] })}\n\n`
const USAGE = { prompt_tokens: 20, completion_tokens: EVENTS, total_tokens: 20 + EVENTS }
const LAST = `${chunk({}, { finish_reason: 'stop' })}data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [], usage: USAGE })}\n\ndata: [DONE]\n\n`
const WHOLE = JSON.stringify({
  id: 'c',
  object: 'chat.completion',
  created: 1,
  model: 'm',
  usage: USAGE,
  choices: [{ index: 0, message: { role: 'assistant', content: WORDS.repeat(20) }, finish_reason: 'stop' }],
})

/** A result in SearXNG's format. */
const FOUND = JSON.stringify({ results: [{ url: 'https://example.com/', title: 'An example', content: WORDS }] })
const SEARCH_MS = 300

const HEAD = 'HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n'
const whole = (status: number, body: string): string =>
  `HTTP/1.1 ${status} X\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`
const failure = (status: number): string => whole(status, JSON.stringify({ error: { message: 'a bad day', code: 'x' } }))

/** Resolves with true when there is room again, or with false if the other side is gone. */
const write = (socket: Socket, text: string): Promise<boolean> => {
  if (socket.destroyed) return Promise.resolve(false)
  if (socket.write(text)) return Promise.resolve(true)
  return new Promise((resolve) => {
    const settle = (is: boolean) => (): void => resolve(is)
    socket.once('drain', settle(true))
    socket.once('close', settle(false))
  })
}

const stream = async (socket: Socket, events: number, pauseMs: number): Promise<void> => {
  await write(socket, HEAD + chunk({ role: 'assistant', content: '' }))
  for (let event = 0; event < events; event += 1) {
    if (!(await write(socket, chunk({ content: WORDS })))) return
    if (pauseMs > 0) await Bun.sleep(pauseMs)
  }
}

/** The way in which each model streams its answer. */
const MODELS: Readonly<Record<string, (socket: Socket) => Promise<void> | void>> = {
  async fine(socket) {
    await stream(socket, EVENTS, 5)
    socket.end(LAST)
  },
  async long(socket) {
    await stream(socket, 3000, 0)
    socket.end(LAST)
  },
  async cut(socket) {
    await stream(socket, 5, 0)
    socket.destroy()
  },
  async reset(socket) {
    await stream(socket, 5, 0)
    socket.resetAndDestroy()
  },
  async garbage(socket) {
    await stream(socket, 3, 0)
    socket.end('data: {"choices": [{{{\n\n')
  },
  unavailable: (socket) => void socket.end(failure(503)),
  limited: (socket) => void socket.end(failure(429)),
  closed: (socket) => void socket.destroy(),
}

const server = createServer((socket) => {
  let received = ''
  socket.on('error', () => undefined)
  socket.on('data', (bytes: Buffer) => {
    received += bytes.toString('latin1')
    const end = received.indexOf('\r\n\r\n')
    const length = Number(/content-length: (\d+)/i.exec(received)?.[1] ?? 0)
    if (end === -1 || received.length < end + 4 + length) return
    if (received.startsWith('GET /search')) {
      received = ''
      setTimeout(() => void write(socket, whole(200, FOUND)), SEARCH_MS)
      return
    }
    const body = received.slice(end + 4)
    received = ''
    const model = /"model"\s*:\s*"([a-z]+)"/.exec(body)?.[1] ?? 'fine'
    if (/"stream"\s*:\s*true/.test(body) || !['fine', 'long'].includes(model)) void MODELS[model]?.(socket)
    else void write(socket, whole(200, WHOLE))
  })
})
if (process.argv.includes('--child')) exitWithParent()
server.listen(0, '127.0.0.1', () => {
  const address = server.address()
  if (typeof address === 'object' && address !== null) console.log(`upstream ready http://127.0.0.1:${address.port}`)
})
