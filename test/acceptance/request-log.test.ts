/** The record of a request says why it failed, which providers were called when, and which were not. */
import { Database } from 'bun:sqlite'
import { beforeAll, describe, expect, test } from 'bun:test'

import { join } from 'node:path'

import { call, createKey, infer } from '../support/calls.ts'
import { dataEvent, type Exchange, proseChunk, say, startFakeUpstream } from '../support/fake-upstream.ts'
import { signInAs } from '../support/signed-in.ts'
import { type StartedService, until, useServices } from '../support/started-service.ts'

const services = useServices()
const [bad, good, late] = [await startFakeUpstream(), await startFakeUpstream(), await startFakeUpstream()]
let service: StartedService

beforeAll(async () => {
  service = await services.start({
    config: `
providers:
  bad: { name: Bad, dialects: [openai-chat], base_url: "${bad.url}", api_key: "sk-upstream-secret-0123456789" }
  late: { name: Late, dialects: [openai-chat], base_url: "${late.url}" }
  good: { name: Good, dialects: [openai-chat], base_url: "${good.url}" }
models:
  fake/good: { endpoints: [{ provider: good, model: up, prices: { prompt: 1, completion: 1 } }] }
  fake/alone: { endpoints: [{ provider: bad, model: up }] }
  fake/two: { endpoints: [{ provider: late, model: up, prices: { prompt: 1, completion: 1 } }, { provider: good, model: up, prices: { prompt: 9, completion: 9 } }] }
`,
  })
  good.script(say('well'))
})

interface RecordWire {
  readonly [member: string]: unknown
  readonly provider_responses: readonly { readonly [member: string]: unknown }[]
}

const recordOf = async (id: string | null): Promise<RecordWire> => {
  const { json } = await call(service, 'GET', `/generation?id=${id ?? ''}`)
  return (json as { data: RecordWire }).data
}

const INTERFACES = {
  chat: ['/chat/completions', { messages: [{ role: 'user', content: 'hi' }] }],
  responses: ['/responses', { input: 'hi' }],
  messages: ['/messages', { messages: [{ role: 'user', content: 'hi' }], max_tokens: 10 }],
} as const

const SENTENCE = 'The engine of sk-upstream-secret-0123456789 burst.'
const failing = (status: number) => bad.script((exchange) => exchange.answer(status, JSON.stringify({ error: { message: SENTENCE } })))

