/** Workspaces over HTTP and through `@openrouter/sdk`: the keys of one workspace cannot see what belongs to another. */
import { OpenRouter } from '@openrouter/sdk'
import { beforeAll, describe, expect, test } from 'bun:test'

import { type Answer, call, infer, savePreset } from '../support/calls.ts'
import { say, startFakeUpstream } from '../support/fake-upstream.ts'
import { type StartedService, useServices } from '../support/started-service.ts'

const services = useServices()
let service: StartedService
let root: OpenRouter
/** The id and keys of a second workspace. */
let other: { id: string; management: string; inference: string; hash: string }

const client = (apiKey: string): OpenRouter => new OpenRouter({ apiKey, serverURL: service.api, retryConfig: { strategy: 'none' } })

const dataOf = (answer: Answer): unknown => (answer.json as { data: unknown }).data

const makeKey = async (body: object, key?: string): Promise<{ key: string; data: { hash: string; workspace_id: string } }> => {
  const made = await call(service, 'POST', '/keys', { body, ...(key === undefined ? {} : { key }) })
  expect(made.status).toBe(201)
  return made.json as { key: string; data: { hash: string; workspace_id: string } }
}

beforeAll(async () => {
  service = await services.start()
  root = client(service.managementKey)
  const { data } = await root.workspaces.create({ createWorkspaceRequest: { name: 'Search', slug: 'search' } })
  const management = await makeKey({ name: 'its manager', kind: 'management', workspace_id: data.id })
  const inference = await makeKey({ name: 'its caller' }, management.key)
  expect([management.data.workspace_id, inference.data.workspace_id]).toEqual([data.id, data.id])
  other = { id: data.id, management: management.key, inference: inference.key, hash: inference.data.hash }
})

describe('@openrouter/sdk', () => {
  test('create, get by id and by slug, update, list, delete', async () => {
    const { data } = await root.workspaces.create({
      createWorkspaceRequest: { name: 'Passing', slug: 'passing', description: 'For a while.', defaultTextModel: 'sandbox/echo' },
    })
    expect(data).toMatchObject({ name: 'Passing', slug: 'passing', defaultTextModel: 'sandbox/echo', includeByokInBudgets: false })
    expect((await root.workspaces.get({ id: 'passing' })).data).toEqual(data)
    expect((await root.workspaces.get({ id: data.id })).data.defaultGuardrailId).toBe(data.defaultGuardrailId)
    const updated = await root.workspaces.update({
      id: 'passing',
      updateWorkspaceRequest: { name: 'Passed', description: null, ioLoggingSamplingRate: 0.5 },
    })
    expect(updated.data).toMatchObject({ name: 'Passed', description: null, ioLoggingSamplingRate: 0.5, defaultTextModel: 'sandbox/echo' })
    const slugs: string[] = []
    for await (const page of await root.workspaces.list({ limit: 2 })) slugs.push(...page.result.data.map(({ slug }) => slug))
    expect(slugs).toEqual(['default', 'search', 'passing'])
    expect(await root.workspaces.delete({ id: 'passing' })).toMatchObject({ deleted: true })
    expect((await call(service, 'GET', '/workspaces/passing')).status).toBe(404)
    // The slug is free again.
    expect((await call(service, 'POST', '/workspaces', { body: { name: 'Again', slug: 'passing' } })).status).toBe(201)
    await call(service, 'DELETE', '/workspaces/passing')
  })

  test('members: added once, listed, removed', async () => {
    const add = (userIds: string[]) => root.workspaces.bulkAddMembers({ id: 'search', bulkAddWorkspaceMembersRequest: { userIds } })
    expect(await add(['user_ada', 'user_grace', 'user_ada'])).toMatchObject({ addedCount: 2 })
    expect(await add(['user_grace'])).toMatchObject({ addedCount: 0, data: [] })
    const users: (string | undefined)[] = []
    for await (const page of await root.workspaces.listMembers({ id: other.id, limit: 2 })) {
      users.push(...page.result.data.map(({ userId, role }) => `${userId} ${role}`))
    }
    const [owner, ...added] = users
    expect(owner).toMatch(/^user_[0-9a-f-]{36} admin$/)
    expect(added.toSorted((a = '', b = '') => (a < b ? -1 : 1))).toEqual(['user_ada member', 'user_grace member'])
    const remove = { id: other.id, bulkRemoveWorkspaceMembersRequest: { userIds: ['user_grace', 'user_nobody'] } }
    expect(await root.workspaces.bulkRemoveMembers(remove)).toEqual({ removedCount: 1 })
  })
})

