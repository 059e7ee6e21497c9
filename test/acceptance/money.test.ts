/** Budgets, credit and activity through `@openrouter/sdk` and from the shell. */
import { OpenRouter } from '@openrouter/sdk'
import { beforeAll, describe, expect, test } from 'bun:test'

import { call, infer } from '../support/calls.ts'
import { type StartedService, useServices } from '../support/started-service.ts'

const services = useServices()
let service: StartedService
let root: OpenRouter

const client = (apiKey: string): OpenRouter => new OpenRouter({ apiKey, serverURL: service.api, retryConfig: { strategy: 'none' } })

beforeAll(async () => {
  service = await services.start()
  root = client(service.managementKey)
})

describe('budgets of a workspace', () => {
  const put = (interval: 'daily' | 'weekly' | 'monthly' | 'lifetime', limitUsd: number, includeByokInBudgets?: boolean) =>
    root.workspaces.setBudget({
      workspaceRef: 'default',
      interval,
      upsertWorkspaceBudgetRequest: { limitUsd, ...(includeByokInBudgets === undefined ? {} : { includeByokInBudgets }) },
    })

  test('set, read, listed longest first, removed twice', async () => {
    const { data } = await put('weekly', 20.5)
    expect(data).toMatchObject({ limitUsd: 20.5, resetInterval: 'weekly' })
    expect((await put('lifetime', 100)).data).toMatchObject({ resetInterval: null })
    expect((await root.workspaces.getBudget({ workspaceRef: 'default', interval: 'weekly' })).data).toEqual(data)
    const listed = await root.workspaces.listBudgets({ workspaceRef: 'default' })
    expect(listed.data.map(({ limitUsd }) => limitUsd)).toEqual([100, 20.5])
    for (let time = 0; time < 2; time += 1) {
      expect(await root.workspaces.deleteBudget({ workspaceRef: 'default', interval: 'lifetime' })).toEqual({ deleted: true })
    }
    expect((await call(service, 'GET', '/workspaces/default/budgets/lifetime')).status).toBe(404)
  })

  test('400: a longer interval without the larger limit, no limit, a fraction of a nano-dollar, another interval', async () => {
    const status = async (interval: string, body: object) =>
      (await call(service, 'PUT', `/workspaces/default/budgets/${interval}`, { body })).status
    expect(await status('daily', { limit_usd: 20.5 })).toBe(400)
    expect(await status('monthly', { limit_usd: 20.5 })).toBe(400)
    expect(await status('daily', { limit_usd: 20.4 })).toBe(200)
    for (const limit_usd of [0, -1, 0.000_000_000_1, '5', null]) expect(await status('lifetime', { limit_usd })).toBe(400)
    expect(await status('yearly', { limit_usd: 5 })).toBe(400)
  })

  test('own provider keys count in all of them or in none', async () => {
    await put('daily', 1, true)
    const listed = await root.workspaces.listBudgets({ workspaceRef: 'default' })
    expect(listed.includeByokInBudgets).toBe(true)
    expect((await root.workspaces.get({ id: 'default' })).data.includeByokInBudgets).toBe(true)
    await put('weekly', 21)
    const { json } = await call(service, 'GET', '/workspaces/default/budgets')
    expect(json).toMatchObject({ data: [{ include_byok_in_budgets: true }, { include_byok_in_budgets: true }] })
  })
})

