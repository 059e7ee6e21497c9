import { expect, test } from 'bun:test'

import { firedCondition, type LoopSoFar, type StopCondition } from './stop-conditions.ts'

const SO_FAR: LoopSoFar = {
  steps: 2,
  called: new Set(['service:web_search', 'openrouter:web_search', 'service_web_search']),
  tokens: 1000,
  costNanos: 5_000_000,
  finishReasons: ['tool_use', 'tool_calls'],
}

const CASES: readonly [StopCondition, boolean][] = [
  [{ type: 'step_count_is', step_count: 2 }, true],
  [{ type: 'step_count_is', step_count: 3 }, false],
  [{ type: 'has_tool_call', tool_name: 'openrouter:web_search' }, true],
  [{ type: 'has_tool_call', tool_name: 'service_web_search' }, true],
  [{ type: 'has_tool_call', tool_name: 'web_fetch' }, false],
  [{ type: 'max_tokens_used', max_tokens: 999 }, true],
  [{ type: 'max_tokens_used', max_tokens: 1000 }, false],
  [{ type: 'max_cost', max_cost_in_dollars: 0.004 }, true],
  [{ type: 'max_cost', max_cost_in_dollars: 0.005 }, false],
  [{ type: 'finish_reason_is', reason: 'tool_use' }, true],
  [{ type: 'finish_reason_is', reason: 'tool_calls' }, true],
  [{ type: 'finish_reason_is', reason: 'length' }, false],
]

test.each(CASES)('%j fires: %p', (condition, fires) => {
  expect(firedCondition([condition], SO_FAR)).toBe(fires ? condition.type : null)
})

test('of several conditions the first one that fires is named', () => {
  const conditions: StopCondition[] = [
    { type: 'step_count_is', step_count: 9 },
    { type: 'max_tokens_used', max_tokens: 1 },
    { type: 'has_tool_call', tool_name: 'service:web_search' },
  ]
  expect(firedCondition(conditions, SO_FAR)).toBe('max_tokens_used')
})
