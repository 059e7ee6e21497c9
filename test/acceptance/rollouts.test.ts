/** Rollouts (docs/contract/presets.md#rollouts): who is served what, what is counted, and when it goes back by itself. */
import { beforeAll, beforeEach, describe, expect, test } from 'bun:test'

import { type Answer, call, infer } from '../support/calls.ts'
import { say, startFakeUpstream } from '../support/fake-upstream.ts'
import { patient } from '../support/patience.ts'
import { type StartedService, useServices } from '../support/started-service.ts'

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
let service: StartedService

beforeAll(async () => {
  service = await services.start({
    config: `
providers:
  fake: { name: Fake, dialects: [openai-chat], base_url: "${upstream.url}", api_key: upstream-credential }
models:
  fake/good: { endpoints: [{ provider: fake, model: up-good, prices: { prompt: 1, completion: 1 } }] }
  fake/bad: { endpoints: [{ provider: fake, model: up-bad, prices: { prompt: 1, completion: 1 } }] }
`,
  })
})

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

/** The service looks every few seconds. */
const whenHalted = async (slug: string): Promise<RolloutWire> => {
  const deadline = performance.now() + patient(6000)
  for (;;) {
    const rollout = await get(slug)
    if (rollout.state === 'halted' || performance.now() > deadline) return rollout
    await Bun.sleep(200)
  }
}

describe('a split', () => {
  test('gives 10 ± 2 % of 1,000 sessions the new version; each stays with its own, also as the share grows', async () => {
    await prepare('split')
    expect((await put('split', ninetyTen())).status).toBe(200)
    const sessions = Array.from({ length: 1000 }, (_, at) => `session-${at}`)
    const first = await Promise.all(sessions.map((session_id) => ask('@preset/split', { session_id })))
    const share = first.filter((served) => served === 'split@2').length / 1000
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
  }, 120_000)

  test('leaves pins, labels and other presets alone, and ends where it is deleted', async () => {
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

  test('keeps a user or a key together, and draws each request by itself where asked', async () => {
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

  test('ends where another version is put live, by a save or by hand', async () => {
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
  test('are those of the requests that the rollout served, by version; a change of the splits begins anew', async () => {
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
  test('goes back to the live version by itself, says why, and is in the audit log', async () => {
    await save('halted', 'fake/good')
    await draft('halted', 'fake/bad')
    upstream.script((exchange) =>
      exchange.body.model === 'up-bad' ? exchange.answer(400, '{"error":{"message":"no"}}') : say('Fine.')(exchange),
    )
    await put('halted', {
      splits: [
        { version: 1, weight: 50 },
        { version: 2, weight: 50 },
      ],
      sticky: 'none',
      halt: { min_requests: 20 },
    })
    for (let asked = 0; asked < 80; asked += 1) await ask('@preset/halted')
    const halted = await whenHalted('halted')
    expect(halted.reason).toContain('Version 2 failed in')
    expect(halted.reason).toContain('Version 1 serves all requests again.')
    expect(new Set(await Promise.all(Array.from({ length: 20 }, () => ask('@preset/halted'))))).toEqual(new Set(['halted@1']))
    const audit = (await call(service, 'GET', '/audit-log?object_type=preset&object_id=halted')).json as {
      data: { action: string; after: object }[]
    }
    expect(audit.data.map(({ action }) => action)).toEqual(['rollout_halted', 'rollout_started', 'versioned', 'created'])
    expect(audit.data[0]?.after).toMatchObject({ version: 1, reason: halted.reason })
  }, 300_000)

  test('is on by default, and needs a live version to compare with', async () => {
    await prepare('ruled')
    expect(((await put('ruled', ninetyTen())).json as { data: RolloutWire }).data.halt).toMatchObject({ min_requests: 50 })
    expect(((await put('ruled', ninetyTen({ halt: false }))).json as { data: RolloutWire }).data.halt).toBe(false)
    const lonely = await put('ruled', { splits: [{ version: 2, weight: 1 }] })
    expect(lonely.status).toBe(400)
    expect(JSON.stringify(lonely.error)).toContain('version 1')
  })
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

  test('404 for a preset or a rollout that is not there, 403 for an inference key', async () => {
    await save('plain')
    expect((await put('unknown', ninetyTen())).status).toBe(404)
    expect((await call(service, 'GET', path('plain'))).status).toBe(404)
    expect((await call(service, 'PUT', path('plain'), { key: service.inferenceKey, body: ninetyTen() })).status).toBe(403)
  })
})
