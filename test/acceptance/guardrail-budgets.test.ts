/** Budgets of guardrails over HTTP: whom they limit, how requests are refused, and what the key shows of them. */
import { afterEach, expect, test } from 'bun:test'

import { call, infer } from '../support/calls.ts'
import { say, startFakeUpstream } from '../support/fake-upstream.ts'
import { useServices } from '../support/started-service.ts'

const upstream = await startFakeUpstream()
upstream.script(say('Hi.'))

/** A token of output costs a tenth of a cent. */
const CONFIG = `
providers:
  fake: { name: Fake, dialects: [openai-chat], base_url: "${upstream.url}", api_key: upstream-credential }
models:
  fake/one: { endpoints: [{ provider: fake, model: up-one, prices: { prompt: 1, completion: 1000 } }] }
`

const service = await useServices().start({ config: CONFIG })

let guardrailId = ''
afterEach(() => call(service, 'DELETE', `/guardrails/${guardrailId}`))

const BUDGET = { limit_usd: 0.001, reset_interval: 'daily', include_byok_in_budgets: true } as const
const ASKING = { model: 'fake/one', max_tokens: 10, messages: [{ role: 'user', content: 'Hello!' }] }

interface NewKey {
  readonly key: string
  readonly data: { readonly hash: string; readonly creator_user_id: string }
}
const makeKey = async (): Promise<NewKey> => (await call(service, 'POST', '/keys', { body: { name: 'bound' } })).json as NewKey

const makeGuardrail = async (): Promise<void> => {
  const { json } = await call(service, 'POST', '/guardrails', { body: { name: 'A budget', ...BUDGET } })
  guardrailId = (json as { data: { id: string } }).data.id
}

const budgetsOf = async (key: string): Promise<readonly unknown[]> =>
  ((await call(service, 'GET', '/key', { key })).json as { data: { budgets: readonly unknown[] } }).data.budgets

const expectSpent = async (key: string, scope: string, whose: string): Promise<void> => {
  // Spend is counted, at the latest, before it is shown.
  await budgetsOf(key)
  const asked = upstream.exchanges.length
  const { status, error } = await infer(service, ASKING, { key })
  expect(upstream.exchanges.length).toBe(asked)
  const resetsAt = /resets at (\d{4}-\d\d-\d\dT00:00:00\.000Z)\.$/.exec(error.message)?.[1]
  const spendUsd = Number(/Used \$([\d.]+) of \$0\.001; /.exec(error.message)?.[1])
  const reported: object = { status, message: error.message.split('.')[0], ...error.metadata }
  expect(reported).toEqual({
    status: 403,
    message: `The daily guardrail budget of this ${whose} is exhausted`,
    error_type: 'permission_denied',
    limit_source: 'service_guardrail_budget',
    scope,
    limit_usd: 0.001,
    spend_usd: spendUsd,
    resets_at: resetsAt ?? 'an instant at the end of the message',
    remedy_hint: 'Wait for the reset, or raise the budget of the guardrail.',
    guardrail_id: guardrailId,
  })
  expect(spendUsd).toBeGreaterThan(0.001)
  expect(await budgetsOf(key)).toContainEqual({
    scope,
    limit_usd: 0.001,
    spend_usd: spendUsd,
    remaining_usd: expect.closeTo(0.001 - spendUsd, 9) as number,
    reset_interval: 'daily',
    resets_at: resetsAt ?? '',
    include_byok: true,
    guardrail_id: guardrailId,
    budget_id: null,
  })
}

test("a key's budget stops that key from the next request on, and no other", async () => {
  const [bound, free] = [await makeKey(), await makeKey()]
  expect((await infer(service, ASKING, { key: bound.key })).status).toBe(200)
  await makeGuardrail()
  expect((await infer(service, ASKING, { key: bound.key })).status).toBe(200)
  await call(service, 'POST', `/guardrails/${guardrailId}/assignments/keys`, { body: { key_hashes: [bound.data.hash] } })
  await expectSpent(bound.key, 'api_key', 'key')
  expect(await budgetsOf(free.key)).toEqual([])
  expect((await infer(service, ASKING, { key: free.key })).status).toBe(200)
  await call(service, 'POST', `/guardrails/${guardrailId}/assignments/keys/remove`, { body: { key_hashes: [bound.data.hash] } })
  expect((await infer(service, ASKING, { key: bound.key })).status).toBe(200)
})

test("a member's budget counts over all keys, and stops a key that has spent nothing", async () => {
  const [spender, idle] = [await makeKey(), await makeKey()]
  expect((await infer(service, ASKING, { key: spender.key })).status).toBe(200)
  await makeGuardrail()
  const body = { member_user_ids: [idle.data.creator_user_id] }
  await call(service, 'POST', `/guardrails/${guardrailId}/assignments/members`, { body })
  await expectSpent(idle.key, 'member', 'member')
})

test('a budget without an interval never resets, and nothing says that it does', async () => {
  const bound = await makeKey()
  const { json } = await call(service, 'POST', '/guardrails', { body: { name: 'For ever', limit_usd: 0.001 } })
  guardrailId = (json as { data: { id: string } }).data.id
  await call(service, 'POST', `/guardrails/${guardrailId}/assignments/keys`, { body: { key_hashes: [bound.data.hash] } })
  const { status, error } = await infer(service, ASKING, { key: bound.key })
  expect([status, error.metadata['scope']]).toEqual([403, 'api_key'])
  expect(await budgetsOf(bound.key)).toMatchObject([{ scope: 'api_key', limit_usd: 0.001, reset_interval: null, resets_at: null }])
})

test("the workspace's own budget limits every member and every key, the member's spending first", async () => {
  const spender = await makeKey()
  expect((await infer(service, ASKING, { key: spender.key })).status).toBe(200)
  const { json } = await call(service, 'PATCH', '/guardrails/default', { body: BUDGET })
  guardrailId = (json as { data: { id: string } }).data.id
  await expectSpent(spender.key, 'workspace_default_member', 'member')
  expect(await budgetsOf(spender.key)).toMatchObject([{ scope: 'workspace_default_member' }, { scope: 'workspace_default_key' }])
})
