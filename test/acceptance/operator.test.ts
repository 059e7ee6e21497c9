/** The operator, with a management key of the default workspace, and a tenant, with a key of another workspace. */
import { beforeAll, describe, expect, test } from 'bun:test'

import { type Answer, call, infer } from '../support/calls.ts'
import { type StartedService, until, useServices } from '../support/started-service.ts'

const services = useServices()
let service: StartedService
let operator: string
let tenant: { readonly id: string; readonly management: string; readonly inference: string; readonly hash: string }
let stranger: { readonly id: string; readonly management: string }

interface MadeObject {
  readonly id: string
  readonly hash: string
  readonly default_guardrail_id: string
}

const dataOf = (answer: Answer): MadeObject => (answer.json as { data: MadeObject }).data

const made = async (path: string, body: object, key?: string): Promise<Answer> => {
  const answer = await call(service, 'POST', path, { body, ...(key === undefined ? {} : { key }) })
  expect([path, answer.status]).toEqual([path, 201])
  return answer
}

const makeWorkspace = async (slug: string): Promise<{ id: string; management: string }> => {
  const { id } = dataOf(await made('/workspaces', { name: slug, slug }))
  const { key } = (await made('/keys', { name: 'manager', kind: 'management', workspace_id: id })).json as { key: string }
  return { id, management: key }
}

beforeAll(async () => {
  service = await services.start({
    config: 'providers:\n  fake: { name: Fake, dialects: [openai-chat], base_url: "http://127.0.0.1:9", api_key: sk-shared-0123456789 }\n',
  })
  operator = service.managementKey
  // The operator's own, which is not taken for a tenant's.
  await made('/guardrails', { name: 'x' })
  stranger = await makeWorkspace('stranger')
  const own = await makeWorkspace('tenant')
  const inference = (await made('/keys', { name: 'caller' }, own.management)).json as { key: string; data: { hash: string } }
  tenant = { ...own, inference: inference.key, hash: inference.data.hash }
})

const echo = { model: 'sandbox/echo', messages: [{ role: 'user', content: 'Hi' }] }

