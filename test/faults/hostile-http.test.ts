/** Requests that only a raw socket can send: ambiguous framing, doubled headers, forms of a target, clients that stop. */
import { connect, type Socket } from 'node:net'

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'

import { call } from '../support/calls.ts'
import { startFakeUpstream } from '../support/fake-upstream.ts'
import { patient } from '../support/patience.ts'
import { type StartedService, useServices } from '../support/started-service.ts'

const services = useServices()
const upstream = await startFakeUpstream()
let service: StartedService
const sockets: Socket[] = []

beforeAll(async () => {
  service = await services.start({
    config: `providers:
  fake: { name: Fake, dialects: [openai-chat], base_url: ${upstream.url} }
models:
  fake/one: { endpoints: [{ provider: fake, model: one }] }
`,
  })
  upstream.script((exchange) => exchange.answer(200, wholeAnswer('Hello'), JSON_TYPE))
})
afterAll(() => sockets.forEach((socket) => socket.destroy()))

const JSON_TYPE = { 'content-type': 'application/json' }

const wholeAnswer = (content: string): string =>
  JSON.stringify({
    id: 'c',
    object: 'chat.completion',
    created: 1,
    model: 'one',
    choices: [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }],
    usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
  })

const BODY = JSON.stringify({ model: 'fake/one', messages: [{ role: 'user', content: 'Hi' }] })
const PATH = '/api/v1/chat/completions'

const keyed = (): string => `authorization: Bearer ${service.inferenceKey}\r\n`
const head = (lines: string, target = PATH, method = 'POST'): string =>
  `${method} ${target} HTTP/1.1\r\nhost: a\r\n${keyed()}content-type: application/json\r\n${lines}\r\n`
const LENGTH = `content-length: ${BODY.length}\r\n`
const chunked = (text: string): string => `${text.length.toString(16)}\r\n${text}\r\n0\r\n\r\n`
const CHUNKED = 'transfer-encoding: chunked\r\n'
/** The bytes that follow are a request only for a server that misread the one before them. */
const SMUGGLED = `GET /api/v1/key HTTP/1.1\r\nhost: a\r\n\r\n`

interface Heard {
  readonly text: string
  readonly statuses: readonly number[]
  readonly closed: boolean
}

/** Sends bytes, and reads until the connection ends or has been silent for a while. */
const send = (bytes: string | readonly string[], { quietMs = 400, half = false } = {}): Promise<Heard> =>
  new Promise((resolve) => {
    const socket = connect(Number(new URL(service.url).port), '127.0.0.1')
    sockets.push(socket)
    let text = ''
    let timer = setTimeout(finish, patient(quietMs))
    function finish(closed: unknown = false): void {
      clearTimeout(timer)
      socket.destroy()
      resolve({ text, statuses: [...text.matchAll(/HTTP\/1\.1 (\d{3})/g)].map(([, status]) => Number(status)), closed: closed === true })
    }
    socket.setEncoding('latin1')
    socket.on('error', () => undefined)
    socket.on('data', (piece: string) => {
      text += piece
      clearTimeout(timer)
      timer = setTimeout(finish, quietMs)
    })
    socket.once('close', () => finish(true))
    for (const piece of typeof bytes === 'string' ? [bytes] : bytes) socket.write(piece, 'latin1')
    if (half) socket.end()
  })

const asked = (): number => upstream.exchanges.length