describe('a workspace', () => {
  test('409: a slug that is taken, with a reason that names it', async () => {
    const answers = [
      ...(await Promise.all(['search', 'default'].map((slug) => call(service, 'POST', '/workspaces', { body: { name: 'x', slug } })))),
      await call(service, 'PATCH', '/workspaces/search', { body: { slug: 'default' } }),
    ]
    for (const { status, error } of answers) {
      expect([status, error.metadata]).toEqual([
        409,
        { error_type: 'conflict', reason: expect.stringMatching(/^slug: there is a workspace "\w+" already\.$/) },
      ])
    }
  })

  test('400: a slug that is none, or has the form of an id, which in a path could mean either', async () => {
    for (const slug of ['Search!', '-', 'a--b', '', other.id, '3f2b8c1e-8a54-4c39-9d7f-0a1b2c3d4e5f']) {
      expect((await call(service, 'POST', '/workspaces', { body: { name: 'x', slug } })).status).toBe(400)
    }
    expect((await call(service, 'PATCH', '/workspaces/search', { body: { slug: other.id } })).status).toBe(400)
    expect((await call(service, 'PATCH', '/workspaces/default', { body: { slug: 'moved' } })).status).toBe(400)
  })

  test('400: it has keys still, or it is the default one', async () => {
    const { error } = await call(service, 'DELETE', '/workspaces/search')
    expect(error).toMatchObject({ code: 400, metadata: { reason: 'The workspace still has API keys: revoke them first.' } })
    expect((await call(service, 'DELETE', '/workspaces/default')).status).toBe(400)
  })

  test('400: a member who has keys stays', async () => {
    await call(service, 'POST', '/workspaces/search/members/add', { body: { user_ids: ['user_busy'] } })
    const made = await makeKey({ name: 'busy', workspace_id: other.id, creator_user_id: 'user_busy' })
    const remove = () => call(service, 'POST', '/workspaces/search/members/remove', { body: { user_ids: ['user_busy'] } })
    expect((await remove()).error.metadata['reason']).toContain('user_busy')
    await call(service, 'DELETE', `/keys/${made.data.hash}?workspace_id=${other.id}`)
    expect((await remove()).json).toEqual({ removed_count: 1 })
  })
})

