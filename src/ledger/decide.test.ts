import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'

import { decide, inOrder, type Bound } from './decide.ts'
import { refusalError } from './refusal.ts'
import { SCOPE_KINDS, type Scope } from './scope.ts'

const NO_CREDIT = { fraction: 0.5, ceilingNanos: null }

const scope = (kind: Scope['kind'], more: Partial<Scope> = {}): Scope => ({
  id: kind,
  kind,
  limitNanos: 1000,
  interval: 'monthly',
  includeByok: false,
  guardrailId: null,
  budgetId: null,
  allowLastRequest: false,
  ...more,
})

const bound = (of: Scope, committed: number, held = 0, byok = 0): Bound => ({
  scope: of,
  window: {
    subject: 's',
    span: 'monthly',
    window_start: '2026-11-01',
    window_end: '2026-12-01',
    committed_n: committed,
    byok_n: byok,
    held_n: held,
  },
})

describe('a request', () => {
  test('fits to the last nano-dollar, and not beyond', () => {
    expect(decide([bound(scope('key_limit'), 600, 300)], 100, NO_CREDIT)).toBeNull()
    expect(decide([bound(scope('key_limit'), 600, 300)], 101, NO_CREDIT)).toMatchObject({ cause: 'busy', shortNanos: 1 })
    expect(decide([bound(scope('key_limit'), 600)], 401, NO_CREDIT)).toMatchObject({ cause: 'too-large' })
    expect(decide([bound(scope('key_limit'), 1000)], 0, NO_CREDIT)).toMatchObject({ cause: 'spent' })
  })

  test('names what waiting cannot help before what it can', () => {
    const busy = bound(scope('member'), 0, 1000)
    const spent = bound(scope('key_limit'), 1000)
    expect(decide([busy, spent], 1, NO_CREDIT)).toMatchObject({ cause: 'spent', bound: spent })
    const tight = bound(scope('key_limit'), 999)
    expect(decide([busy, tight], 5, NO_CREDIT)).toMatchObject({ cause: 'too-large', bound: tight })
  })

  test('free of charge passes where nothing is spent, also beside a full house', () => {
    expect(decide([bound(scope('key_limit'), 0, 1000)], 0, NO_CREDIT)).toBeNull()
  })
})

test('is admitted where it fits every limit beside what is spent and held, and is told to wait only where waiting helps', () => {
  const amount = fc.integer({ min: 0, max: 20 })
  const bounds = fc.array(
    fc
      .tuple(fc.constantFrom<Scope['kind']>(...SCOPE_KINDS, 'credits'), amount, fc.boolean(), fc.boolean(), amount, amount, amount)
      .map(([kind, limitNanos, includeByok, allowLastRequest, committed, held, byok]) =>
        bound(scope(kind, { limitNanos, includeByok, allowLastRequest }), committed, held, byok),
      ),
    { minLength: 1, maxLength: 3 },
  )
  const inFlight = fc.record({ fraction: fc.constantFrom(0.25, 0.5, 1), ceilingNanos: fc.option(amount) })
  fc.assert(
    fc.property(bounds, amount, inFlight, (all, estimate, { fraction, ceilingNanos }) => {
      const fits = ({ scope: { kind, limitNanos, includeByok, allowLastRequest }, window }: Bound, held: number): boolean => {
        const left = limitNanos - window.committed_n - (includeByok ? window.byok_n : 0)
        const share = kind === 'credits' ? Math.min(Math.floor(left * fraction), ceilingNanos ?? left) : left
        if (left <= 0 || (kind === 'credits' && estimate > share)) return false
        return estimate > left ? allowLastRequest && held === 0 : held + estimate <= share
      }
      const refusal = decide(all, estimate, { fraction, ceilingNanos })
      expect(refusal === null).toBe(all.every((one) => fits(one, one.window.held_n)))
      if (refusal === null) return
      expect(refusal.cause === 'busy').toBe(all.every((one) => fits(one, 0)))
      if (refusal.cause !== 'busy') return
      const freed = refusal.bound.window.held_n - refusal.shortNanos
      expect([fits(refusal.bound, freed), fits(refusal.bound, freed + 1)]).toEqual([true, false])
    }),
    { numRuns: 2000 },
  )
})

test('scopes are checked in their order, credit last, and the broadest interval of a kind first', () => {
  const scopes = [
    scope('credits'),
    ...SCOPE_KINDS.map((kind) => scope(kind)).toReversed(),
    scope('workspace', { interval: null }),
    scope('workspace', { interval: 'daily' }),
    scope('workspace', { interval: 'weekly' }),
    scope('api_key', { limitNanos: 3 }),
  ]
  expect(inOrder(scopes).map(({ kind, interval, limitNanos }) => `${kind} ${interval}${limitNanos === 3 ? ' of 3' : ''}`)).toEqual([
    'workspace_default_member monthly',
    'workspace_default_key monthly',
    'member monthly',
    'api_key monthly of 3',
    'api_key monthly',
    'workspace null',
    'workspace monthly',
    'workspace weekly',
    'workspace daily',
    'key_limit monthly',
    'credits monthly',
  ])
  expect(inOrder([scope('credits'), scope('member')]).map(({ kind }) => kind)).toEqual(['member', 'credits'])
})

