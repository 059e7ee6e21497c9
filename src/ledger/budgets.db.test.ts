import { expect, test } from 'bun:test'

import { changedBy } from '../../test/support/changed-by.ts'
import { describeEachEngine, type TestEngine } from '../../test/support/databases.ts'
import { createFakeClock } from '../../test/support/fake-clock.ts'
import { systemIds } from '../lib/id.ts'
import { rejectionText } from '../storage/testing/rejection.ts'
import { createChangeCounter } from '../storage/changes/change-counter.ts'
import { createWorkspaceStore } from '../storage/workspaces/workspace-store.ts'
import { createBudgets } from './budgets.ts'
import { createCredits } from './credits.ts'

const DOLLAR = 1_000_000_000

const open = async (engine: TestEngine) => {
  const database = await engine.open()
  const { workspaceId } = await createWorkspaceStore(database).ensureDefaults({
    workspaceId: systemIds.uuid(),
    userId: 'user_1',
    now: '2026-11-20T10:00:00.000Z',
  })
  const parts = { database, clock: createFakeClock(), ids: systemIds }
  const spender = { keyHash: 'k', workspaceId, userId: 'user_1', limit: null }
  return { database, workspaceId, spender, budgets: createBudgets(parts), credits: createCredits(parts) }
}

describeEachEngine('workspace budgets', (engine) => {
  test('one for each interval, the broadest first; a change keeps the id and is seen at once', async () => {
    const { budgets, workspaceId, spender } = await open(engine)
    expect(await budgets.scopes(spender)).toEqual([])
    const daily = await budgets.put({ workspaceId, span: 'daily', limitNanos: 5 * DOLLAR, includeByok: false }, changedBy())
    await budgets.put({ workspaceId, span: 'lifetime', limitNanos: 500 * DOLLAR, includeByok: true, allowLastRequest: true }, changedBy())
    const changed = await budgets.put({ workspaceId, span: 'daily', limitNanos: 6 * DOLLAR, includeByok: false }, changedBy())
    expect(changed).toMatchObject({ id: daily.id, createdAt: daily.createdAt, limitNanos: 6 * DOLLAR })
    expect((await budgets.list(workspaceId)).map(({ span }) => span)).toEqual(['lifetime', 'daily'])
    expect(await budgets.scopes(spender)).toEqual([
      expect.objectContaining({ kind: 'workspace', interval: null, limitNanos: 500 * DOLLAR, includeByok: true, allowLastRequest: true }),
      expect.objectContaining({ kind: 'workspace', interval: 'daily', limitNanos: 6 * DOLLAR, budgetId: daily.id }),
    ])
    expect(budgets.scopes(spender)).not.toBeInstanceOf(Promise)
    expect(await budgets.delete(workspaceId, 'daily', changedBy())).toBe(true)
    expect(await budgets.delete(workspaceId, 'daily', changedBy())).toBe(false)
    expect(await budgets.scopes(spender)).toHaveLength(1)
  })

  test('a change of the limit leaves alone what it does not name', async () => {
    const { budgets, workspaceId } = await open(engine)
    const daily = { workspaceId, span: 'daily', includeByok: false } as const
    await budgets.put({ ...daily, limitNanos: DOLLAR, allowLastRequest: true }, changedBy())
    expect(await budgets.put({ ...daily, limitNanos: 2 * DOLLAR }, changedBy())).toMatchObject({ allowLastRequest: true })
    expect(await budgets.put({ ...daily, limitNanos: 3 * DOLLAR, allowLastRequest: false }, changedBy())).toMatchObject({
      allowLastRequest: false,
    })
  })

  test('a longer interval has the larger limit, and a refused change changes nothing', async () => {
    const { budgets, workspaceId } = await open(engine)
    await budgets.put({ workspaceId, span: 'weekly', limitNanos: 10 * DOLLAR, includeByok: false }, changedBy())
    const put = (span: 'daily' | 'monthly', limitNanos: number) =>
      budgets.put({ workspaceId, span, limitNanos, includeByok: false }, changedBy())
    expect(await rejectionText(put('daily', 10 * DOLLAR))).toContain('the daily budget must be less than the weekly one, which is $10')
    for (const limit of [9 * DOLLAR, 10 * DOLLAR])
      expect(await rejectionText(put('monthly', limit))).toContain('the monthly budget must be more than the weekly one')
    expect(await budgets.list(workspaceId)).toHaveLength(1)
    const both = await Promise.allSettled([put('daily', 9 * DOLLAR), put('monthly', 11 * DOLLAR)])
    expect(both.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled'])
  })

  test('two changes at once cannot together break the order', async () => {
    const { budgets, workspaceId } = await open(engine)
    const outcomes = await Promise.allSettled([
      budgets.put({ workspaceId, span: 'daily', limitNanos: 9 * DOLLAR, includeByok: false }, changedBy()),
      budgets.put({ workspaceId, span: 'monthly', limitNanos: 8 * DOLLAR, includeByok: false }, changedBy()),
    ])
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
  })

  test('what another process changed is seen when the change counter moved', async () => {
    const { database, budgets, workspaceId, spender } = await open(engine)
    const counter = createChangeCounter(database)
    const before = await counter.read()
    expect(await budgets.scopes(spender)).toEqual([])
    const other = createBudgets({ database, clock: createFakeClock(), ids: systemIds })
    await other.put({ workspaceId, span: 'daily', limitNanos: DOLLAR, includeByok: false }, changedBy())
    expect(await counter.read()).toBeGreaterThan(before)
    budgets.refreshCache()
    expect(await budgets.scopes(spender)).toHaveLength(1)
  })
})

describeEachEngine('credits', (engine) => {
  test('entries add up, and the sum is the limit', async () => {
    const { credits, workspaceId, spender } = await open(engine)
    expect(await credits.total(workspaceId)).toBe(0)
    await credits.add({ workspaceId, amountNanos: 10 * DOLLAR, note: 'bought' }, changedBy())
    await credits.add({ workspaceId, amountNanos: -3, note: 'corrected' }, changedBy())
    expect(await credits.total(workspaceId)).toBe(10 * DOLLAR - 3)
    expect(await credits.scopes(spender)).toEqual([
      expect.objectContaining({ kind: 'credits', limitNanos: 10 * DOLLAR - 3, interval: null, includeByok: false }),
    ])
  })

  test('additions at once cannot together go beyond what can be counted exactly', async () => {
    const { credits, workspaceId } = await open(engine)
    const half = (Number.MAX_SAFE_INTEGER - 1) / 2
    const outcomes = await Promise.allSettled(
      Array.from({ length: 8 }, () => credits.add({ workspaceId, amountNanos: half, note: '' }, changedBy())),
    )
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(2)
    for (const outcome of outcomes) if (outcome.status === 'rejected') expect(outcome.reason).toMatchObject({ type: 'invalid_request' })
    expect(await credits.total(workspaceId)).toBe(Number.MAX_SAFE_INTEGER - 1)
  })
})
