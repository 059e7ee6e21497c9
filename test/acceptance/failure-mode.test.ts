/**
 * Decides whether a client gets a provider's failure as the status or in the body of a 200: by the request, else its key, else the server,
 * else the client.
 */
import { describe, expect, test } from 'bun:test'

import { createKey, infer } from '../support/calls.ts'
import { NEED_STATUS, READ_BODY } from '../support/client-headers.ts'
import { useServices } from '../support/started-service.ts'

const services = useServices()
const service = await services.start()

const PATHS = ['/chat/completions', '/responses', '/messages'] as const
const FAILING = {
  model: 'sandbox/error/rate_limit_exceeded',
  max_tokens: 10,
  input: 'Hi',
  messages: [{ role: 'user', content: 'Hi' }],
} as const

/** The statuses for the same failure, whole and streamed, on every interface. */
const statuses = async (headers: Readonly<Record<string, string>>, at = service, key = at.inferenceKey): Promise<ReadonlySet<number>> => {
  const answers = PATHS.flatMap((path) => [false, true].map((stream) => infer(at, { ...FAILING, stream }, { path, headers, key })))
  return new Set((await Promise.all(answers)).map(({ status }) => status))
}

describe('by default', () => {
  test.each(Object.entries(NEED_STATUS))('%s gets a provider failure as the status', async (_, headers) => {
    expect(await statuses(headers)).toEqual(new Set([429]))
  })

  test.each(Object.entries(READ_BODY))('%s gets a provider failure in the body of a 200', async (_, headers) => {
    expect(await statuses(headers)).toEqual(new Set([200]))
  })

  test('both get the same body', async () => {
    const [reported, body] = await Promise.all(
      [{ 'user-agent': 'litellm/1.110.2' }, { 'user-agent': 'curl/8.5.0' }].map(async (headers) => infer(service, FAILING, { headers })),
    )
    expect(reported?.error).toEqual(body?.error ?? { code: 0, message: '', metadata: {} })
    expect(reported?.headers.get('retry-after')).toBe(body?.headers.get('retry-after') ?? 'none')
  })

  test('a failure after content is an event of a 200 for every client', async () => {
    const body = { ...FAILING, model: 'sandbox/midstream/rate_limit_exceeded', stream: true }
    for (const headers of [NEED_STATUS['openai 7.59.0'] ?? {}, READ_BODY['curl'] ?? {}])
      expect(await infer(service, body, { headers })).toMatchObject({ status: 200, text: expect.stringContaining('rate_limit_exceeded') })
  })
})

describe('precedence', () => {
  const NEEDY = { 'user-agent': 'litellm/1.110.2' }
  const PLAIN = { 'user-agent': 'curl/8.5.0' }
  const asking = (mode: string) => ({ 'X-Service-Provider-Failure': mode })

  test.each([
    ['body', PLAIN, 200],
    ['body', NEEDY, 200],
    ['status', PLAIN, 429],
    ['status', NEEDY, 429],
    ['auto', PLAIN, 200],
    ['auto', NEEDY, 429],
  ])('errors.provider_failure: %s, asked by %p: %p', async (mode, client, expected) => {
    const other = await services.start({ config: `errors: { provider_failure: ${mode} }\n` })
    expect(await statuses(client, other)).toEqual(new Set([expected]))
  })

  test('the key overrides the server, and the header overrides the key', async () => {
    const opposite = { body: 'status', status: 'body' } as const
    for (const server of ['body', 'status'] as const) {
      const other = await services.start({ config: `errors: { provider_failure: ${server} }\n` })
      const status = { body: 200, status: 429 }
      const { key } = await createKey(other, { name: 'k', provider_failure: opposite[server] })
      expect(await statuses(PLAIN, other, key)).toEqual(new Set([status[opposite[server]]]))
      expect(await statuses({ ...PLAIN, ...asking(server) }, other, key)).toEqual(new Set([status[server]]))
      expect(await statuses({ ...NEEDY, ...asking('auto') }, other, key)).toEqual(new Set([429]))
      expect(await statuses({ ...PLAIN, ...asking('auto') }, other, key)).toEqual(new Set([200]))
    }
  })

  test('a word other than the three is a 400, for known clients too', async () => {
    expect(await statuses({ ...PLAIN, ...asking('never') })).toEqual(new Set([400]))
    expect(await statuses({ ...NEEDY, ...asking('never') })).toEqual(new Set([400]))
  })
})