describe('the error', () => {
  const NOW = Date.UTC(2026, 10, 20, 10)
  const spent = (of: Scope) => {
    const refusal = decide([bound(of, 1_234_567_890)], 0, NO_CREDIT)
    if (refusal === null) throw new Error('It is spent.')
    return refusalError(refusal, NOW, 0)
  }

  test.each([
    ['workspace_default_member', 'service_guardrail_budget', 'monthly guardrail budget of this member'],
    ['workspace_default_key', 'service_guardrail_budget', 'monthly guardrail budget of this key'],
    ['member', 'service_guardrail_budget', 'monthly guardrail budget of this member'],
    ['api_key', 'service_guardrail_budget', 'monthly guardrail budget of this key'],
    ['workspace', 'service_workspace_budget', 'monthly budget of this workspace'],
    ['key_limit', 'service_key_limit', 'monthly limit of this key'],
  ] as const)('of %s names its source, its scope and its figures', (kind, source, name) => {
    const error = spent(scope(kind, { limitNanos: 500_000_000, guardrailId: kind === 'api_key' ? 'g-1' : null }))
    expect([error.status, error.type, error.retryAfterSeconds]).toEqual([403, 'permission_denied', undefined])
    expect(error.message).toBe(`The ${name} is exhausted. Used $1.23456789 of $0.50; resets at 2026-12-01T00:00:00.000Z.`)
    expect(error.metadata).toMatchObject({
      limit_source: source,
      scope: kind,
      limit_usd: 0.5,
      spend_usd: 1.23456789,
      resets_at: '2026-12-01T00:00:00.000Z',
    })
    expect(error.metadata['guardrail_id']).toBe(kind === 'api_key' ? 'g-1' : undefined)
    expect(error.metadata['remedy_hint']).toMatch(/^Wait for the reset, or raise the .*\.$/)
  })

  test('of a lifetime says that it does not reset', () => {
    const error = spent(scope('workspace', { interval: null }))
    expect(error.message).toEndWith('Used $1.23456789 of $0.000001; it does not reset.')
    expect(error.metadata).toMatchObject({ resets_at: null, remedy_hint: 'Raise the budget of the workspace.' })
  })

  const refused = (of: Scope, { committed = 0, held = 0, estimate = 0 }) => {
    const refusal = decide([bound(of, committed, held)], estimate, NO_CREDIT)
    if (refusal === null) throw new Error('It is admitted.')
    return refusalError(refusal, NOW, 7)
  }

  test.each([
    ['key_limit', 403, 'service_key_limit', 'raise the limit of the key.'],
    ['workspace', 403, 'service_workspace_budget', 'raise the budget of the workspace.'],
    ['member', 403, 'service_guardrail_budget', 'raise the budget of the guardrail.'],
    ['credits', 402, 'service_credits', 'add credit.'],
  ] as const)('of %s for a request that is too large tells what it may cost', (kind, status, source, remedy) => {
    const error = refused(scope(kind), { estimate: 1001 })
    expect([error.status, error.retryAfterSeconds]).toEqual([status, undefined])
    expect(error.metadata).toMatchObject({
      limit_source: source,
      reason: 'weight_exceeds_budget',
      estimate_usd: 0.000001001,
      remedy_hint: `Lower max_tokens, shorten the prompt, or ${remedy}`,
    })
  })

  test('of what running requests fill says when to try again, whatever is full', () => {
    for (const kind of [...SCOPE_KINDS, 'credits'] as const) {
      const error = refused(scope(kind), { held: 900, estimate: 200 })
      expect([error.status, error.type, error.retryAfterSeconds]).toEqual([402, 'payment_required', 7])
      expect(error.metadata).toMatchObject({ limit_source: 'service_in_flight_budget', reason: 'in_flight_budget_exhausted' })
      expect(error.metadata['scope']).toBe(kind === 'credits' ? undefined : kind)
    }
  })

  test('names the budget, and says what raises it', () => {
    const { metadata } = refused(scope('workspace', { budgetId: 'b-1' }), { committed: 1000 })
    expect(metadata).toMatchObject({ budget_id: 'b-1', remedy_hint: 'Wait for the reset, or raise the budget of the workspace.' })
    expect(metadata['reason']).toBeUndefined()
    expect(refused(scope('key_limit'), { committed: 1000 }).metadata['budget_id']).toBeUndefined()
  })

  test('of credit is a 402 that cannot be waited for', () => {
    const error = spent(scope('credits', { interval: null, limitNanos: -5 }))
    expect([error.status, error.type, error.retryAfterSeconds]).toEqual([402, 'payment_required', undefined])
    expect(error.metadata).toMatchObject({ limit_source: 'service_credits', remedy_hint: 'Add credit.' })
    expect(error.message).toContain('of -$0.000000005;')
  })
})