describe.each(Object.entries(INTERFACES))('%s', (name, [path, body]) => {
  for (const stream of [false, true]) {
    test(`a failure is recorded with the provider's sentence and no secret, ${stream ? 'streamed' : 'whole'}`, async () => {
      failing(500)
      const answer = await infer(
        service,
        { model: 'fake/alone', stream, ...body },
        { path, headers: { 'x-service-provider-failure': 'status' } },
      )
      const record = await recordOf(answer.headers.get('x-generation-id'))
      expect(record).toMatchObject({
        interface: name,
        http_status: answer.status,
        error: { message: expect.stringContaining('The engine of [redacted] burst.') as string, provider_name: 'Bad' },
        provider_responses: [
          { message: expect.stringContaining('The engine of [redacted] burst.') as string, started_ms: expect.any(Number) as number },
        ],
        removed: [],
        api_key_hash: expect.stringMatching(/^[0-9a-f]{64}$/) as string,
        api_key_name: expect.any(String) as string,
      })
      expect(JSON.stringify(record)).not.toContain('sk-upstream-secret')
      expect(answer.status).toBeGreaterThanOrEqual(500)
    })
  }

  test('an empty session and user count as absent: the header names the session, and no user is recorded', async () => {
    const names = { session_id: '', user: '' }
    const answer = await infer(service, { model: 'fake/good', ...body, ...names }, { path, headers: { 'x-session-id': 'of-the-header' } })
    expect(answer.status).toBe(200)
    expect(await recordOf(answer.headers.get('x-generation-id'))).toMatchObject({ session_id: 'of-the-header', external_user: null })
  })

  test('the status in the record is the one that the client received', async () => {
    failing(503)
    const answer = await infer(service, { model: 'fake/alone', ...body }, { path, headers: { 'x-service-provider-failure': 'body' } })
    expect(answer.status).toBe(200)
    expect(await recordOf(answer.headers.get('x-generation-id'))).toMatchObject({ http_status: 200, error_type: 'provider_overloaded' })
  })

  test('the status in the record is that of the stream, where the provider fails after its answer has begun, and null for a client that has left', async () => {
    const headers = { 'x-service-provider-failure': 'status' }
    const begun = Promise.withResolvers<Exchange>()
    bad.script(async (exchange) => {
      await exchange.head(200)
      await exchange.piece(dataEvent(proseChunk('Well')))
      begun.resolve(exchange)
    })
    const streamed = infer(service, { model: 'fake/alone', stream: true, ...body }, { path, headers })
    const exchange = await begun.promise
    await exchange.piece('data: {"error":{"message":"out of memory","code":500}}\n\n')
    await exchange.done()
    const answer = await streamed
    expect(answer.status).toBe(200)
    const record = await recordOf(answer.headers.get('x-generation-id'))
    expect([record['http_status'], record['error_type']]).toEqual([200, expect.any(String)])

    const asked = Promise.withResolvers<Exchange>()
    bad.script(asked.resolve)
    const leaving = new AbortController()
    const left = infer(service, { model: 'fake/alone', ...body }, { path, headers, signal: leaving.signal }).catch(() => null)
    const { gone } = await asked.promise
    leaving.abort()
    await Promise.all([left, gone])
    const newest = async () => ((await call(service, 'GET', '/generations?limit=1')).json as { data: readonly RecordWire[] }).data[0]
    await until(async () => (await newest())?.['cancelled'] === true, 'the record')
    expect(await newest()).toMatchObject({ http_status: null })
  })
})

test('providers that were not asked are recorded with the reason, and attempts share one time axis', async () => {
  late.script((exchange) => exchange.answer(503, '{}'))
  const { headers } = await infer(service, {
    model: 'fake/two',
    // The default order is a draw weighted by price: in one of 82 requests the more expensive provider would be called first, and alone.
    provider: { order: ['late', 'good'] },
    messages: [{ role: 'user', content: 'hi' }],
    temperature: 0.25,
    trace: { trace_id: 't-1', team: 'blue' },
    tools: [{ type: 'function', function: { name: 'find', parameters: {} } }],
  })
  const record = await recordOf(headers.get('x-generation-id'))
  const [first, second] = record.provider_responses
  expect([first?.['provider_name'], second?.['provider_name'], second?.['message']]).toEqual(['Late', 'Good', null])
  expect(Number(second?.['started_ms'])).toBeGreaterThanOrEqual(Number(first?.['started_ms']) + Number(first?.['latency']) - 1)
  expect(Number(second?.['first_token_ms'])).toBeGreaterThanOrEqual(Number(second?.['started_ms']))
  expect(record).toMatchObject({
    error: null,
    http_status: 200,
    settings: { model: 'fake/two', temperature: 0.25 },
    settings_left_out: ['tools'],
    trace: { trace_id: 't-1', team: 'blue' },
  })

  const chosen = await infer(service, { model: 'fake/two', provider: { ignore: ['late'] }, messages: [{ role: 'user', content: 'hi' }] })
  expect((await recordOf(chosen.headers.get('x-generation-id')))['removed']).toEqual([
    { provider: 'late', model: 'fake/two', reason: expect.any(String) as string },
  ])
})

