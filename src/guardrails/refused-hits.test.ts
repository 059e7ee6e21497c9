import { expect, test } from 'bun:test'

import { createFakeClock, T0 } from '../../test/support/fake-clock.ts'
import type { Effect } from '../canonical/effect.ts'
import type { GuardrailHits } from '../storage/guardrails/guardrail-hours.ts'
import { createRefusedHits } from './refused-hits.ts'

const effect = (patterns: readonly string[]): Effect => ({
  type: 'guardrail',
  name: 'content-filter',
  guardrail_id: 'g-1',
  guardrail_scope: 'api-key',
  summary: 'Blocked',
  data: { action: 'blocked', patterns: [...patterns] },
})

test('finds of refused requests are summed by hour and rule, each request once, and wait where storage is away', async () => {
  const clock = createFakeClock()
  const written: (readonly GuardrailHits[])[] = []
  let isAway = false
  const hits = createRefusedHits({
    clock,
    store: {
      add: (some) => {
        if (isAway) return Promise.reject(new Error('away'))
        written.push(some)
        return Promise.resolve()
      },
    },
  })
  const hour = new Date(T0).toISOString().slice(0, 13)
  hits.note([effect(['[EMAIL]', '[PHONE]']), effect(['[EMAIL]'])])
  hits.note([effect(['[EMAIL]'])])
  hits.note([])
  isAway = true
  expect(await hits.write().catch((thrown: Error) => thrown.message)).toBe('away')
  isAway = false
  await hits.write()
  await hits.write()
  expect(written).toEqual([
    [
      { guardrail_id: 'g-1', hour, rule: '[EMAIL]', requests: 2 },
      { guardrail_id: 'g-1', hour, rule: '[PHONE]', requests: 1 },
    ],
  ])
})
