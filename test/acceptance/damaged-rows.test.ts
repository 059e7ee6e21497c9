/** Rows of the database that cannot be read again: they can be removed, and they hold nothing else up. */
import { Database } from 'bun:sqlite'
import { join } from 'node:path'

import { expect, test } from 'bun:test'

import { call, createKey, infer, savePreset } from '../support/calls.ts'
import { type StartedService, until, useServices } from '../support/started-service.ts'
import { isTrial, startTraceReceiver } from '../support/trace-receiver.ts'

const services = useServices()
const receiver = await startTraceReceiver()

const config = `
observability: { trusted_hosts: ["${receiver.host}"] }
providers:
  openai: { dialects: [openai-chat], base_url: "http://127.0.0.1:9", api_key: sk-provider-0123456789 }
`

/** Writes the start of a JSON text where a whole one was. */
const damage = ({ dataDir }: StartedService, table: string, column: string, where = '1 = 1'): void => {
  const database = new Database(join(dataDir, 'patchbay.db'))
  database.run('pragma busy_timeout = 10000')
  const { changes } = database.run(`update ${table} set ${column} = '{"a":' where ${where}`)
  database.close()
  expect(changes).toBeGreaterThan(0)
}

const made = async (service: StartedService, path: string, body: object): Promise<string> => {
  const { status, json, text } = await call(service, 'POST', path, { body })
  if (status >= 300) throw new Error(`Nothing was made: ${text}`)
  return (json as { data: { id: string } }).data.id
}

const deleted = async (service: StartedService, path: string): Promise<number> => (await call(service, 'DELETE', path)).status

test('what a damaged row holds can be deleted, and the audit log says so', async () => {
  const service = await services.start({ config })
  const guardrail = await made(service, '/guardrails', { name: 'Broken' })
  damage(service, 'guardrails', 'settings', `id = '${guardrail}'`)
  expect([(await call(service, 'GET', `/guardrails/${guardrail}`)).status, await deleted(service, `/guardrails/${guardrail}`)]).toEqual([
    500, 200,
  ])

  const { data: key, key: secret } = await createKey(service, { name: 'Broken' })
  damage(service, 'api_keys', 'allowed_models', `hash = '${key.hash}'`)
  expect(await deleted(service, `/keys/${key.hash}`)).toBe(200)
  expect((await infer(service, { model: 'sandbox/echo', messages: [] }, { key: secret })).status).toBe(401)

  const own = await made(service, '/byok', {
    provider: 'openai',
    key: 'sk-own-credential-aaaaaaaaaaaa',
    allowed_models: ['openai/gpt-5.4'],
  })
  damage(service, 'byok_keys', 'allowed_models')
  expect([await deleted(service, `/byok/${own}`), await deleted(service, `/byok/${own}`)]).toEqual([200, 404])

  const destination = await made(service, '/observability/destinations', {
    type: 'otel-collector',
    name: 'Broken',
    config: { endpoint: receiver.url },
  })
  damage(service, 'observability_destinations', 'settings')
  expect(await deleted(service, `/observability/destinations/${destination}`)).toBe(200)

  const workspace = await made(service, '/workspaces', { name: 'Broken', slug: 'broken' })
  damage(service, 'workspaces', 'settings', `id = '${workspace}'`)
  expect(await deleted(service, `/workspaces/${workspace}`)).toBe(200)

  for (let version = 1; version <= 3; version += 1) await savePreset(service, 'bot', { model: 'sandbox/echo', temperature: version / 10 })
  const evaluation = await made(service, '/presets/bot/evaluations', {
    version: 1,
    items: [{ messages: [{ role: 'user', content: 'Hi' }] }],
    checks: [{ type: 'contains', text: 'Hi' }],
  })
  await until(async () => {
    const { json } = await call(service, 'GET', `/presets/bot/evaluations/${evaluation}`)
    return (json as { data: { state: string } }).data.state !== 'running'
  }, 'the end of the evaluation')
  damage(service, 'evaluations', 'sealed_spec')
  expect(await deleted(service, `/presets/bot/evaluations/${evaluation}`)).toBe(200)

  const roll = () =>
    call(service, 'PUT', '/presets/bot/rollout', {
      body: {
        splits: [
          { version: 3, weight: 1 },
          { version: 2, weight: 1 },
        ],
      },
    })
  expect((await roll()).status).toBe(200)
  damage(service, 'preset_rollouts', 'splits')
  expect(await deleted(service, '/presets/bot/rollout')).toBe(200)
  expect((await roll()).status).toBe(200)
  damage(service, 'preset_rollouts', 'splits')
  // The designated version serves all requests, whatever the rollout said.
  expect((await call(service, 'PATCH', '/presets/bot', { body: { designated_version: 1 } })).status).toBe(200)

  const { json } = await call(service, 'GET', '/audit-log?limit=100')
  const entries = (json as { data: { action: string; object_id: string; before: unknown }[] }).data
  for (const id of [guardrail, key.hash, own, destination, workspace])
    expect(entries.find(({ action, object_id }) => object_id === id && /deleted|revoked/.test(action))).toMatchObject({ before: null })
  expect((await infer(service, { model: '@preset/bot', messages: [{ role: 'user', content: 'Hi' }] })).status).toBe(200)
}, 60_000)

