/** Calls that nobody runs: of an unknown tool, and after the end of a loop; and the limits of loops with providers of all dialects. */
import { expect, test } from 'bun:test'

import { type Answer, conversationOf, type Dialect, DIALECTS, infer, PATHS, recordOf } from '../support/calls.ts'
import { readStream } from '../support/client-stream.ts'
import { startFakeUpstream } from '../support/fake-upstream.ts'
import { useServices } from '../support/started-service.ts'

const upstream = await startFakeUpstream()

const service = await useServices().start({
  config: `
providers:
  rock: { name: Rock, dialects: [bedrock], base_url: "${upstream.url}", api_key: k }
  talk: { name: Talk, dialects: [openai-chat], base_url: "${upstream.url}", api_key: k }
  claude: { name: Claude, dialects: [anthropic], base_url: "${upstream.url}", api_key: k }
  open: { name: Open, dialects: [openai-responses], base_url: "${upstream.url}", api_key: k }
  gem: { name: Gem, dialects: [google], base_url: "${upstream.url}", api_key: k }
models:
  t/talk: { endpoints: [{ provider: talk, model: m }] }
  t/claude: { endpoints: [{ provider: claude, model: claude-opus-4-8 }] }
  t/open: { endpoints: [{ provider: open, model: m }] }
  t/gem: { endpoints: [{ provider: gem, model: gemini-3-pro }] }
  t/rock: { endpoints: [{ provider: rock, model: anthropic.claude-opus-4-8 }] }
`,
})

type Json = Readonly<Record<string, unknown>>
const WAYS = DIALECTS.flatMap((dialect) => [true, false].map((stream) => [dialect, stream] as const))

const ask = (dialect: Dialect, more: Json): Promise<Answer> =>
  infer(
    service,
    {
      ...conversationOf(dialect, 'How late is it?'),
      ...more,
    },
    { path: PATHS[dialect], headers: { 'x-service-metadata': 'enabled' } },
  )

const WEATHER: Readonly<Record<Dialect, Json>> = {
  chat: { type: 'function', function: { name: 'weather', parameters: { type: 'object', properties: {} } } },
  responses: { type: 'function', name: 'weather', parameters: { type: 'object', properties: {} } },
  messages: { name: 'weather', input_schema: { type: 'object', properties: {} } },
}

test.each(WAYS)(
  '%s, stream %p: a call of a tool that does not exist is an error for the model, and is not given to the client',
  async (dialect, stream) => {
    const script = [{ calls: [{ name: 'service_calendar' }, { name: 'sunrise' }, { name: 'service:datetime' }] }, { text: 'It is late.' }]
    const answer = await ask(dialect, {
      model: 'sandbox/agent',
      stream,
      sandbox: { script },
      tools: [WEATHER[dialect], { type: 'service:datetime' }],
      stop_server_tools_when: [{ type: 'step_count_is', step_count: 9 }],
    })
    expect(answer.status).toBe(200)
    if (stream) expect(readStream(dialect, answer.text)).toEqual({ end: 'normal', faults: [] })
    expect(answer.text).toContain('late.')
    expect(answer.text).not.toMatch(/calendar|sunrise/)
    expect(answer.text).toMatch(/"tool_calls_requested":\s*3,\s*"tool_calls_executed":\s*1/)
    expect(await recordOf(service, answer)).toMatchObject({
      steps: 3,
      stopped_by: 'model',
      server_tool_calls: [
        { tool: 'unknown', status: 'failed' },
        { tool: 'unknown', status: 'failed' },
        { tool: 'datetime', status: 'completed' },
      ],
    })
  },
)

test.each(WAYS)('%s, stream %p: a call of the client’s own function is given to the client as before', async (dialect, stream) => {
  const script = [{ calls: [{ name: 'weather' }] }]
  const answer = await ask(dialect, {
    model: 'sandbox/agent',
    stream,
    sandbox: { script },
    tools: [WEATHER[dialect], { type: 'service:datetime' }],
  })
  expect(answer.text).toContain('"weather"')
  expect(await recordOf(service, answer)).toMatchObject({ steps: 0, stopped_by: 'client_tool' })
})

test.each(DIALECTS)(
  '%s: limits that the service applies cause no warning at any provider, so a strict request may have them',
  async (dialect) => {
    for (const model of ['sandbox/agent', 't/rock', 't/talk', 't/claude', 't/open', 't/gem']) {
      const bounds = { max_tool_calls: 2, stop_server_tools_when: [{ type: 'step_count_is', step_count: 1 }] }
      upstream.script(({ answer }) => answer(418, '{"error":{"message":"was asked"}}'))
      const { text, status } = await ask(dialect, { model, strict: true, tools: [{ type: 'service:datetime' }], ...bounds })
      expect([model, status, text]).toEqual([
        model,
        model === 'sandbox/agent' ? 200 : status,
        expect.not.stringContaining('max_tool_calls could'),
      ])
    }
  },
)

test('a provider that cannot forbid calls gets the last turn without tools, and the results as text', async () => {
  upstream.script(({ text, answer }) => {
    const ends = !text.includes('toolConfig')
    const content = ends
      ? [{ text: 'Late.' }]
      : [{ text: 'Wait.' }, { toolUse: { toolUseId: 'tooluse_1', name: 'service_datetime', input: {} } }]
    const usage = { inputTokens: 9, outputTokens: 3, totalTokens: 12 }
    return answer(
      200,
      JSON.stringify({
        output: { message: { role: 'assistant', content } },
        stopReason: ends ? 'end_turn' : 'tool_use',
        usage,
        metrics: { latencyMs: 1 },
      }),
    )
  })
  const answer = await ask('chat', { model: 't/rock', tools: [WEATHER.chat, { type: 'service:datetime' }], max_tool_calls: 1 })
  expect(answer.status).toBe(200)
  expect((answer.json as Json)['service_metadata']).not.toHaveProperty('warnings')
  expect(answer.text).toContain('Late.')
  const { messages } = upstream.last.body as unknown as {
    readonly messages: readonly { readonly role: string; readonly content: readonly Json[] }[]
  }
  expect(messages).toMatchObject([
    { role: 'user', content: [{ text: 'How late is it?' }] },
    { role: 'assistant', content: [{ text: 'Wait.' }] },
    { role: 'user', content: [{ text: expect.stringMatching(/^\(earlier tool result\) service_datetime \{\}\n\{"datetime":/) }] },
  ])
  expect(upstream.last.text).not.toContain('toolConfig')
})
