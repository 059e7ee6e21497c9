/** Rollouts (docs/contract/presets.md#rollouts): which version is served to whom, what is counted, and when a rollout halts by itself. */
import { join } from 'node:path'

import { beforeEach, describe, expect, test } from 'bun:test'

import { type Answer, call, infer } from '../support/calls.ts'
import { describeEachEngine } from '../support/databases.ts'
import { say, startFakeUpstream } from '../support/fake-upstream.ts'
import { patient } from '../support/patience.ts'
import { type StartedService, until, useServices } from '../support/started-service.ts'

interface RolloutWire {
  readonly id: string
  readonly state: string
  readonly live_version: number
  readonly halt: object | false
  readonly reason: string | null
  readonly versions: readonly {
    version: number
    weight: number
    requests: number
    errors: number
    cost: number
    guardrail_hits: number
    ttft_p50: number | null
  }[]
}

const services = useServices()
const upstream = await startFakeUpstream()

const CONFIG = `
providers:
  fake: { name: Fake, dialects: [openai-chat], base_url: "${upstream.url}", api_key: upstream-credential }
models:
  fake/good: { endpoints: [{ provider: fake, model: up-good, prices: { prompt: 1, completion: 1 } }] }
  fake/bad: { endpoints: [{ provider: fake, model: up-bad, prices: { prompt: 1, completion: 1 } }] }
`

const service = await services.start({ config: CONFIG })

beforeEach(() => {
  upstream.script(say('Fine.'))
})

const path = (slug: string) => `/presets/${slug}/rollout`
const put = (slug: string, body: object): Promise<Answer> => call(service, 'PUT', path(slug), { body })
const get = async (slug: string): Promise<RolloutWire> => ((await call(service, 'GET', path(slug))).json as { data: RolloutWire }).data
const save = (slug: string, model = 'sandbox/echo') => call(service, 'POST', `/presets/${slug}/chat/completions`, { body: { model } })
const draft = (slug: string, model = 'sandbox/echo') =>
  call(service, 'POST', `/presets/${slug}/chat/completions?designate=false`, { body: { model } })
const ninetyTen = (more: object = {}) => ({
  splits: [
    { version: 1, weight: 90 },
    { version: 2, weight: 10 },
  ],
  ...more,
})

const ask = async (model: string, body: object = {}, headers: Record<string, string> = {}): Promise<string | null> =>
  (await infer(service, { model, messages: [{ role: 'user', content: 'Hi' }], ...body }, { headers })).headers.get('x-preset')

const prepare = async (slug: string, second = 'sandbox/echo'): Promise<void> => {
  await save(slug)
  await draft(slug, second)
}

/** The service checks every few seconds. */
const whenHalted = async (slug: string): Promise<RolloutWire> => {
  const deadline = performance.now() + patient(6000)
  for (;;) {
    const rollout = await get(slug)
    if (rollout.state === 'halted' || performance.now() > deadline) return rollout
    await Bun.sleep(200)
  }
}

test('versions that callers are given although their model does not exist here: a rollout, a label and a designation warn, and are made', async () => {
  await prepare('absent', 'nobody/absent')
  const warned = ({ status, headers }: Answer): readonly unknown[] => [
    status,
    headers.get('x-service-warnings'),
    headers.get('x-service-warning'),
  ]
  const sentence = expect.stringMatching(/^Version 2: model: .*nobody\/absent/) as unknown
  const patch = (body: object) => call(service, 'PATCH', '/presets/absent', { body })
  expect(warned(await put('absent', ninetyTen()))).toEqual([200, '1', sentence])
  expect((await get('absent')).state).toBe('running')
  expect(warned(await patch({ labels: { staging: 2, production: 1, older: 2 } }))).toEqual([200, '1', sentence])
  expect(warned(await patch({ designated_version: 2 }))).toEqual([200, '1', sentence])
  const named = {
    splits: [
      { version: 2, weight: 0 },
      { version: 1, weight: 100 },
    ],
    halt: false,
  }
  expect(warned(await put('absent', named))).toEqual([200, null, null])
  for (const body of [{ labels: { staging: null } }, { description: 'Fine.' }, { designated_version: 1 }])
    expect(warned(await patch(body))).toEqual([200, null, null])
})