describe('the operator reads, changes and deletes what belongs to a tenant by its id alone, and no other tenant does', () => {
  /** For each kind, how the tenant creates one, and every operation on it, deletion last. */
  const objects: readonly [string, () => Promise<string>, readonly (readonly [string, string, object?])[]][] = [
    [
      'an API key',
      async () => `/keys/${dataOf(await made('/keys', { name: 'x' }, tenant.management)).hash}`,
      [
        ['GET', ''],
        ['PATCH', '', { name: 'changed' }],
        ['DELETE', ''],
      ],
    ],
    [
      'a guardrail',
      async () => `/guardrails/${dataOf(await made('/guardrails', { name: 'x' }, tenant.management)).id}`,
      [
        ['GET', ''],
        ['PATCH', '', { name: 'changed' }],
        [
          'POST',
          '/assignments/keys',
          {
            get key_hashes() {
              return [tenant.hash]
            },
          },
        ],
        ['GET', '/assignments/keys'],
        [
          'POST',
          '/assignments/keys/remove',
          {
            get key_hashes() {
              return [tenant.hash]
            },
          },
        ],
        ['GET', '/assignments/members'],
        ['DELETE', ''],
      ],
    ],
    [
      "a workspace's own guardrail, before it was written",
      async () => {
        const { id } = await makeWorkspace(`fresh-${crypto.randomUUID().slice(0, 8)}`)
        return `/guardrails/${dataOf(await call(service, 'GET', `/workspaces/${id}`)).default_guardrail_id}`
      },
      [
        ['GET', ''],
        ['PATCH', '', { description: 'changed' }],
        ['DELETE', ''],
      ],
    ],
    [
      'a provider key',
      async () => `/byok/${dataOf(await made('/byok', { provider: 'fake', key: 'sk-own-credential-0123' }, tenant.management)).id}`,
      [
        ['GET', ''],
        ['PATCH', '', { name: 'changed' }],
        ['DELETE', ''],
      ],
    ],
    [
      'a budget',
      async () => {
        await call(service, 'PUT', `/workspaces/${tenant.id}/budgets/daily`, { key: tenant.management, body: { limit_usd: 1 } })
        return `/workspaces/${tenant.id}/budgets/daily`
      },
      [
        ['GET', ''],
        ['PUT', '', { limit_usd: 2 }],
        ['DELETE', ''],
      ],
    ],
    [
      'members',
      async () => `/workspaces/${tenant.id}/members`,
      [
        ['GET', ''],
        ['POST', '/add', { user_ids: ['ada'] }],
        ['POST', '/remove', { user_ids: ['ada'] }],
      ],
    ],
    [
      'a generation',
      async () => `/generation?id=${(await infer(service, echo, { key: tenant.inference })).headers.get('x-generation-id')}`,
      [['GET', '']],
    ],
  ]

  test.each(objects)('%s', async (_, make, operations) => {
    const path = await make()
    for (const [method, rest, body] of operations) {
      const as = (key: string) => call(service, method, path + rest, { key, ...(body === undefined ? {} : { body }) })
      expect([method, rest, (await as(stranger.management)).status]).toEqual([method, rest, 404])
      expect([method, rest, (await as(operator)).status]).toEqual([method, rest, 200])
    }
  })

  test('presets, whose names are unique only within a workspace, by `workspace_id`', async () => {
    const inTenant = `?workspace_id=${tenant.id}`
    const saved = await call(service, 'POST', `/presets/shared/chat/completions${inTenant}`, { body: { model: 'sandbox/echo' } })
    expect([saved.status, saved.preset.workspace_id]).toEqual([200, tenant.id])
    expect((await call(service, 'GET', '/presets/shared')).status).toBe(404)
    expect((await call(service, 'GET', '/presets/shared', { key: tenant.management })).status).toBe(200)
    for (const [method, rest, body] of [
      ['GET', ''],
      ['GET', '/versions'],
      ['GET', '/versions/1'],
      ['PATCH', '', { name: 'changed' }],
      ['DELETE', ''],
    ] as const) {
      const as = (key: string) => call(service, method, `/presets/shared${rest}${inTenant}`, { key, body })
      expect([method, rest, (await as(stranger.management)).status]).toEqual([method, rest, 404])
      expect([method, rest, (await as(operator)).status]).toEqual([method, rest, 200])
    }
    expect((await call(service, 'GET', `/presets${inTenant}`)).presets).toMatchObject([{ slug: 'shared' }])
  })

  test('an inference key of the default workspace has no operator rights', async () => {
    const { headers } = await infer(service, echo, { key: tenant.inference })
    const path = `/generation?id=${headers.get('x-generation-id')}`
    expect((await call(service, 'GET', path, { key: service.inferenceKey })).status).toBe(404)
  })

  test("a tenant's leaked key stops working at once when the operator deletes it by its hash, and its list is the tenant's own", async () => {
    const leaked = (await made('/keys', { name: 'leaked' }, tenant.management)).json as { key: string; data: { hash: string } }
    expect((await infer(service, echo, { key: leaked.key })).status).toBe(200)
    expect((await call(service, 'DELETE', `/keys/${leaked.data.hash}`)).json).toEqual({ deleted: true })
    expect((await infer(service, echo, { key: leaked.key })).status).toBe(401)
    const log = ((await call(service, 'GET', `/audit-log?object_id=${leaked.data.hash}`)).json as { data: { workspace_id: string }[] }).data
    expect(new Set(log.map(({ workspace_id }) => workspace_id))).toEqual(new Set([tenant.id]))
  })

  test('in the shell, keys can be created in a workspace, listed for all or one, and revoked by their hash', async () => {
    const run = async (...args: readonly string[]): Promise<string> => {
      const { code, stdout } = await services.run(['keys', ...args, '--data-dir', service.dataDir])
      expect(code).toBe(0)
      return stdout
    }
    const { key, hash, workspace_id } = JSON.parse(await run('create', '--kind=inference', '--name=x', '--workspace=tenant', '--json')) as {
      key: string
      hash: string
      workspace_id: string
    }
    expect(workspace_id).toBe(tenant.id)
    expect([await run('list'), await run('list', '--workspace', tenant.id)].map((text) => text.includes(hash))).toEqual([true, true])
    expect((await run('list', '--workspace=default')).includes(hash)).toBe(false)
    await until(async () => (await infer(service, echo, { key })).status === 200, 'the new key')
    await run('revoke', hash)
    await until(async () => (await infer(service, echo, { key })).status === 401, 'the refusal')
  }, 300_000)
})

