/** Unmatched calls and results of Codex and other agents: no provider needs to refuse them, and nothing is lost. */
import { describe, expect, test } from 'bun:test'

import { at } from '../support/json-at.ts'
import { recording, type UpstreamDialect } from '../support/recordings.ts'
import { MODEL, replay } from '../support/replay.ts'
import { sentTo } from '../support/upstream-replies.ts'

const UPSTREAMS: readonly UpstreamDialect[] = ['openai-chat', 'anthropic', 'google', 'bedrock']

const TOOLS = [{ type: 'function', name: 'run', parameters: { type: 'object', properties: {} } }]
const HI = { role: 'user', content: 'Hi' }
const CALL = { type: 'function_call', call_id: 'call_1', name: 'run', arguments: '{}' }
const output = (said: string, more: object = { call_id: 'call_1' }): object => ({ type: 'function_call_output', ...more, output: said })

const list = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])

/** The results in a request that is sent to a provider, in order. */
const RESULTS: Readonly<Record<string, (body: unknown) => readonly unknown[]>> = {
  'openai-chat': (body) => list(at(body, 'messages')).filter((message) => at(message, 'role') === 'tool'),
  anthropic: (body) =>
    list(at(body, 'messages')).flatMap((message) => list(at(message, 'content')).filter((block) => at(block, 'type') === 'tool_result')),
  google: (body) =>
    list(at(body, 'contents')).flatMap((content) =>
      list(at(content, 'parts')).filter((part) => at(part, 'functionResponse') !== undefined),
    ),
  bedrock: (body) =>
    list(at(body, 'messages')).flatMap((message) => list(at(message, 'content')).filter((block) => at(block, 'toolResult') !== undefined)),
}

for (const dialect of UPSTREAMS) {
  describe(dialect, () => {
    const send = async (...input: readonly unknown[]): Promise<{ results: readonly unknown[]; text: string; warnings: number }> => {
      const { body, text, warnings } = await sentTo('responses', dialect, { tools: TOOLS, input })
      return { results: RESULTS[dialect]?.(body) ?? [], text, warnings }
    }

    test.each([
      ['without a call_id', output('Reach the goal.', {})],
      ['with a call_id that is null', output('Reach the goal.', { call_id: null })],
      ['of another conversation', output('Reach the goal.', { call_id: 'call_9', name: 'create_thread', namespace: 'codex_app' })],
    ])('an output %s goes on as text, with a warning', async (_, lone) => {
      const { results, text, warnings } = await send(HI, CALL, output('done'), lone)
      expect(results).toHaveLength(1)
      expect(text).toContain('Reach the goal.')
      expect(warnings).toBe(1)
    })

    test('the second output of a call goes on as text', async () => {
      const { results, text, warnings } = await send(HI, CALL, output('one'), output('two'))
      expect(results).toHaveLength(1)
      expect(text).toContain('two')
      expect(warnings).toBe(1)
    })

    test('an output before its call is sent behind it', async () => {
      const { results, text, warnings } = await send(HI, output('early'), CALL, { role: 'user', content: 'Go on' })
      expect(results).toHaveLength(1)
      expect(text.indexOf('early')).toBeGreaterThan(text.indexOf('Hi'))
      expect(warnings).toBe(1)
    })

    test('a call without an output gets one that says so', async () => {
      const { results, warnings } = await send(HI, CALL, { role: 'user', content: 'Never mind' })
      expect(results).toHaveLength(1)
      expect(warnings).toBe(1)
    })

    test.each([
      ['local_shell_call', { action: { type: 'exec', command: ['ls'] } }],
      ['shell_call', { action: { commands: ['ls'] } }],
      ['apply_patch_call', { operation: { type: 'delete_file', path: 'ls' } }],
    ])('a %s of the history, and its output, are a call and its result', async (type, said) => {
      const { results, text, warnings } = await send(
        HI,
        { type, call_id: 'call_1', ...said },
        { type: `${type}_output`, call_id: 'call_1', output: 'a.txt' },
      )
      expect(results).toHaveLength(1)
      expect(text).toContain('a.txt')
      expect(text).toContain('ls')
      expect(warnings).toBe(0)
    })

    test('what a client saw of its screen is a picture, and no text', async () => {
      const screen = { type: 'computer_screenshot', image_url: 'data:image/png;base64,iVBORw0KGgo=' }
      const { text } = await send(
        HI,
        { type: 'computer_call', call_id: 'call_1', action: { type: 'screenshot' } },
        { type: 'computer_call_output', call_id: 'call_1', output: screen },
      )
      expect(text).toContain('iVBORw0KGgo=')
      expect(text).not.toContain('computer_screenshot')
    })

    test('an output may be empty, and calls may be answered in any order', async () => {
      const other = { ...CALL, call_id: 'call_2' }
      const { results, warnings } = await send(HI, CALL, other, output('', { call_id: 'call_2' }), {
        type: 'function_call_output',
        call_id: 'call_1',
      })
      expect(results).toHaveLength(2)
      expect(warnings).toBe(0)
    })
  })
}

