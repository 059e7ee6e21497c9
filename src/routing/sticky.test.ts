import { describe, expect, test } from 'bun:test'

import { createFakeClock } from '../../test/support/fake-clock.ts'
import { usageOf } from '../canonical/usage.ts'
import { createModels } from '../models/models.ts'
import { attemptOf, callOf, endpoint, model, newHealth, planOf, priced, tags } from '../../test/support/plans.ts'
import { bindsConversation, conversationKey, createSticky } from './sticky.ts'

const MINUTE = 60_000
const served = [priced('a', 1), priced('b', 2)]
const say = (...contents: string[]) => contents.map((content, index) => ({ role: index % 2 === 0 ? 'user' : 'assistant', content }))

describe('the key of a conversation', () => {
  const keyOf = (fields: Record<string, unknown>, account = 'w') => conversationKey(callOf(fields), account)

  test('session_id over prompt_cache_key over how it begins', () => {
    expect(keyOf({ session_id: 's', prompt_cache_key: 'k' })).toBe('w session m/one s')
    expect(keyOf({ prompt_cache_key: 'k' })).toBe('w cache m/one k')
    expect(keyOf({})).toMatch(/^w begins m\/one [\w-]{43}$/)
  })

  test('is another one for another model: a session that speaks to two keeps the place of each', () => {
    expect(keyOf({ session_id: 's', model: 'm/two' })).not.toBe(keyOf({ session_id: 's' }))
  })

  test('is another one for another account', () => {
    expect(keyOf({ session_id: 's' }, 'v')).not.toBe(keyOf({ session_id: 's' }, 'w'))
  })

  test.each<[string, 'chat' | 'responses' | 'messages', (turns: unknown[]) => Record<string, unknown>]>([
    ['chat', 'chat', (turns) => ({ messages: turns })],
    ['chat with a system message', 'chat', (turns) => ({ messages: [{ role: 'system', content: 'Be "kind" {.' }, ...turns] })],
    ['responses', 'responses', (turns) => ({ instructions: 'Be kind.', input: turns })],
    ['messages', 'messages', (turns) => ({ system: 'Be kind.', messages: turns, max_tokens: 9 })],
  ])('%s: stays while the conversation grows, and differs where it begins otherwise', (_, dialect, bodyOf) => {
    const key = (turns: unknown[]) => conversationKey(callOf(bodyOf(turns), dialect), 'w')
    const [first] = [key(say('Hi }\\"]'))]
    expect(key(say('Hi }\\"]', 'Hello', 'More'))).toBe(first)
    expect(key(say('Ho', 'Hello', 'More'))).not.toBe(first)
  })

  test('what Claude Code tells Anthropic’s billing anew in each request is no part of the beginning', () => {
    const of = (hash: string, said = 'Be kind.') =>
      conversationKey(
        callOf(
          {
            system: [
              { type: 'text', text: `x-anthropic-billing-header: cc_version=2.1.9; cch=${hash};` },
              { type: 'text', text: said },
            ],
            messages: say('Hi'),
            max_tokens: 9,
          },
          'messages',
        ),
        'w',
      )
    expect(of('abcde')).toBe(of('fghij'))
    expect(of('abcde')).not.toBe(of('abcde', 'Be brief.'))
  })

  test('instructions are part of the beginning', () => {
    const of = (system: string) => keyOf({ messages: [{ role: 'developer', content: system }, ...say('Hi')] })
    expect(of('one')).not.toBe(of('two'))
  })
})

describe('a remembered endpoint', () => {
  test('for ten minutes after the last success', () => {
    const clock = createFakeClock()
    const sticky = createSticky({ clock })
    sticky.remember('w session s', 'm/one b')
    clock.advance(9 * MINUTE)
    expect(sticky.find('w session s')).toBe('m/one b')
    sticky.remember('w session s', 'm/one b')
    clock.advance(10 * MINUTE - 1)
    expect(sticky.find('w session s')).toBe('m/one b')
    clock.advance(1)
    expect([sticky.find('w session s'), sticky.find('w session t')]).toEqual([null, null])
  })

  test('is forgotten where too many others came after it', () => {
    const sticky = createSticky({ clock: createFakeClock() })
    for (let number = 0; number <= 20_000; number += 1) sticky.remember(`w session ${number}`, 'm/one b')
    expect([sticky.find('w session 0'), sticky.find('w session 1')]).toEqual([null, 'm/one b'])
    sticky.remember('w session 1', 'm/one b')
    sticky.remember('w session new', 'm/one b')
    expect([sticky.find('w session 1'), sticky.find('w session 2')]).toEqual(['m/one b', null])
  })
})

