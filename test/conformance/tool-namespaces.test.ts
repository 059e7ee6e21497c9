/**
 * Tools that a client groups in namespaces (MCP servers, sub-agents): flattened for providers that do not support them, and grouped again
 * for the client.
 */
import { describe, expect, test } from 'bun:test'

import { streamEvents } from '../support/client-stream.ts'
import { at } from '../support/json-at.ts'
import type { UpstreamDialect } from '../support/recordings.ts'
import { MODEL, replay } from '../support/replay.ts'
import { reportedBytes } from '../support/reported-answers.ts'

const FUNCTION = { type: 'function', description: 'A tool.', strict: false, parameters: { type: 'object', properties: {} } }

const NAMESPACES = [
  {
    type: 'namespace',
    name: 'mcp__mail',
    description: 'Find emails of your inbox.',
    tools: [
      { ...FUNCTION, name: 'search' },
      { ...FUNCTION, name: 'send' },
    ],
  },
  {
    type: 'namespace',
    name: 'collaboration',
    description: '',
    tools: [
      { ...FUNCTION, name: 'search' },
      { type: 'custom', name: 'note', description: 'Any text.' },
    ],
  },
]

const BODY = {
  model: MODEL,
  tools: [{ ...FUNCTION, name: 'search' }, ...NAMESPACES],
  input: [
    { role: 'user', content: 'Hi' },
    { type: 'function_call', call_id: 'call_a', namespace: 'mcp__mail', name: 'send', arguments: '{}' },
    { type: 'function_call_output', call_id: 'call_a', output: 'sent' },
  ],
}

const FLAT = ['search', 'mcp__mail__search', 'mcp__mail__send', 'collaboration__search', 'collaboration__note']

const UPSTREAMS: readonly (readonly [UpstreamDialect, string | undefined])[] = [
  ['openai-chat', undefined],
  ['openai-chat', 'openai'],
  ['openai-responses', undefined],
  ['openai-responses', 'xai'],
  ['anthropic', 'anthropic'],
  ['google', 'google'],
  ['bedrock', 'bedrock'],
]

const answered = (dialect: UpstreamDialect, names: readonly string[]) => {
  const calls = names.map((name, index) => ({ id: `call_${index}`, name, args: name.endsWith('note') ? { input: 'text' } : {} }))
  const answer = { text: [], thinking: [], calls, stop: 'end', input: 1, output: 1, cut: 1 } as const
  return { type: 'text/event-stream', pieces: [reportedBytes(dialect, answer)] } as const
}

