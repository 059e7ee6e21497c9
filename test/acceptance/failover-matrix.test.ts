/** Every way in which a provider fails: which one is called next, what the client sees on each interface, and what is recorded. */
import { beforeAll, describe, expect, test } from 'bun:test'

import { call, infer, type Answer } from '../support/calls.ts'
import { startDeafUpstream } from '../support/deaf-upstream.ts'
import { say, startFakeUpstream } from '../support/fake-upstream.ts'
import { fin, rawAnswer, rawChunk, rawHead, type RawStep, rst, stall, startRawUpstream } from '../support/raw-upstream.ts'
import { type StartedService, useServices } from '../support/started-service.ts'
import { startTlsUpstream, TRUSTING } from '../support/tls-upstream.ts'

const services = useServices()
const spare = await startFakeUpstream()
spare.script(say('from the spare'))
/**
 * Deadlines are short only if nothing else ends an attempt. Otherwise they are the usual ones, so that the second provider answers in time
 * on a busy machine too.
 */
let impatient: StartedService
let usual: StartedService
const tls = {
  untrusted: await startTlsUpstream('untrusted'),
  expired: await startTlsUpstream('expired'),
  'wrong-name': await startTlsUpstream('wrong-name'),
}
const deaf = await startDeafUpstream()
const tlsAddress = (name: keyof typeof tls): string => `https://127.0.0.1:${tls[name].port}/v1`

interface Fault {
  /** How the provider answers each request. */
  readonly script?: readonly RawStep[]
  /** The address of a provider that no script plays. */
  readonly baseUrl?: string
  readonly scheme?: 'https'
  /** The code for the client if no provider is left. */
  readonly code: number
  readonly type: string
  /** The status in the record, if it is not `code`. */
  readonly recorded?: number
  readonly retryAfter?: string
  /** The request is at fault, so no other provider of the model is called. */
  readonly final?: true
  /** The case applies only to a stream, or only to a whole answer. */
  readonly only?: 'stream' | 'whole'
}

const error = (message: string, code = 'some_code'): string => JSON.stringify({ error: { message, type: code, code, param: null } })
const status = (code: number, headers: Readonly<Record<string, string>> = {}): readonly RawStep[] => [
  rawAnswer(code, error(`Status ${code}.`), headers),
]
const WELL = JSON.stringify({ choices: [{ index: 0, message: { role: 'assistant', content: 'Hello' }, finish_reason: 'stop' }] })
const unavailable = { code: 502, type: 'provider_unavailable' }
const late = { code: 504, type: 'timeout' }