describe('a call that ends the conversation', () => {
  const RUN = { name: 'run', parameters: { type: 'object', properties: {} } }
  const ENDING = {
    chat: {
      tools: [{ type: 'function', function: RUN }],
      messages: [
        HI,
        { role: 'assistant', content: null, tool_calls: [{ id: 'call_1', type: 'function', function: { name: 'run', arguments: '{}' } }] },
      ],
    },
    messages: {
      max_tokens: 100,
      tools: [{ name: RUN.name, input_schema: RUN.parameters }],
      messages: [HI, { role: 'assistant', content: [{ type: 'tool_use', id: 'call_1', name: 'run', input: {} }] }],
    },
    responses: { tools: TOOLS, input: [HI, CALL] },
  } as const

  test.each([
    ['chat', 'openai-responses'],
    ['messages', 'openai-responses'],
    ['chat', 'google'],
    ['messages', 'google'],
    ['responses', 'google'],
    ['chat', 'anthropic'],
    ['responses', 'bedrock'],
  ] as const)('%s → %s: has a result that says so', async (client, dialect) => {
    const { text, warnings } = await sentTo(client, dialect, ENDING[client])
    expect(text.split('This call was not answered.')).toHaveLength(2)
    expect(warnings).toBe(1)
  })

  test.each(['messages', 'responses'] as const)('%s → a chat server of which nothing is known: it stays the end', async (client) => {
    const { text, warnings } = await sentTo(client, 'openai-chat', ENDING[client])
    expect(text).not.toContain('This call was not answered.')
    expect(warnings).toBe(0)
  })
})

describe('openai-responses: a client that speaks it too', () => {
  const relayed = async (
    slug: string | undefined,
    input: readonly unknown[],
  ): Promise<{ sent: string; input: unknown; warnings: number }> => {
    const reply = { type: 'application/json', pieces: [recording('openai-responses', 'length', false).bytes] } as const
    const upstreams = [{ dialect: 'openai-responses', reply, ...(slug === undefined ? {} : { slug }) }] as const
    const { sent, headers } = await replay({ client: 'responses', upstreams, body: { model: MODEL, stream: false, tools: TOOLS, input } })
    const text = sent[0]?.body ?? '{}'
    return { sent: text, input: (JSON.parse(text) as { input?: unknown }).input, warnings: Number(headers.get('x-service-warnings') ?? 0) }
  }
  const STAYED = { role: 'user', content: 'Go on' }
  const NOTE = 'This call was not answered.'
  const said = (content: unknown): object => ({ type: 'message', role: 'user', content })
  const CUSTOM = { type: 'custom_tool_call', call_id: 'call_2', name: 'g', input: 'x' }
  const PARTS = [{ type: 'input_text', text: 'Reach the goal.' }]

  test.each<[string, readonly unknown[], readonly unknown[], number]>([
    ['an output without a call_id', [HI, output('a', {}), STAYED], [HI, said('a'), STAYED], 1],
    ['an output of another conversation', [HI, output('a', { call_id: 'call_9' })], [HI, said('a')], 1],
    ['an output in parts', [HI, { type: 'custom_tool_call_output', call_id: 'call_9', output: PARTS }], [HI, said(PARTS)], 1],
    ['a second output', [HI, CALL, output('a'), output('b')], [HI, CALL, output('a'), said('b')], 1],
    ['a call without an output', [HI, CALL, STAYED], [HI, CALL, output(NOTE), STAYED], 1],
    ['a call at the end', [HI, CALL], [HI, CALL, output(NOTE)], 1],
    [
      'one of two calls',
      [HI, CALL, CUSTOM, output('a')],
      [HI, CALL, CUSTOM, { ...output(NOTE, { call_id: 'call_2' }), type: 'custom_tool_call_output' }, output('a')],
      1,
    ],
    ['an output that says nothing', [HI, CALL, { type: 'function_call_output', call_id: 'call_1' }], [HI, CALL, output('')], 0],
    ['an output that is null', [HI, CALL, { type: 'function_call_output', call_id: 'call_1', output: null }], [HI, CALL, output('')], 0],
  ])('%s goes to OpenAI in a way that it takes', async (_, given, expected, count) => {
    const { input, warnings } = await relayed('openai', given)
    expect([input, warnings]).toEqual([expected, count])
  })

  test.each<[string, readonly unknown[]]>([
    [
      'calls with their outputs, in any order',
      [HI, CALL, CUSTOM, { ...output('b', { call_id: 'call_2' }), type: 'custom_tool_call_output' }, output('a')],
    ],
    ['an output that stands elsewhere', [HI, CALL, STAYED, output('a')]],
    ['a shell without an output', [HI, { type: 'shell_call', call_id: 'call_1', action: { commands: ['ls'] } }, STAYED]],
    [
      'a shell of the client whose output is that of a function',
      [HI, { type: 'local_shell_call', call_id: 'call_1', action: {} }, output('a')],
    ],
    ['what follows a compacted history', [HI, { type: 'compaction', encrypted_content: 'x' }, output('a')]],
    ['a call that still runs in the background', [HI, { ...CALL, async: true }, STAYED]],
    ['a custom tool that still runs in the background', [HI, { ...CUSTOM, async: true }]],
    ['a call in the background with its later output', [HI, { ...CALL, async: true }, STAYED, output('a'), STAYED]],
    ['an output that names its tool in place of a call', [HI, output('a', { call_id: null, name: 'run', namespace: 'jobs' }), STAYED]],
  ])('the bytes of %s stay', async (_, given) => {
    const { sent, warnings } = await relayed('openai', given)
    expect(sent).toContain(`"input":${JSON.stringify(given)}`)
    expect(warnings).toBe(0)
  })

  test('a server of which nothing is known gets all as it came', async () => {
    const given = [HI, CALL, output('b', {}), STAYED]
    expect(await relayed(undefined, given)).toMatchObject({ input: given, warnings: 0 })
  })
})
