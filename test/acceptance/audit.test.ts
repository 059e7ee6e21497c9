/** Every operation with which a management key changes something adds exactly one entry to the audit log. */
import { afterAll, beforeAll, expect, test } from 'bun:test'

import { type Answer, call } from '../support/calls.ts'
import { describedCalls } from '../support/described-calls.ts'
import { startFakeUpstream } from '../support/fake-upstream.ts'
import { signInByKey } from '../support/signed-in.ts'
import { type StartedService, useServices } from '../support/started-service.ts'

const services = useServices()
const fake = await startFakeUpstream()
const held = Promise.withResolvers<void>()
afterAll(() => held.resolve())
let service: StartedService

beforeAll(async () => {
  service = await services.start({
    config: [
      `providers: { fake: { dialects: [openai-chat], base_url: "${fake.url}", api_key: shared } }`,
      'models: { fake/held: { endpoints: [{ provider: fake, model: up-held }] } }',
    ].join('\n'),
  })
  // The evaluation must stay as it is until the test changes it, so its requests are never answered.
  fake.script(() => held.promise)
})

const text = async (method: string, path: string, body?: unknown): Promise<Answer> => call(service, method, path, { body })
const dataOf = ({ json }: Answer): Record<string, string> => (json as { data: Record<string, string> }).data

const newKey = async (): Promise<string> => dataOf(await text('POST', '/keys', { name: 'x' }))['hash'] ?? ''
const newProviderKey = async (): Promise<string> =>
  dataOf(await text('POST', '/byok', { provider: 'fake', key: 'sk-1234567890' }))['id'] ?? ''
const newGuardrail = async (): Promise<string> => dataOf(await text('POST', '/guardrails', { name: 'x' }))['id'] ?? ''
const owner = async (): Promise<string> => dataOf(await text('GET', '/workspaces/default'))['created_by'] ?? ''
let workspaces = 0
const newWorkspace = async (): Promise<string> =>
  dataOf(await text('POST', '/workspaces', { name: 'x', slug: `walk-${(workspaces += 1)}` }))['slug'] ?? ''

const HELLO = [{ role: 'user', content: 'Hello!' }]
const SPLITS = [
  { version: 1, weight: 50 },
  { version: 2, weight: 50 },
]
let presets = 0
const newPreset = async (versions = 1): Promise<string> => {
  const slug = `walk-${(presets += 1)}`
  for (let version = 0; version < versions; version += 1) {
    await text('POST', `/presets/${slug}/messages`, { model: 'sandbox/echo', max_tokens: 100 })
  }
  return slug
}
const newEvaluation = async (slug: string): Promise<Answer> => {
  await text('POST', `/presets/${slug}/chat/completions`, { model: 'fake/held' })
  const key = dataOf(await text('POST', '/keys', { name: 'payer' }))['hash']
  return text('POST', `/presets/${slug}/evaluations`, {
    version: 2,
    items: [{ messages: HELLO, expected: 'Hello!' }],
    checks: [{ type: 'exact' }],
    key,
  })
}
let destinations = 0
const newDestination = (): Promise<Answer> =>
  text('POST', '/observability/destinations?skip_test=true', {
    name: `walk-${(destinations += 1)}`,
    type: 'webhook',
    config: { url: 'https://example.com/traces' },
  })

const upload = (): Promise<Answer> =>
  call(service, 'POST', '/files', {
    body: '--b\r\nContent-Disposition: form-data; name="file"; filename="walk.txt"\r\n\r\nx\r\n--b--',
    headers: { 'content-type': 'multipart/form-data; boundary=b' },
  })

