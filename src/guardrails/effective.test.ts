import { describe, expect, test } from 'bun:test'

import { guardrailWith } from '../../test/support/guardrail.ts'
import { budgetScopes } from './budget-scopes.ts'
import { effectiveOf } from './effective.ts'
import { policyExclusion } from './policy-filter.ts'

const caller = { hash: 'key-1', userId: 'user-1' }

describe('several guardrails', () => {
  test('none: nothing is looked at', () => expect(effectiveOf([])).toBeNull())

  test('one that says nothing restricts nothing', () => {
    expect(effectiveOf([guardrailWith({})])).toMatchObject({ policy: null, input: null, output: null, moderation: [] })
  })

  test('allow-lists intersect, whatever the case; ignore-lists add up; zero retention and training are as the strictest says', () => {
    const effective = effectiveOf([
      guardrailWith({ allowed_models: ['a/one', 'a/two'], ignored_providers: ['x'], enforce_zdr_openai: true }),
      guardrailWith({ allowed_models: ['A/TWO', 'a/three'], ignored_providers: ['y'], enable_paid_model_training: false }, 'workspace'),
    ])
    expect(effective?.policy).toMatchObject({
      allowedModels: ['a/two'],
      ignoredModels: [],
      allowedProviders: null,
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

describe('what a policy leaves', () => {
  const endpoint = {
    provider: { slug: 'acme', name: 'Acme Inc', dialects: ['openai-chat' as const], baseUrl: '', apiKeys: [], anyModel: false },
    upstreamModel: 'one',
    prices: { prompt: 1, completion: 1 },
    maxCompletionTokens: null,
  }
  const model = {
    id: 'openai/one',
    name: 'One',
    created: 0,
    contextLength: null,
    inputModalities: [],
    outputModalities: [],
    supportedParameters: [],
    endpoints: [endpoint],
  }
  const reason = (settings: Parameters<typeof guardrailWith>[0], to = endpoint): string | null =>
    policyExclusion(effectiveOf([guardrailWith(settings)])?.policy ?? null, model, to)

  test('names the list that rules an endpoint out', () => {
    expect(reason({ allowed_models: ['other/model'] })).toBe('guardrail.allowed_models')
    expect(reason({ ignored_models: ['OpenAI/One'] })).toBe('guardrail.ignored_models')
    expect(reason({ allowed_providers: ['other'] })).toBe('guardrail.allowed_providers')
    expect(reason({ ignored_providers: ['acme inc'] })).toBe('guardrail.ignored_providers')
    expect(reason({ enforce_zdr: true })).toContain('guardrail.enforce_zdr_openai')
    expect(reason({ enable_paid_model_training: false })).toContain('guardrail.enable_paid_model_training')
    const free = { ...endpoint, prices: { prompt: 0, completion: 0 } }
    expect(reason({ enable_free_model_publication: false }, free)).toContain('guardrail.enable_free_model_publication')
    expect(reason({ enable_free_model_training: false }, free)).toContain('guardrail.enable_free_model_training')
  })

  test('leaves what its lists allow, and the sandbox where data is concerned', () => {
    expect(reason({ allowed_models: ['OPENAI/one'], allowed_providers: ['Acme'] })).toBeNull()
    expect(reason({ enforce_zdr_anthropic: true, enable_free_model_training: false })).toBeNull()
    expect(reason({ enforce_zdr: true }, { ...endpoint, provider: { ...endpoint.provider, dialects: ['sandbox' as never] } })).toBeNull()
  })
})

test('budgets are checked each by itself, in the order of decision 24', () => {
  const limits = { limit_usd: 5, reset_interval: 'daily' } as const
  const effective = effectiveOf([
    guardrailWith(limits, 'api-key', 'g-1'),
    guardrailWith({ ...limits, include_byok_in_budgets: true }, 'member', 'g-2'),
    guardrailWith({ limit_usd: 1, reset_interval: 'monthly' }, 'workspace', 'g-3'),
  ])
  expect(budgetScopes(effective, caller)).toEqual([
    {
      id: 'guardrail:g-3:member:user-1',
      kind: 'workspace_default_member',
      limitNanos: 1_000_000_000,
      interval: 'monthly',
      includeByok: false,
      guardrailId: 'g-3',
    },
    {
      id: 'guardrail:g-3:key:key-1',
      kind: 'workspace_default_key',
      limitNanos: 1_000_000_000,
      interval: 'monthly',
      includeByok: false,
      guardrailId: 'g-3',
    },
    {
      id: 'guardrail:g-2:member:user-1',
      kind: 'member',
      limitNanos: 5_000_000_000,
      interval: 'daily',
      includeByok: true,
      guardrailId: 'g-2',
    },
    {
      id: 'guardrail:g-1:key:key-1',
      kind: 'api_key',
      limitNanos: 5_000_000_000,
      interval: 'daily',
      includeByok: false,
      guardrailId: 'g-1',
    },
  ])
  expect(budgetScopes(null, caller)).toEqual([])
})