test('a damaged destination of traces keeps no other from being made and from getting traces, before and after a start', async () => {
  const first = await services.start({ config })
  const [workspace] = ((await call(first, 'GET', '/workspaces')).json as { data: { id: string }[] }).data
  await call(first, 'PATCH', `/workspaces/${workspace?.id}`, { body: { is_observability_broadcast_enabled: true } })
  const enter = (name: string) =>
    call(first, 'POST', '/observability/destinations', {
      body: { type: 'otel-collector', name, config: { endpoint: `${receiver.url}/${name}` } },
    })
  expect((await enter('broken')).status).toBe(201)
  damage(first, 'observability_destinations', 'sealed_config')
  expect((await enter('whole')).status).toBe(201)

  const ask = async (service: StartedService): Promise<void> => {
    receiver.received.length = 0
    await infer(service, { model: 'sandbox/echo', messages: [{ role: 'user', content: 'Hi' }] }, { key: first.inferenceKey })
    await until(() => receiver.received.some((one) => !isTrial(one) && one.path.startsWith('/whole/')), 'a trace')
  }
  await ask(first)
  await first.stop()
  const second = await services.start({ config, dataDir: first.dataDir })
  await ask(second)
  expect(second.stderr()).toContain('of the table observability_destinations cannot be read')
}, 60_000)

test('damaged labels of a preset fail requests that name one, and nothing else; setting them mends them', async () => {
  const service = await services.start({ config })
  for (const slug of ['whole', 'broken']) {
    await savePreset(service, slug, { model: 'sandbox/echo' })
    expect((await call(service, 'PATCH', `/presets/${slug}`, { body: { labels: { staging: 1, production: 1 } } })).status).toBe(200)
  }
  damage(service, 'presets', 'labels', "slug = 'broken'")
  const ask = (pin: string) => infer(service, { model: `@preset/broken${pin}`, messages: [{ role: 'user', content: 'Hi' }] })

  const listed = async (query: string): Promise<object> => {
    const { presets } = await call(service, 'GET', `/presets${query}`)
    return Object.fromEntries(presets.map(({ slug, labels }) => [slug, labels]))
  }
  const shown = { whole: { staging: 1, production: 1 }, broken: {} }
  expect([await listed(''), await listed('?count=false'), await listed('?include=summary')]).toEqual([shown, shown, shown])
  expect([(await ask('')).status, (await ask('@1')).status, (await ask('@staging')).status]).toEqual([200, 200, 500])
  await until(() => service.stderr().includes('of the table presets cannot be read'), 'the line of the log')
  expect((await savePreset(service, 'broken', { model: 'sandbox/echo' })).status).toBe(200)

  const renamed = await call(service, 'PATCH', '/presets/broken', { body: { name: 'Renamed' } })
  expect([renamed.status, (await ask('@staging')).status]).toEqual([200, 500])
  const mended = await call(service, 'PATCH', '/presets/broken', { body: { labels: { staging: 2 } } })
  expect([mended.status, mended.preset.labels, (await ask('@staging')).status]).toEqual([200, { staging: 2 }, 200])
})

test('a preset whose configuration or rollout is damaged keeps no other from being listed', async () => {
  const service = await services.start({ config })
  for (const slug of ['whole', 'broken']) await savePreset(service, slug, { model: 'sandbox/echo' })
  await savePreset(service, 'broken', { model: 'sandbox/echo' })
  const splits = [1, 2].map((version) => ({ version, weight: 50 }))
  expect((await call(service, 'PUT', '/presets/broken/rollout', { body: { splits } })).status).toBe(200)
  damage(service, 'preset_rollouts', 'splits')
  const { json } = await call(service, 'GET', '/presets?include=summary')
  expect((json as { data: readonly object[] }).data).toMatchObject([
    { slug: 'broken', summary: { splits: null } },
    { slug: 'whole', summary: { model: 'sandbox/echo', splits: null } },
  ])
})