/** Calls for the changing operations whose description does not show how to call them. */
const CHANGES: Readonly<Record<string, () => Promise<Answer>>> = {
  createPresetsResponses: () => text('POST', '/presets/walk/responses', { model: 'sandbox/echo' }),
  createPresetsMessages: () => text('POST', '/presets/walk/messages', { model: 'sandbox/echo', max_tokens: 1 }),
  createPresetsChatCompletions: () => text('POST', '/presets/walk/chat/completions', { model: 'sandbox/echo' }),
  updatePreset: () => text('PATCH', '/presets/walk', { description: 'changed' }),
  deletePreset: () => text('DELETE', '/presets/walk'),
  updateKeys: async () => text('PATCH', `/keys/${await newKey()}`, { disabled: true }),
  rotateKey: async () => text('POST', `/keys/${await newKey()}/rotate`, {}),
  deleteKeys: async () => text('DELETE', `/keys/${await newKey()}`),
  createWorkspace: () => text('POST', '/workspaces', { name: 'walk', slug: 'walk' }),
  updateWorkspace: async () => text('PATCH', `/workspaces/${await newWorkspace()}`, { name: 'y' }),
  deleteWorkspace: async () => text('DELETE', `/workspaces/${await newWorkspace()}`),
  addWorkspaceMembers: async () => text('POST', `/workspaces/${await newWorkspace()}/members/add`, { user_ids: ['a', 'b'] }),
  updateWorkspaceMember: async () => {
    const workspace = await newWorkspace()
    return text('PATCH', `/workspaces/${workspace}/members/${await owner()}`, { name: 'x' })
  },
  removeWorkspaceMembers: async () => {
    const workspace = await newWorkspace()
    await text('POST', `/workspaces/${workspace}/members/add`, { user_ids: ['a'] })
    return text('POST', `/workspaces/${workspace}/members/remove`, { user_ids: ['a'] })
  },
  putWorkspaceBudget: async () => text('PUT', `/workspaces/${await newWorkspace()}/budgets/daily`, { limit_usd: 1 }),
  deleteWorkspaceBudget: async () => {
    const workspace = await newWorkspace()
    await text('PUT', `/workspaces/${workspace}/budgets/daily`, { limit_usd: 1 })
    return text('DELETE', `/workspaces/${workspace}/budgets/daily`)
  },
  createLoginLink: () => text('POST', '/login-links', { user_id: 'walker' }),
  deleteSession: async () => text('DELETE', `/sessions/${(await signInByKey(service)).sessionId}`),
  createProviderKey: () => text('POST', '/byok', { provider: 'fake', key: 'sk-1234567890' }),
  updateProviderKey: async () => text('PATCH', `/byok/${await newProviderKey()}`, { key: 'sk-0987654321' }),
  deleteProviderKey: async () => text('DELETE', `/byok/${await newProviderKey()}`),
  createPresetTest: async () => text('POST', `/presets/${await newPreset()}/tests`, { name: 'walk', messages: HELLO }),
  deletePresetTest: async () => {
    const tests = `/presets/${await newPreset()}/tests`
    return text('DELETE', `${tests}/${dataOf(await text('POST', tests, { name: 'walk', messages: HELLO }))['id']}`)
  },
  createPresetFromGeneration: async () => {
    const answer = await call(service, 'POST', '/chat/completions', {
      key: service.inferenceKey,
      body: { model: 'sandbox/echo', messages: HELLO, temperature: 0.5 },
    })
    return text('POST', `/presets/${await newPreset()}/from-generation`, { generation_id: answer.headers.get('x-generation-id') })
  },
  putPresetRollout: async () => text('PUT', `/presets/${await newPreset(2)}/rollout`, { splits: SPLITS }),
  deletePresetRollout: async () => {
    const rollout = `/presets/${await newPreset(2)}/rollout`
    await text('PUT', rollout, { splits: SPLITS })
    return text('DELETE', rollout)
  },
  createPresetEvaluation: async () => newEvaluation(await newPreset()),
  cancelPresetEvaluation: async () => {
    const slug = await newPreset()
    return text('POST', `/presets/${slug}/evaluations/${dataOf(await newEvaluation(slug))['id']}/cancel`)
  },
  resumePresetEvaluation: async () => {
    const slug = await newPreset()
    const evaluation = `/presets/${slug}/evaluations/${dataOf(await newEvaluation(slug))['id']}`
    await text('POST', `${evaluation}/cancel`)
    return text('POST', `${evaluation}/resume`, {})
  },
  deletePresetEvaluation: async () => {
    const slug = await newPreset()
    const evaluation = `/presets/${slug}/evaluations/${dataOf(await newEvaluation(slug))['id']}`
    await text('POST', `${evaluation}/cancel`)
    return text('DELETE', evaluation)
  },
  deleteGenerationContent: async () => {
    await text('PATCH', '/workspaces/default', { is_observability_io_logging_enabled: true })
    await call(service, 'POST', '/chat/completions', { key: service.inferenceKey, body: { model: 'sandbox/echo', messages: HELLO } })
    await text('PATCH', '/workspaces/default', { is_observability_io_logging_enabled: false })
    for (;;) {
      const { data } = (await text('GET', '/generations?has_content=true')).json as { data: readonly { id: string }[] }
      if (data[0] !== undefined) return text('DELETE', `/generation/content?id=${data[0].id}`)
    }
  },
  createObservabilityDestination: () => newDestination(),
  updateObservabilityDestination: async () =>
    text('PATCH', `/observability/destinations/${dataOf(await newDestination())['id']}`, { name: 'renamed' }),
  deleteObservabilityDestination: async () => text('DELETE', `/observability/destinations/${dataOf(await newDestination())['id']}`),
  uploadFile: upload,
  deleteFile: async () => text('DELETE', `/files/${((await upload()).json as { id: string }).id}`),
  bulkAssignKeysToGuardrail: async () =>
    text('POST', `/guardrails/${await newGuardrail()}/assignments/keys`, { key_hashes: [await newKey()] }),
  bulkUnassignKeysFromGuardrail: async () => {
    const path = `/guardrails/${await newGuardrail()}/assignments/keys`
    const keys = { key_hashes: [await newKey()] }
    await text('POST', path, keys)
    return text('POST', `${path}/remove`, keys)
  },
  bulkAssignMembersToGuardrail: async () =>
    text('POST', `/guardrails/${await newGuardrail()}/assignments/members`, { member_user_ids: [await owner()] }),
  bulkUnassignMembersFromGuardrail: async () => {
    const path = `/guardrails/${await newGuardrail()}/assignments/members`
    const members = { member_user_ids: [await owner()] }
    await text('POST', path, members)
    return text('POST', `${path}/remove`, members)
  },
}