describe('framing that can be read in two ways is refused, and nothing behind it is a request', () => {
  test.each<[string, () => string]>([
    ['a length and chunks', () => head(`${LENGTH}${CHUNKED}`) + chunked(BODY) + SMUGGLED],
    ['chunks and a length', () => head(`${CHUNKED}${LENGTH}`) + chunked(BODY) + SMUGGLED],
    ['two lengths', () => head(`${LENGTH}content-length: 5\r\n`) + BODY + SMUGGLED],
    ['a list of lengths', () => head(`content-length: ${BODY.length}, 5\r\n`) + BODY],
    ['a length with a sign', () => head(`content-length: +${BODY.length}\r\n`) + BODY],
    ['a negative length', () => head('content-length: -1\r\n') + BODY],
    ['a length that is a word', () => head('content-length: ten\r\n') + BODY],
    ['a length in hexadecimal', () => head('content-length: 0x10\r\n') + BODY],
    ['a length beyond every number', () => head(`content-length: ${'9'.repeat(30)}\r\n`) + BODY],
    ['chunks named twice', () => head('transfer-encoding: chunked\r\ntransfer-encoding: identity\r\n') + chunked(BODY)],
    ['chunks by another name', () => head('transfer-encoding: xchunked\r\n') + chunked(BODY) + SMUGGLED],
    ['chunks before something else', () => head('transfer-encoding: chunked, identity\r\n') + chunked(BODY)],
    ['a size of a chunk that is no number', () => `${head(CHUNKED)}zz\r\n${BODY}\r\n0\r\n\r\n`],
    ['a negative size of a chunk', () => `${head(CHUNKED)}-5\r\n${BODY}\r\n0\r\n\r\n`],
    ['a size of a chunk beyond every number', () => `${head(CHUNKED)}${'f'.repeat(20)}\r\n${BODY}\r\n0\r\n\r\n`],
    ['a space before the colon', () => head(`content-length : ${BODY.length}\r\n`) + BODY],
    ['a header that goes on in the next line', () => head(`x-a: b\r\n c\r\n${LENGTH}`) + BODY],
    ['a NUL in a header', () => head(`x-a: b\0c\r\n${LENGTH}`) + BODY],
    ['a header without a name', () => head(`: b\r\n${LENGTH}`) + BODY],
    ['no target', () => `POST HTTP/1.1\r\nhost: a\r\n${keyed()}${LENGTH}\r\n${BODY}`],
    ['another version', () => `POST ${PATH} HTTP/9.9\r\nhost: a\r\n${keyed()}${LENGTH}\r\n${BODY}`],
    ['chunks in HTTP/1.0', () => `POST ${PATH} HTTP/1.0\r\nhost: a\r\n${keyed()}${LENGTH}${CHUNKED}\r\n${chunked(BODY)}${SMUGGLED}`],
  ])('%s', async (_, bytes) => {
    const before = asked()
    const { statuses } = await send(bytes())
    expect(asked()).toBe(before)
    expect(statuses.filter((status) => status < 400)).toEqual([])
    expect(statuses.length).toBeLessThanOrEqual(1)
  })
})

describe('headers of which there may be one are refused where there are two', () => {
  test.each<[string, string]>([
    ['host', 'host: b\r\n'],
    ['authorization', 'authorization: Bearer another\r\n'],
    ['content-type', 'content-type: text/plain\r\n'],
  ])('%s', async (_, second) => {
    const before = asked()
    const { statuses } = await send(head(second + LENGTH) + BODY)
    expect([asked(), statuses.filter((status) => status < 400)]).toEqual([before, []])
  })
})

describe('a target means one path for everybody', () => {
  test.each([
    '//api/v1/chat/completions',
    '/api/v1/../v1/chat/completions',
    '/api/v1/%2e%2e/v1/chat/completions',
    '/x/../api/v1/chat/completions',
    '/x//../../api/v1/chat/completions',
    '/./api/v1/chat/completions',
    'http://evil.example/x/../api/v1/chat/completions',
    '/api/v1/chat%2fcompletions',
    '/api/v1/chat/completions;x',
    '/api/v1/chat\\completions',
    '*',
  ])('%s', async (target) => {
    const before = asked()
    const { statuses } = await send(head(`connection: close\r\n${LENGTH}`, target) + BODY)
    expect([asked(), statuses.filter((status) => status < 400)]).toEqual([before, []])
  })
})

test.each(['GET', 'PUT', 'TRACE', 'CONNECT', 'BREW'])('%s of an operation that has POST is refused', async (method) => {
  const before = asked()
  const { statuses } = await send(head('connection: close\r\ncontent-length: 0\r\n', method === 'CONNECT' ? 'a:443' : PATH, method))
  expect([asked(), statuses.filter((status) => status < 400)]).toEqual([before, []])
})

test.each<[string, () => string]>([
  ['3,000 headers', () => Array.from({ length: 3000 }, (_, index) => `x-${index}: a\r\n`).join('')],
  ['a header of 64 KiB', () => `x-a: ${'a'.repeat(65_536)}\r\n`],
])('%s are refused', async (_, lines) => {
  const before = asked()
  const { statuses } = await send(head(lines() + LENGTH) + BODY)
  expect([asked(), statuses.filter((status) => status < 400)]).toEqual([before, []])
})

test('names of prototypes are headers like others', async () => {
  const { statuses } = await send(head(`__proto__: a\r\nconstructor: b\r\nconnection: close\r\n${LENGTH}`) + BODY)
  expect(statuses).toEqual([200])
})

