/**
 * Cached tokens are charged at their price, and once, whether the provider counts them within the prompt or beside it
 * (docs/contract/budgets.md#usage).
 */
import { expect, test } from 'bun:test'

import { CLIENT_DIALECTS } from '../../src/canonical/call.ts'
import { at } from '../support/json-at.ts'
import { question, replay } from '../support/replay.ts'
import { whole } from '../support/upstream-replies.ts'

const PRICES = { prompt: 10, completion: 20, cache_read: 1 }

const CHAT = { id: 'a', choices: [{ index: 0, message: { role: 'assistant', content: 'Hi' }, finish_reason: 'stop' }] }
const RESPONSE = {
  id: 'a',
  status: 'completed',
  output: [{ type: 'message', id: 'b', role: 'assistant', content: [{ type: 'output_text', text: 'Hi', annotations: [] }] }],
}

const BESIDE = [100, 900, 5, 1005]
const WITHIN = [1000, 900, 5, 1005]

const chatUsage = ([prompt, cached, completion, total]: readonly number[]): object => ({
  prompt_tokens: prompt,
  completion_tokens: completion,
  total_tokens: total,
  prompt_tokens_details: { cached_tokens: cached },
})
const responsesUsage = ([input, cached, output, total]: readonly number[]): object => ({
  input_tokens: input,
  output_tokens: output,
  total_tokens: total,
  input_tokens_details: { cached_tokens: cached },
})

test.each(CLIENT_DIALECTS)('%s', async (client) => {
  for (const counts of [BESIDE, WITHIN])
    for (const [dialect, answer] of [
      ['openai-chat', { ...CHAT, usage: chatUsage(counts) }],
      ['openai-responses', { ...RESPONSE, usage: responsesUsage(counts) }],
    ] as const) {
      const { text } = await replay({
        client,
        upstreams: [{ dialect, reply: whole(answer), slug: 'azure' }],
        body: question(client, false),
        prices: PRICES,
      })
      // Dollars per million tokens: 100 fresh, 900 cached and 5 of the answer.
      expect(at(JSON.parse(text), 'usage', 'cost')).toBeCloseTo((100 * 10 + 900 + 5 * 20) / 1e6, 12)
    }
})