describe('the list of requests', () => {
  interface RowWire {
    readonly id: string
    readonly [member: string]: unknown
  }
  const list = async (query: string, key = service.managementKey) => {
    const answer = await call(service, 'GET', `/generations?${query}`, { key })
    return { ...answer, page: answer.json as { readonly data: readonly RowWire[]; readonly next_cursor: string | null } }
  }
  const ask = async (more: object = {}, body: object = {}) => {
    const { headers } = await infer(service, { model: 'fake/good', messages: [{ role: 'user', content: 'hi' }], ...body }, more)
    return headers.get('x-generation-id') ?? ''
  }

  test('pages continue after the cursor, newest first, and no request is repeated or left out', async () => {
    const session = `s-${crypto.randomUUID()}`
    const ids: string[] = []
    for (let count = 0; count < 7; count += 1) ids.unshift(await ask({}, { session_id: session }))
    const found: string[] = []
    for (let cursor = ''; ;) {
      const { page } = await list(`session_id=${session}&limit=3&cursor=${cursor}`)
      found.push(...page.data.map(({ id }) => id))
      if (page.next_cursor === null) break
      cursor = page.next_cursor
    }
    expect(found).toEqual(ids)
  })

  test('a row is the generation without its long members', async () => {
    const id = await ask()
    const [row] = (await list('limit=1')).page.data
    expect(row).toMatchObject({ id, interface: 'chat', http_status: 200, error_type: null, attempts: 1, has_content: false })
    expect(row).not.toHaveProperty('provider_responses')
  })

  test('each filter takes effect', async () => {
    const session = `s-${crypto.randomUUID()}`
    const good = await ask({}, { session_id: session })
    bad.script((exchange) => exchange.answer(400, JSON.stringify({ error: { message: 'No.' } })))
    const failed = await ask({ path: '/responses' }, { session_id: session, model: 'fake/alone', input: 'hi', messages: undefined })
    const [row] = (await list(`session_id=${session}&status=error`)).page.data
    expect(row?.id).toBe(failed)
    const ids = async (query: string) => (await list(`session_id=${session}&${query}`)).page.data.map(({ id }) => id)
    expect(await ids('status=ok')).toEqual([good])
    expect(await ids('status=cancelled')).toEqual([])
    expect(await ids('error_type=invalid_request')).toEqual([failed])
    expect(await ids('model=fake/good')).toEqual([good])
    expect(await ids('provider=bad')).toEqual([failed])
    expect(await ids('interface=responses')).toEqual([failed])
    expect(await ids('preset=nothing')).toEqual([])
    // Also if other conditions would use an index of their own.
    expect(await ids('preset=nothing&status=ok&has_content=true')).toEqual([])
    expect(await ids('has_preset=false')).toEqual([failed, good])
    expect(await ids('has_preset=true')).toEqual([])
    expect(await ids('min_cost_usd=1')).toEqual([])
    expect(await ids('min_latency_ms=0')).toEqual([failed, good])
    expect(await ids('min_latency_ms=99999999')).toEqual([])
    expect(await ids(`key=${String(row?.['api_key_hash'])}&user_id=${String(row?.['user_id'])}`)).toEqual([failed, good])
    expect(await ids(`key=${'0'.repeat(64)}`)).toEqual([])
    expect(await ids('user_id=nobody')).toEqual([])
    expect((await list(`request_id=${String(row?.['request_id'])}`)).page.data.map(({ id }) => id)).toEqual([failed])
    expect(await ids('from=2026-01-01T00:00:00Z&to=2026-01-02T00:00:00Z')).toEqual([])
  })

  test.each([
    'from=2026-01-02&to=2026-01-01',
    'status=fine',
    'error_type=nothing',
    'interface=telnet',
    'limit=0',
    'limit=101',
    'cursor=abc',
    'cursor=WyIyMDI2LTExLTIwVDEwOjAwOjAwLjAwMFoiXQ',
    'from=yesterday',
    'from=2026-01-01&to=2026-03-01',
    'key=abc',
    'min_cost_usd=-1',
  ])('400: %s', async (query) => {
    const { status } = await list(query)
    expect(status).toBe(400)
  })

  test.each(['/generations', '/usage', '/audit-log'])('400, with one advice everywhere: %s from a time after its end', async (path) => {
    const { error } = await call(service, 'GET', `${path}?from=2026-01-02&to=2026-01-01`)
    expect([error.code, error.metadata['reason']]).toEqual([400, 'from: Use a time that is not after to.'])
  })

  test('401 without a key, 403 for a key that calls models, 404 for a workspace that does not exist', async () => {
    expect((await call(service, 'GET', '/generations', { key: null })).status).toBe(401)
    expect((await list('', service.inferenceKey)).status).toBe(403)
    expect((await list('workspace_id=elsewhere')).status).toBe(404)
  })

  test('a key of another workspace sees nothing of this one', async () => {
    await ask()
    const { json } = await call(service, 'POST', '/workspaces', { body: { name: 'Other', slug: `other-${Date.now()}` } })
    const workspaceId = (json as { data: { id: string } }).data.id
    const { key } = await createKey(service, { name: 'other', kind: 'management', workspace_id: workspaceId })
    expect((await list('', key)).page.data).toEqual([])
    expect((await list(`workspace_id=${workspaceId}`)).page.data).toEqual([])
  })

  test('as a table it has every row, exact amounts and no formula, and the export is in the audit log', async () => {
    const session = `=cmd|' /C calc'!A0,"${crypto.randomUUID()}"`
    for (let count = 0; count < 3; count += 1) await ask({}, { session_id: session })
    const table = await call(service, 'GET', `/generations?session_id=${encodeURIComponent(session)}&limit=1`, {
      headers: { accept: 'text/csv' },
    })
    expect(table.headers.get('content-type')).toStartWith('text/csv')
    const lines = table.text.trimEnd().split('\r\n')
    expect(lines).toHaveLength(4)
    expect(lines[0]).toStartWith('id,created_at,request_id')
    expect(lines[1]).toContain(`"'${session.replaceAll('"', '""')}"`)
    expect(lines[1]).toContain(',0.00001,0,true,')
    const audit = await call(service, 'GET', '/audit-log?object_type=generations')
    expect(audit.json).toMatchObject({ data: [{ action: 'exported' }] })
  })

  test('400: text that no record can hold, in a filter of the list and of the stream', async () => {
    for (const path of ['/generations', '/generations/stream']) {
      expect((await call(service, 'GET', `${path}?request_id=%00`)).json).toMatchObject({
        error: { metadata: { issues: [{ path: 'request_id', message: 'Use well-formed text without U+0000.' }] } },
      })
    }
  })

  test('the stream sends requests as they end, with the same filters, and how many it left out', async () => {
    const session = `s-${crypto.randomUUID()}`
    const controller = new AbortController()
    const response = await fetch(`${service.api}/generations/stream?session_id=${session}`, {
      headers: { authorization: `Bearer ${service.managementKey}` },
      signal: controller.signal,
    })
    expect(response.headers.get('content-type')).toStartWith('text/event-stream')
    await ask({}, { session_id: 'another' })
    const id = await ask({}, { session_id: session })
    let text = ''
    const decoder = new TextDecoder()
    for await (const piece of response.body as unknown as AsyncIterable<Uint8Array>) {
      text += decoder.decode(piece, { stream: true })
      if (text.includes(id)) break
    }
    controller.abort()
    const reported = [...text.matchAll(/^event: generation\ndata: (.*)$/gm)].map(([, data]) => (JSON.parse(data ?? '') as RowWire).id)
    expect(reported).toEqual([id])
  })
})

