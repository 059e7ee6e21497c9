import { expect, test } from 'bun:test'

import { estimateEvaluation } from './estimate-evaluation.ts'

test('other requests run after each item that is estimated', async () => {
  const order: string[] = []
  const items = ['a', 'b', 'c'].map((content) => ({ messages: [{ role: 'user', content }], tools: null, expected: null }))
  const estimate = await estimateEvaluation(
    { workspaceId: 'w', slug: 's' },
    items,
    { version: 1, baseline: null, checks: [] },
    {
      readItem: async () => {
        order.push('item')
        return { dialect: 'chat', body: {}, conversation: [], expected: null }
      },
      priceOf: async () => ({ min: 1, max: 2, outputTokens: 3 }),
      turn: async () => void order.push('turn'),
    },
  )
  expect(estimate).toMatchObject({ requests: 3, min_usd: 3, max_usd: 6 })
  expect(order).toEqual(['item', 'turn', 'item', 'turn', 'item', 'turn'])
})