describe('what belongs to a workspace', () => {
  test('404: keys of another one are not read, changed or revoked', async () => {
    const own = (dataOf(await call(service, 'GET', '/keys')) as { hash: string }[]).map(({ hash }) => hash)
    for (const hash of own) {
      for (const [method, body] of [['GET'], ['PATCH', { disabled: true }], ['DELETE']] as const) {
        expect((await call(service, method, `/keys/${hash}`, { key: other.management, body })).status).toBe(404)
      }
    }
    expect((await call(service, 'GET', `/keys/${other.hash}?workspace_id=default`)).status).toBe(404)
    expect((await call(service, 'GET', `/keys/${other.hash}?workspace_id=${other.id}`)).status).toBe(200)
    const listed = dataOf(await call(service, 'GET', '/keys', { key: other.management })) as { workspace_id: string }[]
    expect(new Set(listed.map(({ workspace_id }) => workspace_id))).toEqual(new Set([other.id]))
  })

  test('404: guardrails of another one are not there, and keys of the default one reach them by `workspace_id`', async () => {
    const inSearch = `?workspace_id=${other.id}`
    const { id } = dataOf(await call(service, 'POST', '/guardrails', { body: { name: 'theirs', workspace_id: 'search' } })) as {
      id: string
    }
    const mine = dataOf(await call(service, 'POST', '/guardrails', { body: { name: 'ours' } })) as { id: string; workspace_id: string }
    const operations = [
      ['PATCH', '', { name: 'x' }],
      ['POST', '/assignments/keys', { key_hashes: [other.hash] }],
      ['GET', '/assignments/keys'],
      ['POST', '/assignments/keys/remove', { key_hashes: [other.hash] }],
      ['POST', '/assignments/members', { member_user_ids: ['user_ada'] }],
      ['GET', '/assignments/members'],
      ['POST', '/assignments/members/remove', { member_user_ids: ['user_ada'] }],
      ['GET', ''],
      ['DELETE', ''],
    ] as const
    await call(service, 'POST', '/workspaces/search/members/add', { body: { user_ids: ['user_ada'] } })
    for (const [method, path, body] of operations) {
      const theirs = { key: other.management, body }
      expect((await call(service, method, `/guardrails/${mine.id}${path}`, theirs)).status).toBe(404)
      expect((await call(service, method, `/guardrails/${id}${path}?workspace_id=${mine.workspace_id}`, theirs)).status).toBe(404)
      expect((await call(service, method, `/guardrails/${id}${path}?workspace_id=default`, { body })).status).toBe(404)
      expect((await call(service, method, `/guardrails/${id}${path}${inSearch}`, { body })).status).toBe(200)
    }
    for (const path of ['/guardrails', '/guardrails/assignments/keys', '/guardrails/assignments/members']) {
      expect((await call(service, 'GET', `${path}?workspace_id=default`, { key: other.management })).status).toBe(404)
      expect((await call(service, 'GET', `${path}${inSearch}`)).json).toEqual({ data: [], total_count: 0 })
    }
    expect(
      (await call(service, 'POST', '/guardrails', { key: other.management, body: { name: 'x', workspace_id: 'default' } })).status,
    ).toBe(404)
    // A guardrail only concerns its own workspace: a key or member of another cannot be assigned.
    const assign = { key_hashes: [other.hash] }
    expect((await call(service, 'POST', `/guardrails/${mine.id}/assignments/keys`, { body: assign })).status).toBe(404)
    expect((await call(service, 'GET', '/guardrails/default', { key: other.management })).text).toContain(other.id)
    expect((await call(service, 'DELETE', `/guardrails/${mine.id}`)).status).toBe(200)
  })

  test('404: presets and generations of another one are not there', async () => {
    await savePreset(service, 'ours', { model: 'sandbox/echo' })
    for (const [method, path] of [
      ['GET', '/presets/ours'],
      ['DELETE', '/presets/ours'],
      ['GET', '/presets/ours/versions'],
    ] as const) {
      expect((await call(service, method, path, { key: other.management })).status).toBe(404)
    }
    const body = { model: '@preset/ours', messages: [{ role: 'user', content: 'Hi' }] }
    expect((await infer(service, body, { key: other.inference })).status).toBe(404)
    const answered = await infer(service, body)
    const id = (answered.json as { id: string }).id
    expect((await call(service, 'GET', `/generation?id=${id}`, { key: service.inferenceKey })).status).toBe(200)
    expect((await call(service, 'GET', `/generation?id=${id}`, { key: other.management })).status).toBe(404)
    const models = await call(service, 'GET', '/models', { key: other.inference })
    expect(models.text).not.toContain('@preset/ours')
    // The same slug is another preset there.
    await call(service, 'POST', '/presets/ours/responses', { key: other.management, body: { model: 'sandbox/lorem' } })
    expect((await call(service, 'GET', '/presets/ours')).preset.designated_version.config).toEqual({ model: 'sandbox/echo' })
  })

  test('404: the keys of one reach no other, by id, by slug or in a body; those of the default one reach all', async () => {
    const all = await call(service, 'GET', '/workspaces')
    const [mine] = dataOf(all) as { id: string }[]
    for (const ref of [mine?.id ?? '', 'default', 'never']) {
      for (const [method, path, body] of [
        ['GET', `/workspaces/${ref}`],
        ['PATCH', `/workspaces/${ref}`, { name: 'taken over' }],
        ['GET', `/workspaces/${ref}/members`],
        ['POST', `/workspaces/${ref}/members/add`, { user_ids: ['x'] }],
        ['POST', `/workspaces/${ref}/members/remove`, { user_ids: ['x'] }],
        ['GET', `/keys?workspace_id=${ref}`],
        ['GET', `/audit-log?workspace_id=${ref}`],
        ['POST', '/keys', { name: 'x', workspace_id: ref }],
      ] as const) {
        expect([path, (await call(service, method, path, { key: other.management, body })).status]).toEqual([path, 404])
      }
    }
    expect((await call(service, 'GET', '/workspaces', { key: other.management })).json).toMatchObject({
      data: [{ id: other.id }],
      total_count: 1,
    })
  })

  test('400: two workspaces in one request, even where unknown parameters are ignored; null or an empty name is none', async () => {
    const [one, two] = ['workspace_id=default', 'workspace_id=search']
    for (const path of ['/files', '/keys']) {
      for (const query of [`${one}&${two}`, `${two}&${one}`])
        expect([path, (await call(service, 'GET', `${path}?${query}`)).status]).toEqual([path, 400])
    }
    for (const query of [`${two}&${two}`, `workspace_id=&${two}`]) expect((await call(service, 'GET', `/files?${query}`)).status).toBe(200)
    expect((await call(service, 'POST', `/keys?${one}`, { body: { name: 'x', workspace_id: other.id } })).status).toBe(400)
    const made = await call(service, 'POST', `/keys?${two}`, { body: { name: 'x', workspace_id: null } })
    expect([made.status, dataOf(made)]).toMatchObject([201, { workspace_id: other.id }])
  })

  test('200: with include=figures, members, keys, spend of the month, budgets with what each counts, and credit; anything else to include is 400', async () => {
    const upstream = await startFakeUpstream()
    const lone = await services.start({
      config: `
providers: { acme: { dialects: [openai-chat], base_url: "${upstream.url}", api_key: k } }
models: { acme/dear: { endpoints: [{ provider: acme, model: dear, prices: { prompt: 1, completion: 1000 } }] } }`,
    })
    for (const slug of ['quiet', 'busy']) await call(lone, 'POST', '/workspaces', { body: { name: slug, slug } })
    await call(lone, 'POST', '/workspaces/busy/members/add', { body: { user_ids: ['ada', 'grace'] } })
    const made = (await call(lone, 'POST', '/keys?workspace_id=busy', { body: { name: 'used' } })).json as { key: string }
    const gone = (await call(lone, 'POST', '/keys?workspace_id=busy', { body: { name: 'gone' } })).json as { data: { hash: string } }
    await call(lone, 'DELETE', `/keys/${gone.data.hash}`)
    await call(lone, 'PUT', '/workspaces/busy/budgets/daily', { body: { limit_usd: 5 } })
    await call(lone, 'PUT', '/workspaces/busy/budgets/monthly', { body: { limit_usd: 50.5, include_byok_in_budgets: true } })
    for (const amount_usd of [20, -5]) await call(lone, 'POST', '/credits?workspace_id=busy', { body: { amount_usd } })
    upstream.script(say('Hi.'))
    await infer(lone, { model: 'acme/dear', max_tokens: 5, messages: [{ role: 'user', content: 'Hi' }] }, { key: made.key })
    // A budget that comes later counts what was spent in its window before.
    await call(lone, 'PUT', '/workspaces/busy/budgets/weekly', { body: { limit_usd: 20 } })
    type Listed = { slug: string; include_byok_in_budgets: boolean; figures: object }
    const rows = dataOf(await call(lone, 'GET', '/workspaces?include=figures')) as Listed[]
    const figuresOf = (wanted: string) => rows.find(({ slug }) => slug === wanted)?.figures
    expect(figuresOf('quiet')).toEqual({ members: 1, keys: 0, spend_this_month: 0, budgets: [], credit: null })
    expect(figuresOf('busy')).toEqual({
      members: 3,
      keys: 1,
      spend_this_month: 0.003007,
      budgets: [
        { limit_usd: 50.5, reset_interval: 'monthly', spend_usd: 0.003007 },
        { limit_usd: 20, reset_interval: 'weekly', spend_usd: 0.003007 },
        { limit_usd: 5, reset_interval: 'daily', spend_usd: 0.003007 },
      ],
      credit: { total_credits: 15, total_usage: 0.003007, is_enforced: false },
    })
    expect(rows.map((row) => [row.slug, row.include_byok_in_budgets])).toEqual([
      ['default', false],
      ['quiet', false],
      ['busy', true],
    ])
    const own = dataOf(await call(lone, 'GET', '/workspaces')) as object[]
    expect(own[0]).not.toHaveProperty('figures')
    expect((await call(lone, 'GET', '/workspaces?include=everything')).status).toBe(400)
  })

  test('403: only keys of the default workspace make and delete workspaces', async () => {
    const made = await call(service, 'POST', '/workspaces', { key: other.management, body: { name: 'x', slug: 'more' } })
    expect([made.status, (await call(service, 'DELETE', '/workspaces/search', { key: other.management })).status]).toEqual([403, 403])
  })

  test('400: a key cannot be made in the name of somebody who has no part in the workspace', async () => {
    const body = { name: 'x', creator_user_id: 'user_stranger' }
    expect((await call(service, 'POST', '/keys', { key: other.management, body })).status).toBe(400)
    expect((await call(service, 'POST', '/keys', { body })).status).toBe(400)
  })
})