describe('usage', () => {
  interface UsageWire {
    readonly data: readonly {
      readonly time: string
      readonly cost: number
      readonly requests: number
      readonly [member: string]: unknown
    }[]
    readonly groups: readonly { readonly cost: number; readonly requests: number; readonly [member: string]: unknown }[]
  }
  const usage = async (query: string, key: string | null = service.managementKey) => {
    const answer = await call(service, 'GET', `/usage?${query}`, { key })
    return { ...answer, usage: answer.json as UsageWire }
  }

  test('spending is visible at once, by key, model and preset, and the sums agree', async () => {
    await infer(service, { model: 'fake/good', messages: [{ role: 'user', content: 'hi' }] })
    const { credits } = { credits: await call(service, 'GET', '/key', { key: service.inferenceKey }) }
    const spent = (credits.json as { data: { usage: number } }).data.usage
    expect(spent).toBeGreaterThan(0)
    for (const grouping of ['', 'key', 'model,key', 'preset,preset_version', 'interface,error_type', 'user,workspace', 'provider']) {
      const answer = await usage(`interval=hour&group_by=${grouping}`)
      expect([grouping, answer.status, answer.text]).toEqual([grouping, 200, expect.any(String) as string])
      const { data, groups } = answer.usage
      const nanos = (list: readonly { readonly cost: number }[]) => list.reduce((sum, { cost }) => sum + Math.round(cost * 1e9), 0)
      expect([nanos(data), nanos(groups)]).toEqual([Math.round(spent * 1e9), Math.round(spent * 1e9)])
    }
    const { groups } = (await usage('group_by=key,workspace')).usage
    expect(groups[0]).toMatchObject({ key_name: 'First inference key', workspace_slug: 'default', errors: expect.any(Number) as number })
    const table = await call(service, 'GET', '/usage?group_by=model', { headers: { accept: 'text/csv' } })
    const head = table.text.split('\r\n')[0]
    const entries = (await call(service, 'GET', '/audit-log?action=exported&object_id=usage')).json as {
      data: readonly { after: unknown }[]
    }
    expect(entries.data.map(({ after }) => after)).toEqual([{ group_by: 'model' }])
    expect(head).toStartWith('time,model,other,requests')
    expect(head).toEndWith('ttft_p50_ms,ttft_p95_ms,total_p50_ms,total_p95_ms,ttft_p99_ms,total_p99_ms')
  })

  test('what a person spent has their id and their name, in JSON and as a table; the names of another workspace are not told', async () => {
    await call(service, 'POST', '/workspaces', { body: { name: 'Nearby', slug: 'nearby' } })
    for (const [workspace, name] of [
      ['default', 'Rosa Luna'],
      ['nearby', 'Zita Nearby'],
    ] as const) {
      await call(service, 'POST', `/workspaces/${workspace}/members/add`, { body: { user_ids: ['rosa'] } })
      expect((await call(service, 'PATCH', `/workspaces/${workspace}/members/rosa`, { body: { name } })).status).toBe(200)
    }
    const { key } = await createKey(service, { name: 'of Rosa', creator_user_id: 'rosa' })
    await infer({ ...service, inferenceKey: key }, { model: 'fake/good', messages: [{ role: 'user', content: 'hi' }] })
    const table = await call(service, 'GET', '/usage?group_by=user,key&workspace_id=default', { headers: { accept: 'text/csv' } })
    expect(await usage('group_by=user&workspace_id=default')).toMatchObject({
      usage: { groups: expect.arrayContaining([expect.objectContaining({ user: 'rosa', user_name: 'Rosa Luna' })]) as unknown },
    })
    const [head = '', ...lines] = table.text.split('\r\n')
    const line = lines.find((one) => one.includes(',rosa,')) ?? ''
    const cells = Object.fromEntries(head.split(',').map((name, at) => [name, line.split(',')[at]]))
    expect(cells).toMatchObject({ user: 'rosa', key_name: 'of Rosa', user_name: 'Rosa Luna' })
  })

  test('the groups are those with the most failures if the query says so, of kinds of failure too, however little they cost', async () => {
    const { key, data } = await createKey(service, { name: 'fails for nothing' })
    const { hash } = data
    failing(400)
    for (let turn = 0; turn < 20; turn += 1)
      await infer({ ...service, inferenceKey: key }, { model: 'fake/alone', messages: [{ role: 'user', content: 'hi' }] })
    const groups = async (query: string) => (await usage(`top=1&${query}`)).usage.groups
    expect((await groups('group_by=key'))[0]).not.toMatchObject({ key: hash })
    expect((await groups('group_by=key&sort=errors'))[0]).toMatchObject({ key: hash, requests: 20, errors: 20, cost: 0 })
    const [type] = await groups(`group_by=error_type&sort=errors&key=${hash}`)
    expect(type).toMatchObject({ error_type: 'invalid_request', errors: 20 })
    const list = await call(service, 'GET', `/generations?key=${hash}&error_type=invalid_request&limit=100`)
    expect((list.json as { data: unknown[] }).data).toHaveLength(20)
  })

  test.each([
    'interval=week',
    'sort=failures',
    'group_by=colour',
    'group_by=key,model,user',
    'group_by=key,key',
    'top=0',
    'interval=minute&from=2026-01-01&to=2026-01-02',
    'from=2026-02-01&to=2026-01-01',
  ])('400: %s', async (query) => {
    expect((await usage(query)).status).toBe(400)
  })

  test('401, 403 and 404', async () => {
    expect((await usage('', null)).status).toBe(401)
    expect((await usage('', service.inferenceKey)).status).toBe(403)
    expect((await usage('workspace_id=nowhere')).status).toBe(404)
  })
})