describe('a split', () => {
  test('gives 10 ± 2 % of 3,000 sessions the new version; each stays with its own, also as the share grows', async () => {
    await prepare('split')
    expect((await put('split', ninetyTen())).status).toBe(200)
    // The draw depends on the preset's id, which is new in each run: with only 1,000 sessions, one run in thirty would be outside the
    // limits.
    const sessions = Array.from({ length: 3000 }, (_, at) => `session-${at}`)
    const first = await Promise.all(sessions.map((session_id) => ask('@preset/split', { session_id })))
    const share = first.filter((served) => served === 'split@2').length / sessions.length
    expect(share).toBeGreaterThan(0.08)
    expect(share).toBeLessThan(0.12)
    expect(await Promise.all(sessions.slice(0, 100).map((session) => ask('@preset/split', {}, { 'x-session-id': session })))).toEqual(
      first.slice(0, 100),
    )
    await put('split', {
      splits: [
        { version: 1, weight: 50 },
        { version: 2, weight: 50 },
      ],
    })
    const later = await Promise.all(sessions.map((session_id) => ask('@preset/split', { session_id })))
    expect(later.filter((served, at) => first[at] === 'split@2' && served !== 'split@2')).toEqual([])
  }, 300_000)

  test('leaves pins, labels and other presets alone, and ends when it is deleted', async () => {
    await prepare('pinned')
    await call(service, 'PATCH', '/presets/pinned', { body: { labels: { stable: 1 } } })
    await put('pinned', { splits: [{ version: 2, weight: 1 }], halt: false })
    expect(await ask('@preset/pinned')).toBe('pinned@2')
    expect(await ask('@preset/pinned@1')).toBe('pinned@1')
    expect(await ask('@preset/pinned@stable')).toBe('pinned@1')
    expect((await call(service, 'DELETE', path('pinned'))).json).toEqual({ deleted: true })
    expect(await ask('@preset/pinned')).toBe('pinned@1')
    expect((await call(service, 'DELETE', path('pinned'))).status).toBe(404)
    expect((await get('pinned')).state).toBe('ended')
  })

  test('keeps a user or a key together, and draws each request by itself if requested', async () => {
    await prepare('sticky')
    const half = {
      splits: [
        { version: 1, weight: 50 },
        { version: 2, weight: 50 },
      ],
    }
    await put('sticky', { ...half, sticky: 'key' })
    expect(new Set(await Promise.all(Array.from({ length: 20 }, () => ask('@preset/sticky')))).size).toBe(1)
    await put('sticky', { ...half, sticky: 'user' })
    const users = await Promise.all(Array.from({ length: 40 }, (_, at) => ask('@preset/sticky', { user: `user-${at % 20}` })))
    expect(users.slice(20)).toEqual(users.slice(0, 20))
    expect(new Set(users).size).toBe(2)
    await put('sticky', { ...half, sticky: 'none' })
    expect(
      new Set(await Promise.all(Array.from({ length: 40 }, () => ask('@preset/sticky', { user: 'one', session_id: 'one' })))).size,
    ).toBe(2)
  })

  test('ends if another version is put live, by a save or by hand', async () => {
    await prepare('promoted')
    await put('promoted', ninetyTen())
    await call(service, 'PATCH', '/presets/promoted', { body: { designated_version: 2 } })
    expect(await ask('@preset/promoted')).toBe('promoted@2')
    expect(await get('promoted')).toMatchObject({ state: 'ended', reason: 'Version 2 was designated.' })
    await put('promoted', ninetyTen())
    await draft('promoted')
    expect((await get('promoted')).state).toBe('running')
    await save('promoted')
    expect(await get('promoted')).toMatchObject({ state: 'ended', reason: 'Version 4 was designated.' })
  })
})

