/** `patchbay catalogue …`, beside the running service (docs/contract/models.md#imported-prices). */
import { utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { Database } from 'bun:sqlite'
import { describe, expect, test } from 'bun:test'

import { call } from '../support/calls.ts'
import { startFakeUpstream } from '../support/fake-upstream.ts'
import { until, useServices } from '../support/started-service.ts'

const FIXTURES = join(import.meta.dir, '../fixtures/price-lists')
const services = useServices()

const OWN = `
models:
  openai/gpt-4.1:
    endpoints: [{ provider: openai, model: gpt-4.1, prices: { prompt: 42, completion: 43 } }]
`

const env = { OPENAI_API_KEY: 'sk-test', XAI_API_KEY: 'xai-test' }

const service = await services.start({ config: OWN, env })

const catalogue = (...args: readonly string[]) =>
  services.run(['catalogue', ...args, '--data-dir', service.dataDir, '--config', service.configPath], env)

interface Detail {
  readonly pricing: Record<string, string>
  readonly pricing_source: { readonly from: string; readonly as_of: string | null; readonly age_days: number | null }
}

const detail = async (id: string): Promise<Detail> => (await call(service, 'GET', `/models/${id}`)).json as Detail

test('patchbay doctor knows imported models, even if the file names one of them', async () => {
  const near = await startFakeUpstream()
  const providers = `providers:\n  openai: { base_url: "${near.url}" }\n`
  const key = { OPENAI_API_KEY: 'k' }
  const own = await services.start({ config: providers, env: key })
  const flags = ['--data-dir', own.dataDir, '--config', own.configPath]
  const doctor = () => services.run(['doctor', '--json', ...flags], key)
  const configuration = async (): Promise<{ readonly state: string; readonly says: string } | undefined> => {
    const { checks } = JSON.parse((await doctor()).stdout) as { checks: { name: string; state: string; says: string }[] }
    return checks.find(({ name }) => name === 'configuration')
  }
  const before = Number(/(\d+) models/.exec((await configuration())?.says ?? '')?.[1])
  expect((await services.run(['catalogue', 'import', join(FIXTURES, 'litellm.json'), ...flags], key)).code).toBe(0)
  // The imported list has one model of an enabled provider that the shipped catalogue lacks.
  expect(await configuration()).toMatchObject({ state: 'fine', says: expect.stringContaining(`${before + 1} models`) as string })
  own.configure(`${providers}models:\n  openai/gpt-7-nova: { name: Our own name }\n`)
  expect(await configuration()).toMatchObject({ state: 'fine' })
})

describe('import', () => {
  test('a dry run shows the difference and changes nothing', async () => {
    const { code, stdout } = await catalogue('import', join(FIXTURES, 'litellm.json'), '--dry-run')
    expect(code).toBe(0)
    expect(stdout).toContain('changed  openai/gpt-5.4 at openai: prompt $2.5 → $2.25, completion $15 → $13.5, cache_read $0.25 → $0.225')
    expect(stdout).toContain('new      openai/gpt-7-nova at openai: prompt $0.15, completion $0.6')
    expect(stdout).toContain('refused  claude-haiku-4-5: prompt: -0.000001 is negative')
    expect(stdout).toContain('left out models of providers that no configuration names: snowflake (1)')
    expect(stdout).toMatch(/litellm of \d{4}-\d{2}-\d{2}: 3 new, 1 changed, 0 gone, 3 refused; a dry run: nothing was kept\n$/)
    expect((await call(service, 'GET', '/models/openai/gpt-7-nova')).status).toBe(404)
    expect((await detail('openai/gpt-5.4')).pricing_source).toMatchObject({ from: 'catalogue' })
  })

  test('the running service serves the new prices within a second, with their age, and a second import changes nothing', async () => {
    expect((await catalogue('import', join(FIXTURES, 'litellm.json'), '--as-of', '2026-11-01')).code).toBe(0)
    await until(async () => (await call(service, 'GET', '/models/openai/gpt-7-nova')).status === 200, 'the new model')
    const { pricing, pricing_source: source } = await detail('openai/gpt-5.4')
    expect(pricing).toMatchObject({ prompt: '0.00000225', completion: '0.0000135', input_cache_read: '0.000000225' })
    expect(source).toMatchObject({ from: 'litellm', as_of: '2026-11-01' })
    expect(source.age_days).toBe(Math.floor((Date.now() - Date.parse('2026-11-01')) / 86_400_000))
    const endpoints = (await call(service, 'GET', '/models/openai/gpt-5.4/endpoints')).json as { data: { endpoints: Detail[] } }
    expect(endpoints.data.endpoints[0]?.pricing_source).toEqual(source)
    const again = await catalogue('import', join(FIXTURES, 'litellm.json'), '--as-of', '2026-11-01')
    expect(again.stdout).toContain('0 new, 0 changed, 0 gone, 3 refused')
    expect(again.stdout).not.toMatch(/^(?:new|changed|gone) /m)
  })

  test("the operator's own entry takes precedence, and the import says so", async () => {
    const list = join(services.directory(), 'own.json')
    writeFileSync(list, JSON.stringify({ data: [], openai: { models: { 'gpt-4.1': { id: 'gpt-4.1', cost: { input: 1, output: 4 } } } } }))
    const { stdout, code } = await catalogue('import', list, '--kind', 'models.dev')
    expect({ code, stdout }).toEqual({
      code: 0,
      stdout: expect.stringMatching(/^changed .*openai\/gpt-4\.1 .*\(your own file has this model, and wins\)$/m),
    })
    expect((await detail('openai/gpt-4.1')).pricing_source).toEqual({ from: 'operator', as_of: null, age_days: null })
    expect((await detail('openai/gpt-4.1')).pricing['prompt']).toBe('0.000042')
  })

  test('a model that is missing from a newer list of the same kind is reported and removed', async () => {
    const list = join(services.directory(), 'newer.json')
    writeFileSync(
      list,
      JSON.stringify({ 'gpt-5.4': { litellm_provider: 'openai', mode: 'chat', input_cost_per_token: 2e-6, output_cost_per_token: 1e-5 } }),
    )
    utimesSync(list, new Date('2026-11-15T12:00:00Z'), new Date('2026-11-15T12:00:00Z'))
    const { stdout } = await catalogue('import', list)
    expect(stdout).toContain('gone     openai/gpt-7-nova at openai\n')
    expect(stdout).toContain('litellm of 2026-11-15: ')
    await until(async () => (await call(service, 'GET', '/models/openai/gpt-7-nova')).status === 404, 'the model to go')
  })
})

test('show prints each price, its source and its age', async () => {
  const { stdout } = await catalogue('show', 'openai/gpt-')
  expect(stdout).toMatch(/^openai\/gpt-5\.4 at openai: \$2 in, \$10 out \(litellm of 2026-11-15, \d+ days? old\)$/m)
  expect(stdout).toMatch(/^openai\/gpt-4\.1 at openai: \$42 in, \$43 out \(your own file\)$/m)
  expect(stdout).toMatch(/^openai\/gpt-5\.5 at openai: .* \(catalogue of \d{4}-\d{2}-\d{2}, \d+ days? old\)$/m)
  const [line = ''] = (await catalogue('show', 'openai/gpt-5.4-mini', '--json')).stdout.split('\n')
  expect(JSON.parse(line)).toMatchObject({
    model: 'openai/gpt-5.4-mini',
    provider: 'openai',
    from: 'catalogue',
    age_days: expect.any(Number),
  })
})

test('forget returns to the shipped prices, and the audit log records all of it', async () => {
  expect((await catalogue('forget', 'litellm')).code).toBe(0)
  await until(async () => (await detail('openai/gpt-5.4')).pricing_source.from === 'catalogue', 'the shipped price')
  const { data } = (await call(service, 'GET', '/audit-log?object_type=catalogue')).json as { data: { action: string }[] }
  expect(data.map(({ action }) => action)).toEqual(['deleted', 'imported', 'imported', 'imported', 'imported'])
  expect(await catalogue('forget', 'litellm')).toMatchObject({ code: 2, stderr: 'patchbay: no list of the kind litellm was imported.\n' })
})

test('a damaged list does not end a start: it is left out, and the log, the doctor and the commands say which and what to do', async () => {
  const flags = (dataDir: string) => ['--data-dir', dataDir, '--config', service.configPath]
  const first = await services.start({ config: OWN, env })
  const { dataDir } = first
  expect((await services.run(['catalogue', 'import', join(FIXTURES, 'litellm.json'), ...flags(dataDir)], env)).code).toBe(0)
  await first.stop()
  const database = new Database(join(dataDir, 'patchbay.db'))
  database.run(`update catalogue_imports set models = '{"openai/gpt-5.4":'`)
  database.run(`insert into catalogue_imports select 'of-a-newer-version', as_of, imported_at, '{}' from catalogue_imports`)
  database.close()

  const again = await services.start({ config: OWN, env, dataDir })
  const answer = (await call(again, 'GET', '/models/openai/gpt-5.4', { key: first.managementKey })).json as Detail
  expect(answer.pricing_source.from).toBe('catalogue')
  for (const sentence of [
    'The imported price list "litellm" in the database cannot be read (models: it is not JSON), and is left out: the shipped prices hold instead. ',
    'otherwise import it again with patchbay catalogue import, or remove it with patchbay catalogue forget of-a-newer-version.',
  ]) {
    await until(async () => again.stderr().includes(JSON.stringify(sentence).slice(1, -1)), 'its line of the log')
    const doctor = JSON.parse((await services.run(['doctor', '--json', ...flags(dataDir)], env)).stdout) as { checks: object[] }
    expect(doctor.checks).toContainEqual({ name: 'prices', state: 'wrong', says: expect.stringContaining(sentence) })
    expect((await services.run(['catalogue', 'show', 'openai/gpt-5.4', ...flags(dataDir)], env)).stderr).toContain(sentence)
  }
  for (const kind of ['litellm', 'of-a-newer-version'])
    expect((await services.run(['catalogue', 'forget', kind, ...flags(dataDir)], env)).code).toBe(0)
  expect((await services.run(['catalogue', 'show', 'openai/gpt-5.4', ...flags(dataDir)], env)).stderr).toBe('')
})

test('exit 2 and one sentence for a missing file, and for one that is no list, of another kind, or dated in the future', async () => {
  const list = join(FIXTURES, 'litellm.json')
  const faults: [readonly string[], string][] = [
    [['import', '/nowhere.json'], 'patchbay: /nowhere.json: the file cannot be read (ENOENT).\n'],
    [['import', service.configPath], `patchbay: ${service.configPath}: it is not a JSON object.\n`],
    [['import', list, '--kind', 'hosted'], `patchbay: ${list}: it does not look like hosted, but like litellm.\n`],
    [['import', list, '--kind', 'litelm'], 'patchbay: --kind must be one of litellm, models.dev, hosted (it is "litelm").\n'],
    [['import', list, '--as-of', '2999-01-01'], 'patchbay: --as-of must not be in the future.\n'],
    [['import', list, '--as-of', '2026-02-30'], 'patchbay: --as-of must be a day such as 2026-11-22 (it is "2026-02-30").\n'],
    [['import', list, '--as-of', 'today'], 'patchbay: --as-of must be a day such as 2026-11-22 (it is "today").\n'],
  ]
  for (const [args, stderr] of faults) expect(await catalogue(...args)).toEqual({ code: 2, stdout: '', stderr })
})