test('extensions of chunks change nothing of the body', async () => {
  const half = BODY.slice(0, 10)
  const rest = BODY.slice(10)
  const bytes = `${head(`${CHUNKED}connection: close\r\n`)}${half.length.toString(16)};a=b\r\n${half}\r\n${rest.length.toString(16)};c="d"\r\n${rest}\r\n0;e\r\n\r\n`
  const { statuses } = await send(bytes, { quietMs: 1500 })
  expect([statuses, upstream.last.body.messages]).toEqual([[200], [{ role: 'user', content: 'Hi' }]])
})

test('a trailer behind the body is no header of the request', async () => {
  const before = asked()
  const bytes = `POST ${PATH} HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\n${CHUNKED}trailer: authorization\r\n\r\n`
  const { statuses } = await send(`${bytes}${BODY.length.toString(16)}\r\n${BODY}\r\n0\r\n${keyed()}\r\n`)
  expect([asked(), statuses.filter((status) => status < 400)]).toEqual([before, []])
})

test.each([1, 2, 100])(
  '%i requests in one write are answered in their order, each with its own answer, or the connection ends',
  async (count) => {
    const numbered = Array.from({ length: count }, (_, index) => BODY.replace('Hi', `${index}.`))
    upstream.script((exchange) => exchange.answer(200, wholeAnswer(`for ${String(exchange.body.messages[0]?.content)}`), JSON_TYPE))
    const { statuses, text, closed } = await send(numbered.map((body) => head(`content-length: ${body.length}\r\n`) + body).join(''), {
      quietMs: 1500,
    })
    upstream.script((exchange) => exchange.answer(200, wholeAnswer('Hello'), JSON_TYPE))
    const answers = [...text.matchAll(/"content":"for (\d+)\."/g)].map(([, index]) => Number(index))
    expect(answers).toEqual(answers.map((_, index) => index))
    expect(statuses).toEqual(answers.map(() => 200))
    if (count === 1) expect(answers).toEqual([0])
    if (answers.length < count) expect(closed).toBe(true)
  },
)

test.each(['h2c', 'websocket'])('an upgrade to %s is no way around the key: what follows it is no request', async (protocol) => {
  const { statuses } = await send(`GET /api/v1/key HTTP/1.1\r\nhost: a\r\nconnection: upgrade\r\nupgrade: ${protocol}\r\n\r\n${SMUGGLED}`)
  expect(statuses.filter((status) => status < 400)).toEqual([])
})

test('a client that has ended its side gets its whole answer or is taken for gone, and others are answered', async () => {
  // A response is only sent if it is ready by then (docs/contract/streams.md#clients-that-leave).
  const { statuses, text, closed } = await send(head(LENGTH) + BODY, { half: true, quietMs: 1500 })
  if (statuses.length > 0) expect([statuses, text]).toEqual([[200], expect.stringMatching(/"finish_reason":[^]*\}$/)])
  expect(closed).toBe(true)
  expect((await send(head(LENGTH) + BODY)).statuses).toEqual([200])
})

test('an expectation with a bad key is refused without the body', async () => {
  const bytes = `POST ${PATH} HTTP/1.1\r\nhost: a\r\nauthorization: Bearer pb_inf_nothing\r\ncontent-type: application/json\r\nexpect: 100-continue\r\n${LENGTH}\r\n`
  const { statuses } = await send(bytes)
  expect(statuses.at(-1)).toBe(401)
})

test('200 clients that send a header a second stop nobody else', async () => {
  const slow = Array.from({ length: 200 }, () => {
    const socket = connect(Number(new URL(service.url).port), '127.0.0.1')
    sockets.push(socket)
    socket.on('error', () => undefined)
    socket.write(`POST ${PATH} HTTP/1.1\r\nhost: a\r\nx-slow: `)
    return socket
  })
  const dribble = setInterval(() => slow.forEach((socket) => void socket.write('a')), 200)
  try {
    for (let request = 0; request < 20; request += 1)
      expect((await send(head(`${LENGTH}connection: close\r\n`) + BODY, { quietMs: 1500 })).statuses).toEqual([200])
  } finally {
    clearInterval(dribble)
    slow.forEach((socket) => socket.destroy())
  }
})

test('after all of this the service is well, and holds nothing', async () => {
  expect((await fetch(`${service.url}/health/ready`)).status).toBe(200)
  expect((await call(service, 'GET', '/keys')).status).toBe(200)
  const metrics = await (await fetch(`${service.url}/metrics`)).text()
  expect(metrics).toMatch(/^patchbay_requests_inside 0$/m)
  expect(service.stderr()).not.toContain('uncaught fault')
})
