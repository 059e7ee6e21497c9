/**
 * Thinking without a signature, with `@anthropic-ai/sdk`: it is sent with a signature, without which some clients lose it, and is sent
 * back.
 */
import Anthropic from '@anthropic-ai/sdk'
import { describe, expect, test } from 'bun:test'

import { startFakeUpstream } from '../support/fake-upstream.ts'
import { useServices } from '../support/started-service.ts'
import { chunk } from '../support/upstream-replies.ts'

const upstream = await startFakeUpstream()

const service = await useServices().start({
  env: {
    DEEPSEEK_API_KEY: 'k',
    DEEPSEEK_BASE_URL: upstream.url,
    ANTHROPIC_API_KEY: 'k',
    ANTHROPIC_BASE_URL: upstream.url.slice(0, -'/v1'.length),
  },
})

const CALL = { id: 'call_1', type: 'function', function: { name: 'get_weather', arguments: '{}' } }

const think = (): void =>
  upstream.script((exchange) =>
    exchange.body.stream === true
      ? exchange.stream([
          JSON.stringify(chunk({ reasoning_content: 'Hm.' })),
          JSON.stringify(chunk({ tool_calls: [{ index: 0, ...CALL }] })),
          JSON.stringify(chunk({}, 'tool_calls')),
        ])
      : exchange.answer(
          200,
          JSON.stringify({
            ...chunk({}),
            object: 'chat.completion',
            choices: [
              {
                index: 0,
                finish_reason: 'tool_calls',
                message: { role: 'assistant', content: null, reasoning_content: 'Hm.', tool_calls: [CALL] },
              },
            ],
          }),
          { 'content-type': 'application/json' },
        ),
  )

describe.each([
  ['whole', false],
  ['streamed', true],
])('%s', (_, streamed) => {
  test('it has a signature, and comes back to its model between calls of tools; Claude gets nothing of it', async () => {
    think()
    const client = new Anthropic({ apiKey: service.inferenceKey, baseURL: service.url, maxRetries: 0 })
    const question = { role: 'user' as const, content: 'Is it warm?' }
    const request = {
      model: 'deepseek/deepseek-v4-pro',
      max_tokens: 4000,
      thinking: { type: 'enabled' as const, budget_tokens: 2000 },
      tools: [{ name: 'get_weather', input_schema: { type: 'object' as const } }],
    }
    const ask = (messages: Anthropic.MessageParam[]) =>
      streamed ? client.messages.stream({ ...request, messages }).finalMessage() : client.messages.create({ ...request, messages })
    const { content } = await ask([question])
    const thoughts = content.flatMap((block) => (block.type === 'thinking' ? [[block.thinking, block.signature !== '']] : []))
    expect(thoughts).toEqual([['Hm.', true]])

    const results = { role: 'user' as const, content: [{ type: 'tool_result' as const, tool_use_id: 'call_1', content: 'mild' }] }
    const messages = [question, { role: 'assistant' as const, content }, results]
    await ask(messages)
    expect(upstream.last.body.messages[1]).toMatchObject({ role: 'assistant', reasoning_content: 'Hm.', tool_calls: [{ id: 'call_1' }] })

    await client.messages.create({ ...request, model: 'anthropic/claude-opus-4.5', messages }).catch(() => null)
    expect(upstream.last.path).toEndWith('/messages')
    expect(upstream.last.text).not.toContain('Hm.')
  })
})