describe('in a plan', () => {
  const sticky = (): string => 'm/one b'
  const fields = { session_id: 's' }

  test('the remembered endpoint stands first', () => {
    expect(planOf(served, fields, { sticky })).toMatchObject({ order: 'sticky', stickyKey: 'workspace session m/one s' })
    expect(tags(planOf(served, fields, { sticky }))).toBe('b a')
  })

  test('not with provider.order, which nothing is remembered of either', () => {
    const plan = planOf(served, { ...fields, provider: { order: ['a'] } }, { sticky })
    expect([tags(plan), plan.stickyKey]).toEqual(['a b', null])
  })

  test('not where it is filtered away, cools, is in trouble, or has its breaker open', () => {
    expect(tags(planOf(served, { ...fields, provider: { ignore: ['b'] } }, { sticky }))).toBe('a')
    for (const [outcome, times] of [
      ['rate-limited', 1],
      ['failure', 3],
      ['failure', 5],
    ] as const) {
      const health = newHealth()
      attemptOf(health, 'm/one a', {})
      for (let time = 0; time < times; time += 1) attemptOf(health, 'm/one b', { outcome })
      expect(tags(planOf(served, fields, { sticky, health }))).toBe(times === 5 ? 'a' : 'a b')
    }
  })

  test('not before what has the wanted tier, nor where the conversation has outgrown its context', () => {
    const tiers = [priced('a', 1, { serviceTier: 'priority', tag: 'a/priority' }), priced('b', 1)]
    expect(tags(planOf(tiers, { ...fields, service_tier: 'priority' }, { sticky }))).toBe('a/priority b')
    const contexts = [priced('a', 1, { contextLength: 100_000 }), priced('b', 1, { contextLength: 100 })]
    const long = { messages: [{ role: 'user', content: 'x'.repeat(1000) }] }
    expect(tags(planOf(contexts, fields, { sticky }))).toBe('b a')
    expect(tags(planOf(contexts, { ...fields, ...long }, { sticky }))).toBe('a b')
  })

  test.each(['patchbay/auto', 'patchbay/free'])(
    '%s stays with the remembered model, but not before one that the request names first',
    (name) => {
      const free = { prices: { prompt: 0, completion: 0 } }
      const models = createModels(
        [model('m/two', [endpoint('a', free)]), model('m/one', [endpoint('b', free)]), model('m/named', [endpoint('c')])],
        [],
      )
      expect(tags(planOf(models, { model: name }, { sticky: () => 'm/two a' }))).toStartWith('a b')
      expect(tags(planOf(models, { model: name }, { sticky }))).toStartWith('b a')
      expect(tags(planOf(models, { model: 'm/named', models: [name] }, { sticky }))).toStartWith('c ')
    },
  )

  test('nothing is looked up where there is no choice', () => {
    for (const provider of [undefined, { sort: 'price' }]) {
      const plan = planOf(
        [endpoint('a')],
        { ...fields, provider },
        {
          sticky: () => {
            throw new Error('looked up')
          },
        },
      )
      expect(plan.stickyKey).toBeNull()
    }
  })
})

test('a named session binds after any success; a recognised conversation only after a cache was used that is cheaper to read', () => {
  const cheaper = endpoint('a', { prices: { prompt: 2, completion: 2, cache_read: 0.2 } })
  const used = usageOf({ inputCacheRead: 10 })
  expect([
    bindsConversation('w session s', endpoint('a'), usageOf({})),
    bindsConversation('w begins x', cheaper, used),
    bindsConversation('w cache x', cheaper, usageOf({ inputCacheWrite5m: 10 })),
    bindsConversation('w cache x', cheaper, usageOf({ inputCacheWrite1h: 10 })),
    bindsConversation('w begins x', cheaper, usageOf({ inputFresh: 10 })),
    bindsConversation('w begins x', endpoint('a'), used),
    bindsConversation('w begins x', priced('a', 1), used),
    bindsConversation('w begins x', endpoint('a', { prices: { prompt: 2, completion: 2, cache_read: 2 } }), used),
  ]).toEqual([true, true, true, true, false, false, false, false])
})