/** Operations that only try something, and change nothing. */
const TRIALS: ReadonlySet<string> = new Set(['testGuardrail', 'testGuardrailOnRequests', 'testProvider'])

interface Operation {
  readonly operationId: string
  readonly security: readonly { readonly bearer?: readonly string[] }[]
}

/** Read from the OpenAPI description of the running service, which is generated from its table of routes. */
const changingOperations = async (): Promise<readonly string[]> => {
  const document = (await (await fetch(`${service.url}/openapi.json`)).json()) as { paths: Record<string, Record<string, Operation>> }
  return Object.values(document.paths).flatMap((item) =>
    Object.entries(item).flatMap(([method, { operationId, security }]) =>
      method !== 'get' &&
      !TRIALS.has(operationId) &&
      security.some(({ bearer }) => bearer?.length === 0 || bearer?.includes('management') === true)
        ? [operationId]
        : [],
    ),
  )
}

const total = async (): Promise<number> => ((await text('GET', '/audit-log?limit=1')).json as { total_count: number }).total_count

const leavesOneEntry = async (answer: Answer): Promise<void> => {
  expect(answer.status).toBeLessThan(300)
  const { data: newest } = (await text('GET', '/audit-log?limit=10')).json as {
    data: { id: string; key_hash: string; user_id: string }[]
  }
  // An evaluation adds a last entry of its own when it has finished, which may come between others.
  const data = newest.filter(({ id }) => id.startsWith('req-'))
  expect(data[0]).toMatchObject({ id: answer.headers.get('x-request-id'), user_id: expect.stringMatching(/^user_/) })
  expect(data[0]?.key_hash).toMatch(/^[0-9a-f]{64}$/)
  expect(data[1]?.id).not.toBe(data[0]?.id)
}

test.each(Object.entries(CHANGES))('%s', async (_, change) => leavesOneEntry(await change()))

test('every other operation that can change something has an entry, called as it is described', async () => {
  const operations = await changingOperations()
  expect(Object.keys(CHANGES).filter((operation) => !operations.includes(operation))).toEqual([])
  const described = await describedCalls(service)
  const others = operations.filter((operation) => CHANGES[operation] === undefined)
  expect(others).not.toBeEmpty()
  for (const operation of others) {
    const change = described[operation]
    if (change === undefined) throw new Error(`${operation} needs a row of its own.`)
    await leavesOneEntry(await change())
  }
})

test('a refused change leaves no entry', async () => {
  const before = await total()
  const key = await newKey()
  await text('PATCH', `/keys/${key}`, { limit: -1 })
  await text('DELETE', `/keys/${'ab'.repeat(32)}`)
  await text('POST', '/workspaces', { name: 'x', slug: 'default' })
  await text('DELETE', '/workspaces/default/budgets/daily')
  await text('PATCH', '/presets/never', { name: 'x' })
  await call(service, 'POST', '/keys', { key: service.inferenceKey, body: { name: 'x' } })
  expect(await total()).toBe(before + 1)
})