const FAULTS: Readonly<Record<string, Fault>> = {
  refused: { baseUrl: 'http://127.0.0.1:1/v1', ...unavailable },
  'never-accepts': { baseUrl: `http://127.0.0.1:${deaf.port}/v1`, ...late },
  'no-such-name': { baseUrl: 'http://nobody.invalid/v1', ...unavailable },
  'not-tls': { scheme: 'https', script: ['HTTP/1.1 400 Bad Request\r\n\r\n', fin], ...unavailable },
  'tls-untrusted': { baseUrl: tlsAddress('untrusted'), ...unavailable },
  'tls-expired': { baseUrl: tlsAddress('expired'), ...unavailable },
  'tls-wrong-name': { baseUrl: tlsAddress('wrong-name'), ...unavailable },
  'tls-stall': { scheme: 'https', script: [stall], ...late },
  'reset-at-once': { script: [rst], ...unavailable },
  'closed-at-once': { script: [fin], ...unavailable },
  silent: { script: [stall], ...late },
  'headers-then-nothing': { script: [rawHead('text/event-stream'), stall], ...late },
  'comments-only': {
    script: [rawHead('text/event-stream'), { repeat: rawChunk(': still here\n\n'), everyMs: 50 }],
    ...late,
    only: 'stream',
  },
  'interim-answers-only': { script: [{ repeat: 'HTTP/1.1 102 Processing\r\n\r\n'.repeat(100), everyMs: 5 }], ...late },
  'half-a-head': { script: ['HTTP/1.1 200 OK\r\ncontent-type: appl', rst], ...unavailable },
  'not-http': { script: ['I am not HTTP at all.\r\n\r\n', fin], ...unavailable },
  'head-of-2-mib': { script: [rawAnswer(200, WELL, { 'x-long': 'a'.repeat(2 * 1024 * 1024) })], ...unavailable },
  'head-of-500-fields': {
    script: [rawAnswer(200, WELL, Object.fromEntries(Array.from({ length: 500 }, (_, at) => [`x-${at}`, 'a'])))],
    ...unavailable,
    only: 'whole',
  },
  html: { script: [rawAnswer(200, '<html>Welcome!</html>', { 'content-type': 'text/html' })], ...unavailable },
  empty: { script: [rawAnswer(200, '')], ...unavailable },
  'no-choices': {
    script: [rawAnswer(200, JSON.stringify({ id: 'c', object: 'chat.completion', created: 1, model: 'one', choices: [] }))],
    ...unavailable,
  },
  'false-gzip': { script: [rawAnswer(200, WELL, { 'content-encoding': 'gzip' })], ...unavailable, only: 'whole' },
  'two-lengths': { script: [rawAnswer(200, WELL, { 'Content-Length': '5' })], ...unavailable, only: 'whole' },
  'another-protocol': { script: ['HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nconnection: upgrade\r\n\r\n'], ...unavailable },
  '204': { script: [rawAnswer(204, '')], ...unavailable },
  'cut-whole': {
    script: ['HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 500\r\n\r\n{"choices":', rst],
    ...unavailable,
  },
  'error-in-200': {
    script: [rawAnswer(200, JSON.stringify({ error: { code: 503, message: 'Too busy.' } }))],
    code: 503,
    type: 'provider_overloaded',
  },
  redirect: { script: [rawAnswer(302, '', { location: 'http://127.0.0.1:1/' })], ...unavailable, recorded: 302 },
  '400': { script: status(400), code: 400, type: 'invalid_request', final: true },
  '401': { script: status(401), ...unavailable, recorded: 401 },
  '402': { script: status(402), ...unavailable, recorded: 402 },
  '403': { script: status(403), ...unavailable, recorded: 403 },
  '404': { script: status(404), code: 404, type: 'not_found' },
  '408': { script: status(408), ...late, recorded: 408 },
  '409': { script: status(409), ...unavailable, recorded: 409 },
  '413': { script: status(413), code: 413, type: 'payload_too_large', final: true },
  '422': { script: status(422), code: 422, type: 'unprocessable', final: true },
  '429': { script: status(429), code: 429, type: 'rate_limit_exceeded' },
  '429-with-a-hint': { script: status(429, { 'retry-after': '7' }), code: 429, type: 'rate_limit_exceeded', retryAfter: '7' },
  '500': { script: status(500), code: 500, type: 'server' },
  '502': { script: status(502), ...unavailable },
  '503': { script: status(503, { 'retry-after': '3' }), code: 503, type: 'provider_overloaded', retryAfter: '3' },
  '504': { script: status(504), ...late },
  'error-of-10-mib': { script: [rawAnswer(503, 'a'.repeat(10 * 1024 * 1024))], code: 503, type: 'provider_overloaded' },
  'error-deep': {
    script: [rawAnswer(503, `${'{"error":'.repeat(100_000)}1${'}'.repeat(100_000)}`)],
    code: 503,
    type: 'provider_overloaded',
  },
  '529': { script: status(529), code: 503, type: 'provider_overloaded', recorded: 529 },
}

const INTERFACES = {
  chat: { path: '/chat/completions', body: { messages: [{ role: 'user', content: 'Hi' }] } },
  responses: { path: '/responses', body: { input: 'Hi' } },
  messages: { path: '/messages', body: { max_tokens: 10, messages: [{ role: 'user', content: 'Hi' }] } },
} as const
type Interface = keyof typeof INTERFACES
const NAMES = Object.keys(INTERFACES) as Interface[]

const addresses = new Map<string, string>()
for (const [name, { baseUrl, script, scheme = 'http' }] of Object.entries(FAULTS)) {
  const address = baseUrl ?? `${scheme}://127.0.0.1:${(await startRawUpstream(script ?? [])).port}/v1`
  addresses.set(name, address)
}

/** Each case has its own model, so that its failures are not remembered in another. */
const modelsOf = (name: string): string =>
  NAMES.flatMap((dialect) =>
    ['stream', 'whole'].map(
      (mode) => `
  alone/${name}-${dialect}-${mode}: { endpoints: [{ provider: bad-${name}, model: up }] }
  both/${name}-${dialect}-${mode}: { endpoints: [{ provider: bad-${name}, model: up }, { provider: spare-${name}, model: up }] }`,
    ),
  ).join('')

const startWith = (timeouts: string): Promise<StartedService> =>
  services.start({
    env: TRUSTING,
    config: `
${timeouts}
providers:${[...addresses]
      .map(
        ([name, address]) => `
  bad-${name}: { name: Bad, dialects: [openai-chat], base_url: "${address}", api_key: a-key }
  spare-${name}: { name: Spare, dialects: [openai-chat], base_url: "${spare.url}", api_key: a-key }`,
      )
      .join('')}
models:${[...addresses.keys()].map(modelsOf).join('')}
`,
  })

