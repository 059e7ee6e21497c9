import { describe, expect, test } from 'bun:test'

import { guardrailWith } from '../../test/support/guardrail.ts'
import { budgetScopes } from './budget-scopes.ts'
import { effectiveOf } from './effective.ts'
import { inOrder } from '../ledger/decide.ts'

const caller = { keyHash: 'key-1', userId: 'user-1' }

describe('several guardrails', () => {
  test('none: nothing is looked at', () => expect(effectiveOf([])).toBeNull())

  test('one that says nothing restricts nothing', () => {
    expect(effectiveOf([guardrailWith({})])).toMatchObject({ policy: null, input: null, output: null, moderation: [] })
  })

  test('every allow-list counts; ignore-lists add up; zero retention and training are as the strictest says', () => {
    const effective = effectiveOf([
      guardrailWith({ allowed_models: ['a/one', 'a/two'], ignored_providers: ['x'], enforce_zdr_openai: true }),
      guardrailWith({ allowed_models: ['A/TWO', 'a/three'], ignored_providers: ['y'], enable_paid_model_training: false }, 'workspace'),
    ])
    expect(effective?.policy).toMatchObject({
      allowedModels: [
        ['a/one', 'a/two'],
        ['A/TWO', 'a/three'],
      ],
      ignoredModels: [],
      allowedProviders: [],
      ignoredProviders: ['x', 'y'],
      zdr: { openai: true, anthropic: false, google: false, xai: false, other: false },
      paidTraining: false,
      freeTraining: true,
    })
  })

  test('the same filter twice has the strictest action and that guardrail’s name, in either order', () => {
    const redact = guardrailWith({ content_filter_builtins: [{ slug: 'email', action: 'redact' }] }, 'api-key', 'g-1')
    const block = guardrailWith({ content_filter_builtins: [{ slug: 'email', action: 'block' }] }, 'workspace', 'g-2')
    for (const applied of [
      [redact, block],
      [block, redact],
    ]) {
      const filters = effectiveOf(applied)?.input?.filters
      expect(filters).toHaveLength(1)
      expect(filters?.[0]).toMatchObject({ action: 'block', origin: { guardrailId: 'g-2', scope: 'workspace' } })
    }
  })

  test('prompt injection is looked for in the input only', () => {
    const effective = effectiveOf([guardrailWith({ content_filter_builtins: [{ slug: 'regex-prompt-injection', action: 'block' }] })])
    expect(effective?.input?.filters).toHaveLength(1)
    expect(effective?.output).toBeNull()
  })
})

test('budgets are checked each by itself, in the fixed order', () => {
  const limits = { limit_usd: 5, reset_interval: 'daily' } as const
  const effective = effectiveOf([
    guardrailWith(limits, 'api-key', 'g-1'),
    guardrailWith({ ...limits, include_byok_in_budgets: true }, 'member', 'g-2'),
    guardrailWith({ limit_usd: 1, reset_interval: 'monthly' }, 'workspace', 'g-3'),
  ])
  expect(inOrder(budgetScopes(effective, caller))).toEqual([
    {
      id: 'guardrail:g-3:member:user-1',
      kind: 'workspace_default_member',
      limitNanos: 1_000_000_000,
      interval: 'monthly',
      includeByok: false,
      guardrailId: 'g-3',
      budgetId: null,
      allowLastRequest: false,
    },
    {
      id: 'guardrail:g-3:key:key-1',
      kind: 'workspace_default_key',
      limitNanos: 1_000_000_000,
      interval: 'monthly',
      includeByok: false,
      guardrailId: 'g-3',
      budgetId: null,
      allowLastRequest: false,
    },
    {
      id: 'guardrail:g-2:member:user-1',
      kind: 'member',
      limitNanos: 5_000_000_000,
      interval: 'daily',
      includeByok: true,
      guardrailId: 'g-2',
      budgetId: null,
      allowLastRequest: false,
    },
    {
      id: 'guardrail:g-1:key:key-1',
      kind: 'api_key',
      limitNanos: 5_000_000_000,
      interval: 'daily',
      includeByok: false,
      guardrailId: 'g-1',
      budgetId: null,
      allowLastRequest: false,
    },
  ])
  expect(budgetScopes(null, caller)).toEqual([])
})