describe('workspace_id in the query', () => {
  interface Operation {
    readonly method: string
    readonly path: string
    readonly forPeople: boolean
    readonly declares: boolean
  }

  const operations = async (): Promise<readonly Operation[]> => {
    const document = (await (await fetch(`${service.url}/openapi.json`)).json()) as {
      paths: Record<string, Record<string, { parameters?: { name: string; in: string }[]; security: readonly object[] }>>
    }
    return Object.entries(document.paths)
      .filter(([path]) => path.startsWith('/api/v1'))
      .flatMap(([path, item]) =>
        Object.entries(item).map(([method, { parameters = [], security }]) => ({
          method: method.toUpperCase(),
          path: path.replace('/api/v1', '').replaceAll(/\{\w+\}/g, 'x'),
          forPeople: security.length === 1 && 'session' in (security[0] ?? {}),
          declares: parameters.some((parameter) => parameter.in === 'query' && parameter.name === 'workspace_id'),
        })),
      )
  }

  const ask = async ({ method, path }: Operation, workspace: string, key: string): Promise<Answer> =>
    call(service, method, `${path}?workspace_id=${workspace}`, { key, ...(method === 'GET' || method === 'DELETE' ? {} : { body: {} }) })

  test('is checked before anything else on every route that declares it: 404 for a workspace that the key does not reach', async () => {
    const declaring = (await operations()).filter(({ declares }) => declares)
    expect(declaring.length).toBeGreaterThan(30)
    for (const operation of declaring) {
      for (const [workspace, key] of [
        [stranger.id, tenant.management],
        ['no-such', operator],
      ] as const) {
        expect([operation.method, operation.path, (await ask(operation, workspace, key)).status]).toEqual([
          operation.method,
          operation.path,
          404,
        ])
      }
    }
  })

  test('is a 400 on every other route for any caller, so that no operation acts elsewhere than requested', async () => {
    // Operations that only people may use refuse keys before they read the query.
    const others = (await operations()).filter(({ declares, forPeople }) => !declares && !forPeople)
    expect(others.length).toBeGreaterThan(15)
    for (const operation of others) {
      const isInference =
        (await call(service, operation.method, operation.path, { body: operation.method === 'GET' ? undefined : {} })).status === 403
      const answer = await ask(operation, stranger.id, isInference ? service.inferenceKey : operator)
      expect([operation.method, operation.path, answer.status]).toEqual([operation.method, operation.path, 400])
      expect(answer.text).toContain('workspace_id')
    }
  })

  test('is a 400 if a body names another workspace than the query, or the query two', async () => {
    const body = { name: 'x', workspace_id: tenant.id }
    expect((await call(service, 'POST', `/keys?workspace_id=${stranger.id}`, { body })).status).toBe(400)
    expect((await call(service, 'GET', `/keys?workspace_id=${stranger.id}&workspace_id=${tenant.id}`)).status).toBe(400)
    expect((await call(service, 'POST', '/keys?workspace_id=tenant', { body })).status).toBe(201)
  })
})