describe('figures', () => {
  test('cover the requests that the rollout served, by version; a change of the splits starts them again', async () => {
    await prepare('counted', 'fake/good')
    await put('counted', {
      splits: [
        { version: 1, weight: 1 },
        { version: 2, weight: 1 },
      ],
      sticky: 'session',
    })
    const served = await Promise.all(Array.from({ length: 30 }, (_, at) => ask('@preset/counted', { session_id: `s-${at}` })))
    await ask('@preset/counted@2')
    const { versions, id } = await get('counted')
    for (const { version, requests } of versions) expect(requests).toBe(served.filter((one) => one === `counted@${version}`).length)
    const second = versions.find(({ version }) => version === 2)
    expect(second).toMatchObject({ weight: 1, errors: 0, guardrail_hits: 0 })
    expect(second?.cost).toBeGreaterThan(0)
    expect(second?.ttft_p50).toBeGreaterThan(0)
    await put('counted', ninetyTen())
    const after = await get('counted')
    expect(after.id).not.toBe(id)
    expect(after.versions.map(({ requests }) => requests)).toEqual([0, 0])
  })
})

describe('halting', () => {
  test.each([
    ['chat', '/chat/completions', { messages: [{ role: 'user', content: 'Hi' }] }],
    ['responses', '/responses', { input: 'Hi', stream: true }],
    ['messages', '/messages', { max_tokens: 10, messages: [{ role: 'user', content: 'Hi' }] }],
  ] as const)(
    'returns to the live version by itself, says why, and is in the audit log: %s',
    async (name, endpoint, fields) => {
      const slug = `halted-${name}`
      const asked = async (): Promise<string | null> =>
        (await call(service, 'POST', endpoint, { key: service.inferenceKey, body: { model: `@preset/${slug}`, ...fields } })).headers.get(
          'x-preset',
        )
      await save(slug, 'fake/good')
      await draft(slug, 'fake/bad')
      upstream.script((exchange) =>
        exchange.body.model === 'up-bad' ? exchange.answer(400, '{"error":{"message":"no"}}') : say('Fine.')(exchange),
      )
      await put(slug, {
        splits: [
          { version: 1, weight: 50 },
          { version: 2, weight: 50 },
        ],
        sticky: 'none',
        halt: { min_requests: 20 },
      })
      for (let times = 0; times < 80; times += 1) await asked()
      const halted = await whenHalted(slug)
      expect(halted.reason).toContain('Version 2 failed in')
      expect(halted.reason).toContain('Version 1 serves all requests again.')
      expect(new Set(await Promise.all(Array.from({ length: 20 }, asked)))).toEqual(new Set([`${slug}@1`]))
      const audit = (await call(service, 'GET', `/audit-log?object_type=preset&object_id=${slug}`)).json as {
        data: { action: string; after: object }[]
      }
      expect(audit.data.map(({ action }) => action)).toEqual(['rollout_halted', 'rollout_started', 'versioned', 'created'])
      expect(audit.data[0]?.after).toMatchObject({ version: 1, reason: halted.reason })
    },
    300_000,
  )

  test('is on by default, and needs a live version to compare with', async () => {
    await prepare('ruled')
    expect(((await put('ruled', ninetyTen())).json as { data: RolloutWire }).data.halt).toMatchObject({ min_requests: 50 })
    expect(((await put('ruled', ninetyTen({ halt: false }))).json as { data: RolloutWire }).data.halt).toBe(false)
    const lonely = await put('ruled', { splits: [{ version: 2, weight: 1 }] })
    expect(lonely.status).toBe(400)
    expect(JSON.stringify(lonely.error)).toContain('version 1')
  })
})