beforeAll(async () => {
  impatient = await startWith('timeouts: { connect: 1, stream_headers: 1.2, whole_headers: 1.2, first_token: 1.4, idle: 1.6 }')
  usual = await startWith('')
})

const serviceFor = (name: string): StartedService => (FAULTS[name]?.type === late.type ? impatient : usual)

const ask = (model: string, dialect: Interface, stream: boolean, name: string): Promise<Answer> => {
  const { path, body } = INTERFACES[dialect]
  return infer(
    serviceFor(name),
    { ...body, model, stream, provider: { order: [`bad-${name}`] } },
    { path, headers: { 'x-service-provider-failure': 'status', 'x-service-metadata': 'enabled' } },
  )
}

interface ErrorBody {
  readonly error: { readonly code?: number | string; readonly error_type?: string; readonly metadata?: { readonly error_type?: string } }
  readonly error_type?: string
  readonly service_metadata?: { readonly attempt: number; readonly attempts: readonly { readonly status: number }[] }
}

const typeIn = (dialect: Interface, { error, error_type }: ErrorBody): unknown =>
  dialect === 'chat' ? error.metadata?.error_type : dialect === 'messages' ? error.error_type : error_type

const recordOf = async (name: string, answer: Answer): Promise<readonly unknown[]> => {
  const service = serviceFor(name)
  const id = answer.headers.get('x-generation-id') ?? ''
  const { json } = await call(service, 'GET', `/generation?id=${id}`, { key: service.inferenceKey })
  const { data } = json as { data: { provider_responses: readonly { provider_name: string; status: number; error_type: string | null }[] } }
  return data.provider_responses.map(({ provider_name, status: recorded, error_type }) => [provider_name, recorded, error_type])
}

describe.each(Object.entries(FAULTS))('%s', (name, fault) => {
  const modes = (['stream', 'whole'] as const).filter((mode) => (fault.only ?? mode) === mode)
  for (const mode of modes) {
    const attempt = ['Bad', fault.recorded ?? fault.code, fault.type]

    test(`${mode}, without another provider: ${fault.code} ${fault.type} on every interface, and in the record`, async () => {
      await Promise.all(
        NAMES.map(async (dialect) => {
          const answer = await ask(`alone/${name}-${dialect}-${mode}`, dialect, mode === 'stream', name)
          const body = answer.json as ErrorBody
          expect([answer.status, typeIn(dialect, body), answer.headers.get('retry-after')]).toEqual([
            fault.code,
            fault.type,
            fault.retryAfter ?? null,
          ])
          expect(body.service_metadata?.attempts.map((tried) => tried.status)).toEqual(
            fault.code === 500 ? undefined : [fault.recorded ?? fault.code],
          )
          expect(await recordOf(name, answer)).toEqual([attempt])
        }),
      )
    })

    test(`${mode}, with a spare provider: ${fault.final ? 'it is not asked' : 'it answers'}`, async () => {
      await Promise.all(
        NAMES.map(async (dialect) => {
          const answer = await ask(`both/${name}-${dialect}-${mode}`, dialect, mode === 'stream', name)
          if (fault.final) {
            expect([answer.status, await recordOf(name, answer)]).toEqual([fault.code, [attempt]])
            return
          }
          expect([answer.status, answer.text.includes('from the spare')]).toEqual([200, true])
          expect(await recordOf(name, answer)).toEqual([attempt, ['Spare', 200, null]])
        }),
      )
    })
  }
})

test('a provider whose certificate cannot be trusted is sent nothing, least of all the credential', async () => {
  const reported: string[] = []
  for (const name of Object.keys(tls))
    reported.push((await ask(`alone/tls-${name}-chat-whole`, 'chat', false, `tls-${name}`)).error.message)
  expect(reported.map((message) => /\((\w+)\)/.exec(message)?.[1])).toEqual([
    'DEPTH_ZERO_SELF_SIGNED_CERT',
    'CERT_HAS_EXPIRED',
    'ERR_TLS_CERT_ALTNAME_INVALID',
  ])
  expect(Object.values(tls).map(({ received }) => received)).toEqual([0, 0, 0])
})

test.each(['never-accepts', 'tls-stall'])('%s: given up after timeouts.connect, however long an answer may take', async (name) => {
  const service = await startWith('timeouts: { connect: 0.2 }')
  const { json } = await infer(service, { ...INTERFACES.chat.body, model: `alone/${name}-chat-whole` })
  expect(json).toMatchObject({ error: { code: 504, message: 'The provider could not be connected to within 0.2 seconds.' } })
})
