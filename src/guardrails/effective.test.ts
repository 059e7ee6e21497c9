import { describe, expect, test } from 'bun:test'

import { guardrailWith } from '../../test/support/guardrail.ts'
import type { GuardrailPatch } from '../contract/guardrail.ts'
import { GatewayError } from '../errors.ts'
import { budgetScopes } from './budget-scopes.ts'
import { assertRegion, effectiveOf } from './effective.ts'
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

  test.each<[string, GuardrailPatch, readonly string[] | null]>([
    ['only some models', { allowed_models: ['a/one'] }, null],
    ['not some models', { ignored_models: ['a/one'] }, null],
    ['only some providers', { allowed_providers: ['x'] }, null],
    ['not some providers', { ignored_providers: ['x'] }, null],
    ['zero retention with one vendor', { enforce_zdr_anthropic: true }, null],
    ['no training, paid', { enable_paid_model_training: false }, null],
    ['no training, free', { enable_free_model_training: false }, null],
    ['no publication', { enable_free_model_publication: false }, null],
    ['only the models of the key itself', {}, ['a/one']],
  ])('%s: one duty alone is kept, also where the other guardrails say nothing', (_, duty, keyModels) => {
    const alone = effectiveOf([guardrailWith(duty)], keyModels)?.policy
    expect(alone).not.toBeNull()
    const silent = guardrailWith({}, 'workspace')
    for (const applied of [
      [guardrailWith(duty), silent],
      [silent, guardrailWith(duty)],
    ])
      expect(effectiveOf(applied, keyModels)?.policy).toEqual(alone)
  })

  test('the models of the key itself are one more allow-list, also without any guardrail', () => {
    expect(effectiveOf([], ['a/one'])?.policy?.allowedModels).toEqual([['a/one']])
    expect(effectiveOf([guardrailWith({ allowed_models: ['a/two'] })], ['a/one'])?.policy?.allowedModels).toEqual([['a/one'], ['a/two']])
  })

  test('each denied tool, each moderation and each custom filter counts', () => {
    const pattern = { pattern: 'plan', action: 'block', label: '[PLAN]', applies_to: 'output' } as const
    const effective = effectiveOf([
      guardrailWith({ denied_tools: ['web_search'], content_filters: [pattern] }, 'api-key', 'g-1'),
      guardrailWith({ moderation: [{ endpoint: 'default', action: 'flag' }] }, 'workspace', 'g-2'),
    ])
    expect(effective).toMatchObject({
      deniedTools: ['web_search'],
      input: null,
      output: { filters: [{ action: 'block', label: '[PLAN]' }], rewrites: true },
      moderation: [{ endpoint: 'default', action: 'flag', origin: { guardrailId: 'g-2', scope: 'workspace' } }],
    })
  })

  test('403: data regions that leave out this service, or that leave nothing, admit no request', () => {
    const admits = (...regions: (GuardrailPatch['allowed_data_regions'] | undefined)[]): string => {
      const effective = effectiveOf(regions.map((list) => guardrailWith(list === undefined ? {} : { allowed_data_regions: list })))
      try {
        if (effective !== null) assertRegion(effective)
        return 'admitted'
      } catch (thrown) {
        if (!(thrown instanceof GatewayError)) throw thrown
        return `${thrown.status}: ${thrown.message}`
      }
    }
    const refused = (regions: string): string => `403: The guardrails of this key admit requests through ${regions} only; this is global.`
    expect([admits(undefined), admits(['global']), admits(['europe', 'global'], undefined)]).toEqual(['admitted', 'admitted', 'admitted'])
    for (const silent of [[], [undefined]]) expect(admits(['europe'], ...silent)).toBe(refused('europe'))
    expect(admits(undefined, ['europe', 'us'])).toBe(refused('europe, us'))
    expect(admits(['europe', 'global'], ['europe'])).toBe(refused('europe'))
    expect(admits(['global'], ['europe'])).toBe(refused('no region'))
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