describe('the audit log', () => {
  interface Entry {
    readonly id: string
    readonly action: string
    readonly object_type: string
    readonly object_id: string
    readonly key_hash: string | null
    readonly workspace_id: string
  }

  test('tells who did what, under the id of the request; from the shell without a key', async () => {
    const made = await call(service, 'POST', '/keys', { body: { name: 'watched' } })
    const { hash } = dataOf(made) as { hash: string }
    const log = await call(service, 'GET', `/audit-log?object_id=${hash}`)
    const [entry] = dataOf(log) as Entry[]
    expect(entry).toMatchObject({ id: made.headers.get('x-request-id'), action: 'created', object_type: 'api_key', before: null })
    expect(entry?.key_hash).toMatch(/^[0-9a-f]{64}$/)
    await services.run(['keys', 'revoke', hash, '--data-dir', service.dataDir])
    const entries = dataOf(await call(service, 'GET', `/audit-log?object_id=${hash}&limit=1`)) as Entry[]
    expect(entries).toMatchObject([{ action: 'revoked', key_hash: null }])
  })

  test("a key sees its own workspace's; one of the default workspace sees all", async () => {
    const workspacesIn = async (key: string): Promise<Set<string>> =>
      new Set((dataOf(await call(service, 'GET', '/audit-log?limit=100', { key })) as Entry[]).map(({ workspace_id }) => workspace_id))
    expect(await workspacesIn(other.management)).toEqual(new Set([other.id]))
    expect((await workspacesIn(service.managementKey)).size).toBeGreaterThan(1)
  })
})