describe('credit', () => {
  test('added over HTTP and from the shell, read by both and by the SDK', async () => {
    const added = await call(service, 'POST', '/credits', { body: { amount_usd: 25, note: 'first' } })
    expect([added.status, added.json]).toEqual([201, { data: { total_credits: 25, total_usage: 0 } }])
    const shell = await services.run(['credits', 'add', '0.1', '--note', 'second', '--data-dir', service.dataDir])
    expect([shell.code, shell.stdout]).toEqual([0, 'prepaid $25.1, spent $0, left $25.1\n'])
    expect((await root.credits.getCredits()).data).toEqual({ totalCredits: 25.1, totalUsage: 0 })
    await services.run(['credits', 'add', '--data-dir', service.dataDir, '--', '-5.1'])
    const shown = await services.run(['credits', 'show', '--json', '--data-dir', service.dataDir])
    expect(JSON.parse(shown.stdout)).toEqual({ total_credits: 20, total_usage: 0 })
  })

  test.each([[['credits', 'add', 'lots']], [['credits', 'add', '0.0000000001']], [['credits', 'show', '--workspace', 'never']]])(
    '%p is one sentence and exit code 2',
    async (args) => {
      const { code, stderr, stdout } = await services.run([...args, '--data-dir', service.dataDir])
      expect([code, stdout, stderr.trimEnd().split('\n').length]).toEqual([2, '', 1])
    },
  )

  test('400: credit that could no longer be counted exactly is neither added nor taken back', async () => {
    await call(service, 'POST', '/workspaces', { body: { name: 'Rich', slug: 'rich' } })
    const add = (amount_usd: number) => call(service, 'POST', '/credits', { body: { amount_usd, workspace_id: 'rich' } })
    for (let times = 0; times < 9; times += 1) await add(-1_000_000)
    const refused = await add(-1_000_000)
    expect([refused.status, refused.text]).toEqual([400, expect.stringContaining('at most 9007199 US dollars')])
    expect((await add(1_000_000)).json).toMatchObject({ data: { total_credits: -8_000_000 } })
  })

  test('400 and 403: an empty body, and a management key of another workspace', async () => {
    expect((await call(service, 'POST', '/credits', { body: { amount_usd: 0 } })).status).toBe(400)
    await call(service, 'POST', '/workspaces', { body: { name: 'B', slug: 'b' } })
    const made = await call(service, 'POST', '/keys?workspace_id=b', { body: { name: 'its own', kind: 'management' } })
    const { key } = made.json as { key: string }
    expect((await call(service, 'POST', '/credits', { key, body: { amount_usd: 5 } })).status).toBe(403)
    expect((await call(service, 'GET', '/credits', { key })).json).toEqual({ data: { total_credits: 0, total_usage: 0 } })
  })
})

describe('activity', () => {
  const ask = (key: string) => infer(service, { model: 'sandbox/echo', messages: [{ role: 'user', content: 'Hi there' }] }, { key })

  test('@openrouter/sdk: it has what was just answered, by day, model and provider', async () => {
    await ask(service.inferenceKey)
    await ask(service.inferenceKey)
    const today = new Date().toISOString().slice(0, 10)
    const { data } = await root.analytics.getUserActivity({ date: today })
    expect(data).toMatchObject([{ model: 'sandbox/echo', requests: 2, usage: 0, byokUsageInference: 0 }])
    expect((await call(service, 'GET', '/activity')).json).toMatchObject({ data: [{ cached_tokens: 0 }] })
    expect(data[0]?.workspaceId).toBeUndefined()
    expect(data[0]?.completionTokens).toBeGreaterThan(0)
    const grouped = await root.analytics.getUserActivity({ groupBy: 'workspace' })
    expect(grouped.data[0]?.workspaceId).toMatch(/^[0-9a-f-]{36}$/)
  })

  test('each workspace has its own; days that are not kept, and other filters, are 400', async () => {
    const made = await call(service, 'POST', '/keys?workspace_id=b', { body: { name: 'x', kind: 'management' } })
    const { key } = made.json as { key: string }
    expect((await call(service, 'GET', '/activity', { key })).json).toEqual({ data: [] })
    const filters = ['date=2020-01-01', 'date=x', 'group_by=user', 'api_key_hash=x']
    for (const filter of filters) expect((await call(service, 'GET', `/activity?${filter}`)).status).toBe(400)
    expect((await call(service, 'GET', `/activity?api_key_hash=${'ab'.repeat(32)}`)).json).toEqual({ data: [] })
    expect((await call(service, 'GET', '/activity?user_id=%25')).json).toEqual({ data: [] })
  })
})
