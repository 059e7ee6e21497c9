/** Thinking of other vendors on Responses, with the `openai` SDK: a client that asks for a summary gets it as one, and it is sent back. */
import { describe, expect, test } from 'bun:test'
import OpenAI from 'openai'

import { startFakeUpstream } from '../support/fake-upstream.ts'
import { useServices } from '../support/started-service.ts'
import { chunk } from '../support/upstream-replies.ts'

const upstream = await startFakeUpstream()

const service = await useServices().start({ env: { DEEPSEEK_API_KEY: 'k', DEEPSEEK_BASE_URL: upstream.url } })

const CALL = { id: 'call_1', type: 'function', function: { name: 'get_weather', arguments: '{}' } }

const think = (): void =>
  upstream.script((exchange) =>
    exchange.stream(
      [
        chunk({ reasoning_content: 'Hm, ' }),
        chunk({ reasoning_content: 'so.' }),
        chunk({ tool_calls: [{ index: 0, ...CALL }] }),
        chunk({}, 'tool_calls'),
      ].map((one) => JSON.stringify(one)),
    ),
  )

type Input = OpenAI.Responses.ResponseInput

describe.each([
  [{ effort: 'high', summary: 'auto' }, { summary: 'Hm, so.', content: '' }, 'response.reasoning_summary_text.delta'],
  [{ effort: 'high', generate_summary: 'concise' }, { summary: 'Hm, so.', content: '' }, 'response.reasoning_summary_text.delta'],
  [{ effort: 'high' }, { summary: '', content: 'Hm, so.' }, 'response.reasoning_text.delta'],
  [{ effort: 'high', summary: null }, { summary: '', content: 'Hm, so.' }, 'response.reasoning_text.delta'],
] as const)('reasoning: %j', (reasoning, shown, delta) => {
  const ask = (input: Input) =>
    new OpenAI({ apiKey: service.inferenceKey, baseURL: service.api, maxRetries: 0 }).responses
      .stream({
        model: 'deepseek/deepseek-v4-pro',
        input,
        reasoning,
        tools: [{ type: 'function', name: 'get_weather', strict: false, parameters: { type: 'object' } }],
      })
      .on('event', ({ type }) => void types.add(type))
      .finalResponse()
  const types = new Set<string>()

  test('thinking is shown in that form, and comes back to its model between calls of tools', async () => {
    think()
    const question: Input[number] = { role: 'user', content: 'Is it warm?' }
    const { output } = await ask([question])
    const textOf = (parts: readonly { readonly text: string }[] = []): string => parts.map(({ text }) => text).join('')
    const thoughts = output.flatMap((item) =>
      item.type === 'reasoning' ? [{ summary: textOf(item.summary), content: textOf(item.content) }] : [],
    )
    expect(thoughts).toEqual([shown])
    expect([...types].filter((type) => /^response\.reasoning\w*\.delta$/.test(type))).toEqual([delta])

    await ask([question, ...(output as Input), { type: 'function_call_output', call_id: 'call_1', output: 'mild' }])
    expect(upstream.last.body.messages[1]).toMatchObject({
      role: 'assistant',
      reasoning_content: 'Hm, so.',
      tool_calls: [{ id: 'call_1' }],
    })
  })
})