test("a member sees only the member's own requests and use: in the list, as a table, by id, in the sums", async () => {
  const member = await signInAs(service, { user_id: 'mia', role: 'member' })
  const { key } = await createKey(service, { name: "Mia's", creator_user_id: 'mia' })
  const ask = async (asking?: string) => {
    const body = { model: 'fake/good', messages: [{ role: 'user', content: 'hi' }] }
    return (await infer(service, body, asking === undefined ? {} : { key: asking })).headers.get('x-generation-id') ?? ''
  }
  const foreign = await ask()
  const own = await ask(key)
  const { data } = (await member.ask('GET', '/generations')).json as { data: readonly { id: string }[] }
  expect(data.map(({ id }) => id)).toEqual([own])
  expect((await member.ask('GET', '/generations?user_id=somebody-else')).json).toMatchObject({ data: [] })
  const table = await member.ask('GET', '/generations', { headers: { accept: 'text/csv' } })
  expect(table.text).toContain(own)
  expect(table.text).not.toContain(foreign)
  expect((await member.ask('GET', `/generation?id=${own}`)).status).toBe(200)
  expect((await member.ask('GET', `/generation?id=${foreign}`)).status).toBe(404)
  const usage = (await member.ask('GET', '/usage?group_by=user')).json as { groups: readonly { user: string; requests: number }[] }
  expect(usage.groups.map(({ user, requests }) => [user, requests])).toEqual([['mia', 1]])
  expect((await member.ask('GET', '/generations?workspace_id=elsewhere')).status).toBe(404)
})

