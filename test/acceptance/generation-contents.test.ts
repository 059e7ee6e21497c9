/** The contents of requests and answers are stored only in workspaces that want it. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

import { beforeAll, describe, expect, test } from 'bun:test'

import { call, createKey, infer } from '../support/calls.ts'
import { say, startFakeUpstream } from '../support/fake-upstream.ts'
import { signInAs } from '../support/signed-in.ts'
import { type StartedService, useServices } from '../support/started-service.ts'

const services = useServices()
const upstream = await startFakeUpstream()
let service: StartedService

const set = (body: object) => call(service, 'PATCH', '/workspaces/default', { body })
const contentOf = (id: string, key = service.managementKey) => call(service, 'GET', `/generation/content?id=${id}`, { key })

beforeAll(async () => {
  service = await services.start({
    config: `
providers:
  good: { name: Good, dialects: [openai-chat], base_url: "${upstream.url}" }
  native: { dialects: [openai-responses], base_url: "${upstream.url}" }
  silent: { dialects: [openai-chat], base_url: "${upstream.url}", data_policy: { retains: false } }
models:
  fake/silent: { endpoints: [{ provider: silent, model: up }] }
  fake/good: { endpoints: [{ provider: good, model: up }] }
  fake/native: { endpoints: [{ provider: native, model: up }] }
`,
  })
  upstream.script(say('the word that was answered'))
})

const WORD = 'a-word-that-was-asked'
const INTERFACES = {
  chat: ['/chat/completions', { messages: [{ role: 'user', content: WORD }] }],
  responses: ['/responses', { input: WORD }],
  messages: ['/messages', { messages: [{ role: 'user', content: WORD }], max_tokens: 10 }],
} as const

const ask = async (name: keyof typeof INTERFACES = 'chat', more: object = {}, key = service.inferenceKey): Promise<string> => {
  const [path, body] = INTERFACES[name]
  const answer = await infer(service, { model: 'fake/good', ...body, ...more }, { path, key })
  return answer.headers.get('x-generation-id') ?? ''
}

test('nothing is kept unless the workspace asks for it: 404 not_stored', async () => {
  const id = await ask()
  const answer = await contentOf(id)
  expect([answer.status, answer.error.metadata['reason']]).toEqual([404, 'not_stored'])
  expect((await contentOf('gen-nothing')).error.metadata['reason']).not.toBe('not_stored')
})

describe('if it does', () => {
  beforeAll(async () => {
    expect((await set({ is_observability_io_logging_enabled: true, io_logging_retention_days: 7 })).status).toBe(200)
  })

  for (const name of ['chat', 'responses', 'messages'] as const) {
    for (const stream of [false, true]) {
      test(`request and answer are stored whole, in the format of ${name}, ${stream ? 'streamed' : 'whole'}`, async () => {
        const id = await ask(name, { stream })
        const { status, json } = await contentOf(id)
        expect(status).toBe(200)
        const { data } = json as { data: { request: unknown; answer: unknown; created_at: string; expires_at: string } }
        expect(data).toMatchObject({
          id,
          interface: name,
          request: { model: 'fake/good', ...INTERFACES[name][1] },
          request_cut: false,
          answer_cut: false,
          error: null,
        })
        expect(JSON.stringify(data.answer)).toContain('the word that was answered')
        expect(data.answer).toMatchObject({ model: 'fake/good' })
        expect(Date.parse(data.expires_at) - Date.parse(data.created_at)).toBe(7 * 86_400_000)
      })
    }
  }

  test('a text that a guardrail replaced is stored as it went on', async () => {
    const setFilters = (content_filter_builtins: readonly object[] | null) =>
      call(service, 'PATCH', '/guardrails/default', { body: { content_filter_builtins } })
    expect((await setFilters([{ slug: 'email', action: 'redact' }])).status).toBe(200)
    upstream.script(say('Ask bob@example.com'))
    const id = await ask('chat', { messages: [{ role: 'user', content: 'I am ada@example.com' }] })
    upstream.script(say('the word that was answered'))
    expect((await setFilters(null)).status).toBe(200)
    const { status, text } = await contentOf(id)
    expect([status, text.match(/\S+@example/g)]).toEqual([200, null])
    expect(text).toContain('I am ')
  })

  test("a failure has the provider's own words", async () => {
    upstream.script((exchange) => exchange.answer(400, JSON.stringify({ error: { message: 'No such thing.', code: 'nope' } })))
    const id = await ask()
    upstream.script(say('the word that was answered'))
    expect((await contentOf(id)).json).toMatchObject({
      data: { answer: null, error: { type: 'invalid_request', provider_name: 'Good', raw: expect.stringContaining('nope') as string } },
    })
  })

  test('lists show which requests have contents, and can filter by it', async () => {
    const session = `s-${crypto.randomUUID()}`
    const id = await ask('chat', { session_id: session })
    await contentOf(id)
    const found = async (wanted: boolean) =>
      (await call(service, 'GET', `/generations?session_id=${session}&has_content=${wanted}`)).json as {
        data: readonly { id: string; has_content: boolean }[]
      }
    expect((await found(true)).data.map((row) => [row.id, row.has_content])).toEqual([[id, true]])
    expect((await found(false)).data).toEqual([])
  })

  test('each reading and each deletion is in the audit log, and deleted contents are gone', async () => {
    const id = await ask()
    expect((await contentOf(id)).status).toBe(200)
    expect((await call(service, 'DELETE', `/generation/content?id=${id}`)).json).toEqual({ deleted: true })
    expect((await contentOf(id)).error.metadata['reason']).toBe('not_stored')
    expect((await call(service, 'DELETE', `/generation/content?id=${id}`)).status).toBe(404)
    const { json } = await call(service, 'GET', `/audit-log?object_type=generation_content&object_id=${id}`)
    expect((json as { data: readonly { action: string }[] }).data.map(({ action }) => action)).toEqual(['deleted', 'read'])
  })

  test('the database file does not reveal them', async () => {
    const secret = `very-${crypto.randomUUID()}`
    const id = await ask('chat', { messages: [{ role: 'user', content: secret }] })
    expect((await contentOf(id)).text).toContain(secret)
    for (const name of readdirSync(service.dataDir)) {
      if (name.startsWith('patchbay.db')) expect(readFileSync(join(service.dataDir, name)).includes(secret)).toBe(false)
    }
  })

  test('only the beginning of a request beyond 2 MiB is kept, and the contents say so', async () => {
    const id = await ask('chat', { messages: [{ role: 'user', content: `€${'x'.repeat(3_000_000)}` }] })
    const { json } = await contentOf(id)
    const { data } = json as { data: { request: null; request_beginning: string; request_cut: boolean; request_bytes: number } }
    expect([data.request, data.request_cut, data.request_bytes > 3_000_000]).toEqual([null, true, true])
    expect(Buffer.byteLength(data.request_beginning)).toBeLessThanOrEqual(2 * 1024 * 1024)
    expect(data.request_beginning).toStartWith('{"model":"fake/good"')
  })

  test('the credentials that a request carries for its tools are not stored, however large the request is', async () => {
    const server = { type: 'mcp', server_label: 'crm', server_url: 'https://mcp.example.com/sse', authorization: 'tools-own-secret' }
    const tools = [{ ...server, headers: { 'X-Team': 'second-own-secret' } }]
    upstream.script((exchange) => exchange.answer(400, '{}'))
    const small = await contentOf(await ask('responses', { model: 'fake/native', tools }))
    expect((small.json as { data: { request: object } }).data.request).toMatchObject({
      tools: [{ ...server, authorization: '[redacted]', headers: { 'X-Team': '[redacted]' } }],
    })
    const large = await contentOf(await ask('responses', { model: 'fake/native', tools, instructions: 'x'.repeat(3_000_000) }))
    const { request_beginning } = (large.json as { data: { request_beginning: string } }).data
    expect(request_beginning).toContain('"authorization":"[redacted]"')
    expect(request_beginning).not.toContain('own-secret')
  })

  test('401 without a key, 403 for a key that calls models and for a member, 404 for a key of another workspace', async () => {
    const id = await ask()
    expect((await call(service, 'GET', `/generation/content?id=${id}`, { key: null })).status).toBe(401)
    expect((await contentOf(id, service.inferenceKey)).status).toBe(403)
    const member = await signInAs(service, { user_id: 'mia', role: 'member' })
    expect((await member.ask('GET', `/generation/content?id=${id}`)).status).toBe(403)
    const { json } = await call(service, 'POST', '/workspaces', { body: { name: 'Other', slug: 'other' } })
    const workspaceId = (json as { data: { id: string } }).data.id
    const made = await call(service, 'POST', '/keys', { body: { name: 'other', kind: 'management', workspace_id: workspaceId } })
    const foreign = await contentOf(id, (made.json as { key: string }).key)
    expect([foreign.status, foreign.error.metadata['reason'] === 'not_stored']).toEqual([404, false])
  })

  test('nothing is kept under zero data retention, which the request, its preset or a guardrail demands', async () => {
    const kept = async (id: string): Promise<unknown> => (await contentOf(id)).error.metadata['reason']
    const forgets = { provider: { zdr: true } }
    for (const name of ['chat', 'responses', 'messages'] as const)
      expect(await kept(await ask(name, { model: 'fake/silent', ...forgets }))).toBe('not_stored')
    expect(
      (
        await infer(
          service,
          { model: 'fake/silent', input: 'x', ...forgets },
          { path: '/presets/silent/responses', key: service.managementKey },
        )
      ).status,
    ).toBe(200)
    expect(await kept(await ask('chat', { model: '@preset/silent' }))).toBe('not_stored')
    const { json } = await call(service, 'POST', '/keys', { body: { name: 'silent' } })
    const { key, data } = json as { key: string; data: { hash: string } }
    const guardrail = await call(service, 'POST', '/guardrails', { body: { name: 'silent', enforce_zdr: true } })
    const { id } = (guardrail.json as { data: { id: string } }).data
    await call(service, 'POST', `/guardrails/${id}/assignments/keys`, { body: { key_hashes: [data.hash] } })
    expect(await kept(await ask('chat', { model: 'fake/silent' }, key))).toBe('not_stored')
    expect((await contentOf(await ask('chat', { model: 'fake/silent' }))).status).toBe(200)
  })

  test('only requests of the listed keys are kept', async () => {
    const { key, data } = await createKey(service, { name: 'kept' })
    await set({ io_logging_api_key_ids: [data.hash] })
    expect((await contentOf(await ask('chat', {}, key))).status).toBe(200)
    expect((await contentOf(await ask())).status).toBe(404)
    await set({ io_logging_api_key_ids: null })
  })

  test('the share to keep is drawn at random', async () => {
    await set({ io_logging_sampling_rate: 0.5 })
    const ids = await Promise.all(Array.from({ length: 60 }, () => ask()))
    const kept = (await Promise.all(ids.map((id) => contentOf(id)))).filter(({ status }) => status === 200).length
    // By chance this fails once in a hundred million runs.
    expect(kept).toBeGreaterThan(8)
    expect(kept).toBeLessThan(52)
    await set({ io_logging_sampling_rate: 1 })
  })
})