describe('a namespace', () => {
  for (const [dialect, slug] of UPSTREAMS) {
    test(`${dialect} of ${slug ?? 'an unknown server'}: its tools go out in one list, calls come back with name and namespace`, async () => {
      const { text, sent } = await replay({
        client: 'responses',
        upstreams: [{ dialect, ...(slug === undefined ? {} : { slug }), reply: answered(dialect, FLAT) }],
        body: { ...BODY, stream: true },
      })
      const body = sent[0]?.body ?? text
      for (const name of FLAT) expect(body).toContain(`"${name}"`)
      expect(body).not.toContain('namespace"')
      // One declaration and, for the tool that was called, the call and (Google) its result.
      expect(body.match(/"mcp__mail__search"/g)).toHaveLength(1)
      expect(body.split('Find emails of your inbox.')).toHaveLength(2)

      const events = streamEvents(text).map(({ data }) => data)
      const named = (item: unknown): unknown => [at(item, 'type'), at(item, 'namespace'), at(item, 'name')]
      const wanted = [
        ['function_call', undefined, 'search'],
        ['function_call', 'mcp__mail', 'search'],
        ['function_call', 'mcp__mail', 'send'],
        ['function_call', 'collaboration', 'search'],
      ]
      for (const type of ['response.output_item.added', 'response.output_item.done']) {
        const items = events.filter((event) => at(event, 'type') === type).map((event) => named(at(event, 'item')))
        expect(items.slice(0, 4)).toEqual(wanted)
        expect(items.map((item) => (item as unknown[]).slice(1))).toEqual([
          ...wanted.map((item) => item.slice(1)),
          ['collaboration', 'note'],
        ])
      }
      const completed = events.find((event) => at(event, 'type') === 'response.completed')
      expect((at(completed, 'response', 'output') as unknown[]).map(named).slice(0, 4)).toEqual(wanted)
    })
  }

  test("OpenAI's own Responses knows them: its request keeps them, byte for byte", async () => {
    const { sent } = await replay({
      client: 'responses',
      upstreams: [{ dialect: 'openai-responses', slug: 'openai', reply: answered('openai-responses', ['search']) }],
      body: { ...BODY, stream: true },
    })
    expect(sent[0]?.body).toContain(JSON.stringify(BODY.tools))
    expect(sent[0]?.body).toContain(JSON.stringify(BODY.input))
  })

  test('a tool in it can be demanded, or be one of those allowed', async () => {
    const names = async (choice: unknown): Promise<unknown> => {
      const upstreams = [{ dialect: 'anthropic', reply: answered('anthropic', ['search']) }] as const
      const { sent } = await replay({ client: 'responses', upstreams, body: { ...BODY, stream: true, tool_choice: choice } })
      const body: unknown = JSON.parse(sent[0]?.body ?? '{}')
      return [at(body, 'tool_choice', 'name'), (at(body, 'tools') as unknown[]).map((tool) => at(tool, 'name'))]
    }
    expect(await names({ type: 'function', namespace: 'mcp__mail', name: 'search' })).toEqual(['mcp__mail__search', FLAT])
    const allowed = { type: 'allowed_tools', mode: 'auto' }
    expect(await names({ ...allowed, tools: [{ type: 'function', namespace: 'collaboration', name: 'search' }] })).toEqual([
      undefined,
      ['collaboration__search'],
    ])
    expect(await names({ ...allowed, tools: [{ type: 'namespace', name: 'mcp__mail' }] })).toEqual([
      undefined,
      ['mcp__mail__search', 'mcp__mail__send'],
    ])
  })

  test('nothing is lost by it: no warning', async () => {
    const upstreams = [{ dialect: 'anthropic', reply: answered('anthropic', ['search']) }] as const
    const { headers } = await replay({ client: 'responses', upstreams, body: { ...BODY, stream: true } })
    expect(headers.get('x-service-warnings')).toBeNull()
  })
})

test('tools that are declared in the course of a conversation are tools, each once', async () => {
  const upstreams = [{ dialect: 'anthropic', reply: answered('anthropic', ['mcp__mail__search']) }] as const
  const input = [
    { type: 'additional_tools', role: 'developer', tools: [{ ...FUNCTION, name: 'exec' }, ...NAMESPACES.slice(0, 1)] },
    { role: 'user', content: 'Hi' },
    { type: 'tool_search_call', call_id: 'call_s', execution: 'client', arguments: { query: 'mail' } },
    { type: 'tool_search_output', call_id: 'call_s', execution: 'client', tools: NAMESPACES.slice(0, 1) },
  ]
  const { text, sent } = await replay({ client: 'responses', upstreams, body: { model: MODEL, stream: true, input } })
  const body: unknown = JSON.parse(sent[0]?.body ?? '{}')
  expect((at(body, 'tools') as unknown[]).map((tool) => at(tool, 'name'))).toEqual(['exec', 'mcp__mail__search', 'mcp__mail__send'])
  expect(at(body, 'messages')).toMatchObject([
    { role: 'user', content: [{ type: 'text', text: 'Hi' }] },
    { role: 'assistant', content: [{ type: 'tool_use', name: 'tool_search', input: { query: 'mail' } }] },
    { role: 'user', content: [{ type: 'tool_result', content: '{"tools":["mcp__mail"]}' }] },
  ])
  expect(text).toContain('"name":"search","namespace":"mcp__mail"')
})