describeEachEngine('two processes', (engine) => {
  // A SQLite file can only be used by one process.
  if (engine.name === 'sqlite') return

  test('serve each session the same version, hear of each change, and halt together', async () => {
    const { databaseUrl } = await engine.locate()
    const started = { config: CONFIG, dataDir: join(services.directory(), 'data'), flags: ['--database-url', databaseUrl ?? ''] }
    const first = await services.start(started)
    const second = { ...(await services.start(started)), managementKey: first.managementKey, inferenceKey: first.inferenceKey }
    const nodes = [first, second]
    upstream.script((exchange) =>
      exchange.body.model === 'up-bad' ? exchange.answer(400, '{"error":{"message":"no"}}') : say('Fine.')(exchange),
    )
    const body = (model: string) => ({ body: { model } })
    await call(first, 'POST', '/presets/shared/chat/completions', body('fake/good'))
    await call(second, 'POST', '/presets/shared/chat/completions?designate=false', body('fake/bad'))
    const splits = [
      { version: 1, weight: 50 },
      { version: 2, weight: 50 },
    ]
    await call(second, 'PUT', path('shared'), { body: { splits, halt: false } })
    const served = (node: StartedService, session_id: string): Promise<string | null> =>
      infer(node, { model: '@preset/shared', messages: [{ role: 'user', content: 'Hi' }], session_id }).then(({ headers }) =>
        headers.get('x-preset'),
      )
    // The other process learns of the rollout within half a second.
    const sessions = Array.from({ length: 60 }, (_, at) => `session-${at}`)
    await until(
      async () => (await Promise.all(sessions.slice(0, 20).map((name) => served(first, name)))).includes('shared@2'),
      'the rollout',
    )
    const seen = await Promise.all(nodes.map((node) => Promise.all(sessions.map((name) => served(node, name)))))
    expect(seen[0]).toEqual(seen[1] ?? [])
    expect(new Set(seen[0])).toEqual(new Set(['shared@1', 'shared@2']))
    // From now on it may halt, by the combined figures of both processes.
    await call(second, 'PUT', path('shared'), { body: { splits, halt: { min_requests: 20 } } })
    for (const node of nodes) await Promise.all(sessions.map((name) => served(node, name)))
    const states = async (): Promise<string[]> =>
      Promise.all(nodes.map(async (node) => ((await call(node, 'GET', path('shared'))).json as { data: RolloutWire }).data.state))
    await until(async () => (await states()).every((state) => state === 'halted'), 'the halt')
    for (const node of nodes)
      await until(
        async () => (await Promise.all(sessions.map((name) => served(node, name)))).every((one) => one === 'shared@1'),
        'the way back',
      )
    const audit = (await call(first, 'GET', '/audit-log?object_type=preset&object_id=shared')).json as { data: { action: string }[] }
    expect(audit.data.filter(({ action }) => action === 'rollout_halted')).toHaveLength(1)
  }, 300_000)
})

describe('400, 403, 404', () => {
  test.each([
    ['no splits', { splits: [] }],
    [
      'a version twice',
      {
        splits: [
          { version: 1, weight: 1 },
          { version: 1, weight: 2 },
        ],
      },
    ],
    ['no weight', { splits: [{ version: 1, weight: 0 }] }],
    ['a negative weight', { splits: [{ version: 1, weight: -1 }] }],
    [
      'a version that is not there',
      {
        splits: [
          { version: 1, weight: 1 },
          { version: 999, weight: 1 },
        ],
      },
    ],
    ['an unknown stickiness', { splits: [{ version: 1, weight: 1 }], sticky: 'ip' }],
    ['an unknown rule', { splits: [{ version: 1, weight: 1 }], halt: { latency: 1 } }],
  ])('400: %s', async (_, body) => {
    await prepare('strict')
    expect((await put('strict', body)).status).toBe(400)
  })

  test('404 for a preset or a rollout that does not exist, 403 for an inference key', async () => {
    await save('plain')
    expect((await put('unknown', ninetyTen())).status).toBe(404)
    expect((await call(service, 'GET', path('plain'))).status).toBe(404)
    expect((await call(service, 'PUT', path('plain'), { key: service.inferenceKey, body: ninetyTen() })).status).toBe(403)
  })
})
