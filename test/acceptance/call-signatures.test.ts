/**
 * Signatures of Gemini's calls on Chat Completions: they stand with the calls, in Google's own form of the dialect, as well as among the
 * thinking. A client that sends back either, or both, brings each to its own call.
 */
import { beforeAll, describe, expect, test } from 'bun:test'
import OpenAI from 'openai'

import { startFakeUpstream } from '../support/fake-upstream.ts'
import { type StartedService, useServices } from '../support/started-service.ts'

const services = useServices()
const upstream = await startFakeUpstream()
let service: StartedService

beforeAll(async () => {
  const address = upstream.url.slice(0, -'/v1'.length)
  service = await services.start({ env: { GEMINI_API_KEY: 'k', GEMINI_BASE_URL: address } })
})

const PARTS = [
  { text: 'Hm.', thought: true },
  { functionCall: { name: 'look', args: {} }, thoughtSignature: 'c2lnMQ==' },
  { functionCall: { name: 'look', args: { at: 2 } } },
]
const ANSWER = JSON.stringify({
  candidates: [{ index: 0, content: { role: 'model', parts: PARTS }, finishReason: 'STOP' }],
  usageMetadata: { promptTokenCount: 5, candidatesTokenCount: 5, totalTokenCount: 10 },
})

interface Called {
  readonly content: string | null
  readonly reasoning_details?: readonly object[]
  readonly tool_calls?: readonly (OpenAI.ChatCompletionMessageFunctionToolCall & { readonly extra_content?: object })[]
}

const SIGNED = { google: { thought_signature: 'c2lnMQ==' } }

describe.each([
  ['whole', false],
  ['streamed', true],
])('%s', (_, streamed) => {
  const ask = async (messages: readonly object[]): Promise<Called> => {
    upstream.script((exchange) =>
      streamed ? exchange.stream([ANSWER]) : exchange.answer(200, ANSWER, { 'content-type': 'application/json' }),
    )
    const client = new OpenAI({ apiKey: service.inferenceKey, baseURL: service.api, maxRetries: 0 })
    const request = {
      model: 'google/gemini-3.5-flash',
      messages: messages as OpenAI.ChatCompletionMessageParam[],
      tools: [{ type: 'function' as const, function: { name: 'look', parameters: { type: 'object' } } }],
    }
    const answered = streamed ? client.chat.completions.stream(request).finalChatCompletion() : client.chat.completions.create(request)
    return (await answered).choices[0]?.message as unknown as Called
  }

  test.each([
    ['with its call', ({ content, tool_calls }: Called) => ({ content, tool_calls })],
    [
      'among the thinking',
      ({ content, reasoning_details, tool_calls = [] }: Called) => ({
        content,
        reasoning_details,
        tool_calls: tool_calls.map(({ extra_content: _none, ...call }) => call),
      }),
    ],
    ['both ways', ({ content, reasoning_details, tool_calls }: Called) => ({ content, reasoning_details, tool_calls })],
  ])('a signature that is sent back %s reaches the provider with its own call, and with no other', async (_way, kept) => {
    const question = { role: 'user', content: 'Look.' }
    const said = await ask([question])
    expect(said.tool_calls?.map((call) => call.extra_content)).toEqual([SIGNED, undefined])
    const results = (said.tool_calls ?? []).map(({ id }) => ({ role: 'tool', tool_call_id: id, content: 'Seen.' }))
    await ask([question, { role: 'assistant', ...kept(said) }, ...results])
    const { contents } = upstream.last.body as unknown as { contents: readonly { role: string; parts: readonly object[] }[] }
    const calls = contents[1]?.parts.filter((part) => 'functionCall' in part)
    expect(calls).toMatchObject([{ thoughtSignature: 'c2lnMQ==' }, { functionCall: { args: { at: 2 } } }])
    expect(calls?.[1]).not.toHaveProperty('thoughtSignature')
  })
})