test('if one answer cannot look through all records, minutes are reported by the hour, with the reason', async () => {
  const first = await services.start()
  await call(first, 'POST', '/chat/completions', {
    key: first.inferenceKey,
    body: { model: 'sandbox/echo', messages: [{ role: 'user', content: 'Hi' }] },
  })
  const minutes = async (of: StartedService) => (await call(of, 'GET', '/usage?interval=minute')).json
  expect(await minutes(first)).toMatchObject({ interval: 'minute', coarser: null })
  await first.stop()
  const database = new Database(join(first.dataDir, 'patchbay.db'))
  database.run(`with recursive n(i) as (select 1 union all select i + 1 from n where i < 50000)
    insert into generations (id, created_at, workspace_id, key_hash, model, streamed, cancelled, tokens_prompt, tokens_completion, cost_nanos, byok_cost_nanos, record)
    select 'copy-' || i, created_at, workspace_id, key_hash, model, 0, 0, 1, 1, 0, 0, '{}' from n, generations where model = 'sandbox/echo'`)
  database.close()
  const service = { ...(await services.start({ dataDir: first.dataDir })), managementKey: first.managementKey }
  const dense = (await minutes(service)) as { from: string; to: string; data: readonly { time: string }[] }
  expect(dense).toMatchObject({ interval: 'hour', coarser: { asked: 'minute', reason: 'too_many_records', records_max: 50_000 } })
  // The hours are the whole hours of the roll-up, and include what was settled.
  expect([dense.from, dense.to, ...dense.data.map(({ time }) => time)].filter((time) => !time.endsWith(':00:00.000Z'))).toEqual([])
  expect(dense).toMatchObject({ groups: [{ requests: 1 }] })
})
