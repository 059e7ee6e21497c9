/**
 * Tools of Responses that the client runs and that only OpenAI's models know: other models get them as functions, and the client gets items
 * back.
 */
import { describe, expect, test } from 'bun:test'

import { readStream, streamEvents } from '../support/client-stream.ts'
import { emailGuardrail } from '../support/guardrail.ts'
import { at } from '../support/json-at.ts'
import type { UpstreamDialect } from '../support/recordings.ts'
import { MODEL, replay } from '../support/replay.ts'
import { reportedBytes } from '../support/reported-answers.ts'

const TOOLS = [{ type: 'local_shell' }, { type: 'shell', environment: { type: 'local' } }, { type: 'apply_patch' }]
const NAMES = ['local_shell', 'shell', 'apply_patch']

const OPERATION = { type: 'update_file', path: 'a.txt', diff: '@@\n-a\n+b' }

const INPUT = [
  { role: 'user', content: 'Hi' },
  {
    type: 'local_shell_call',
    id: 'lsh_1',
    call_id: 'call_a',
    status: 'completed',
    action: { type: 'exec', command: ['ls', '-l'], env: {}, timeout_ms: null, user: null, working_directory: '/tmp' },
  },
  { type: 'local_shell_call_output', id: 'call_a', output: '{"output":"a.txt"}' },
  {
    type: 'shell_call',
    id: 'sh_1',
    call_id: 'call_b',
    status: 'completed',
    action: { commands: ['cat a.txt'], timeout_ms: 5000, max_output_length: null },
    environment: { type: 'local' },
  },
  {
    type: 'shell_call_output',
    call_id: 'call_b',
    max_output_length: null,
    output: [{ stdout: 'a', stderr: '', outcome: { type: 'exit', exit_code: 0 } }],
  },
  { type: 'apply_patch_call', id: 'apc_1', call_id: 'call_c', status: 'completed', operation: OPERATION },
  { type: 'apply_patch_call_output', call_id: 'call_c', status: 'failed', output: 'No such file' },
]

const BODY = { model: MODEL, tools: TOOLS, input: INPUT }

const UPSTREAMS: readonly (readonly [UpstreamDialect, string | undefined])[] = [
  ['openai-chat', undefined],
  ['openai-chat', 'openai'],
  ['openai-chat', 'deepseek'],
  ['openai-responses', 'xai'],
  ['anthropic', 'anthropic'],
  ['google', 'google'],
  ['bedrock', 'bedrock'],
]

interface Call {
  readonly name: string
  readonly args: Readonly<Record<string, unknown>>
}

const CALLS: readonly Call[] = [
  { name: 'local_shell', args: { command: ['pwd'], working_directory: '/tmp' } },
  { name: 'shell', args: { commands: ['ls', 'pwd'], timeout_ms: 1000 } },
  { name: 'apply_patch', args: { type: 'create_file', path: 'b.txt', diff: '+b' } },
  { name: 'apply_patch', args: { type: 'delete_file', path: 'b.txt' } },
]

const ITEMS = [
  {
    type: 'local_shell_call',
    status: 'completed',
    action: { type: 'exec', command: ['pwd'], env: {}, timeout_ms: null, user: null, working_directory: '/tmp' },
  },
  {
    type: 'shell_call',
    status: 'completed',
    action: { commands: ['ls', 'pwd'], timeout_ms: 1000, max_output_length: null },
    environment: { type: 'local' },
  },
  { type: 'apply_patch_call', status: 'completed', operation: { type: 'create_file', path: 'b.txt', diff: '+b' } },
  { type: 'apply_patch_call', status: 'completed', operation: { type: 'delete_file', path: 'b.txt' } },
]

const answered = (dialect: UpstreamDialect, calls: readonly Call[], stop: 'end' | 'length' = 'end') => {
  const reported = calls.map((call, index) => ({ id: `call_${index}`, ...call }))
  const answer = { text: ['Well.'], thinking: [], calls: reported, stop, input: 1, output: 1, cut: 5 } as const
  return { type: 'text/event-stream', pieces: [reportedBytes(dialect, answer)] } as const
}

const output = (response: unknown): unknown[] => at(response, 'output') as unknown[]

const ask = async (dialect: UpstreamDialect, calls: readonly Call[], more: object = {}, slug?: string) =>
  replay({
    client: 'responses',
    upstreams: [{ dialect, ...(slug === undefined ? {} : { slug }), reply: answered(dialect, calls) }],
    body: { ...BODY, ...more },
  })

describe.each(UPSTREAMS.map(([dialect, slug]) => ({ dialect, slug })))('$dialect of $slug', ({ dialect, slug }) => {
  test('shells and patches go out as functions, and nothing is lost', async () => {
    const { sent, headers } = await ask(dialect, [], { stream: true, strict: true }, slug)
    expect(headers.get('x-service-warnings')).toBeNull()
    const body = sent[0]?.body ?? ''
    for (const name of NAMES) expect(body).toContain(`"${name}"`)
    expect(body).not.toMatch(/built_in|"(?:local_shell|shell|apply_patch)_call/)
    // Each argument of the functions, and the contents of the calls and their outputs in the conversation.
    for (const reported of ['working_directory', 'max_output_length', 'update_file', '/tmp', 'cat a.txt', 'No such file', 'exit_code'])
      expect(body).toContain(reported)
  })

  test('calls of them come back as the items of a stream', async () => {
    const { text, internalErrors } = await ask(dialect, CALLS, { stream: true }, slug)
    expect([readStream('responses', text), internalErrors]).toEqual([{ end: 'normal', faults: [] }, []])
    const events = streamEvents(text).map(({ data }) => data)
    for (const [type, status] of [
      ['response.output_item.added', 'in_progress'],
      ['response.output_item.done', 'completed'],
    ]) {
      const items = events.filter((event) => at(event, 'type') === type).map((event) => at(event, 'item'))
      expect(items.slice(1)).toMatchObject(ITEMS.map((item) => ({ ...item, status })))
    }
    const ended = at(events.at(-1), 'response')
    expect(output(ended).slice(1)).toMatchObject(ITEMS)
    const ids = output(ended).map((item) => at(item, 'id'))
    expect(new Set(ids).size).toBe(ids.length)
    for (const item of output(ended).slice(1)) expect(typeof at(item, 'call_id')).toBe('string')
  })

  test('and of a whole answer', async () => {
    const { text } = await ask(dialect, CALLS, {}, slug)
    expect(output(JSON.parse(text)).slice(1)).toMatchObject(ITEMS)
  })
})

describe('a built-in tool', () => {
  test('stays as it is for OpenAI and for servers of which nothing is known, byte for byte', async () => {
    for (const slug of ['openai', undefined]) {
      const { sent } = await ask('openai-responses', [], { stream: true }, slug)
      expect(sent[0]?.body).toContain(JSON.stringify(TOOLS))
      expect(sent[0]?.body).toContain(JSON.stringify(INPUT))
    }
  })

  test('can be demanded, or be one of those allowed', async () => {
    for (const [dialect, slug] of [
      ['anthropic', 'anthropic'],
      ['openai-responses', 'xai'],
    ] as const) {
      const demanded = await ask(dialect, [], { stream: true, tool_choice: { type: 'shell' } }, slug)
      expect(at(JSON.parse(demanded.sent[0]?.body ?? ''), 'tool_choice', 'name')).toBe('shell')
    }
    const allowed = { type: 'allowed_tools', mode: 'required', tools: [{ type: 'apply_patch' }] }
    const { sent } = await ask('anthropic', [], { stream: true, tool_choice: allowed }, 'anthropic')
    const body: unknown = JSON.parse(sent[0]?.body ?? '')
    expect((at(body, 'tools') as unknown[]).map((tool) => at(tool, 'name'))).toEqual(['apply_patch'])
    expect(at(body, 'tool_choice', 'type')).toBe('any')
  })

  test('beside a function of its name: both go out, and each call comes back as what it is of', async () => {
    const named = { type: 'function', name: 'shell', parameters: { type: 'object', properties: {} } }
    for (const [dialect, slug] of [
      ['anthropic', 'anthropic'],
      ['openai-responses', 'xai'],
    ] as const) {
      const reply = (sent: string) => {
        const names = (at(JSON.parse(sent), 'tools') as unknown[]).map((tool) => String(at(tool, 'name')))
        expect(new Set(names).size).toBe(2)
        return answered(
          dialect,
          names.map((name) => ({ name, args: { commands: ['ls'] } })),
        )
      }
      const { text } = await replay({
        client: 'responses',
        upstreams: [{ dialect, slug, reply }],
        body: { model: MODEL, input: 'Hi', tools: [named, { type: 'shell' }] },
      })
      expect(
        output(JSON.parse(text))
          .slice(1)
          .map((item) => [at(item, 'type'), at(item, 'name')]),
      ).toEqual([
        ['function_call', 'shell'],
        ['shell_call', undefined],
      ])
    }
  })

  test.each<[string, Call, object]>([
    ['a line of shell alone', { name: 'local_shell', args: { command: 'ls -l' } }, { action: { command: ['bash', '-lc', 'ls -l'] } }],
    ['one command alone', { name: 'shell', args: { commands: 'ls -l' } }, { action: { commands: ['ls -l'] } }],
    ['no command', { name: 'shell', args: { commands: [] } }, { type: 'function_call', name: 'shell', arguments: '{"commands":[]}' }],
    ['a patch without a path', { name: 'apply_patch', args: { type: 'delete_file' } }, { type: 'function_call', name: 'apply_patch' }],
    ['an update without a diff', { name: 'apply_patch', args: { type: 'update_file', path: 'a' } }, { type: 'function_call' }],
    ['what is no list', { name: 'local_shell', args: { command: [1] } }, { type: 'function_call' }],
  ])('with arguments that a model may write: %s', async (_, call, item) => {
    const { text, internalErrors } = await ask('anthropic', [call], { stream: true })
    expect([readStream('responses', text), internalErrors]).toEqual([{ end: 'normal', faults: [] }, []])
    expect(output(at(streamEvents(text).at(-1)?.data, 'response'))[1]).toMatchObject(item)
  })

  test('a shell in a container, where neither the provider nor this service has one, is a 400 that names the setting', async () => {
    const tools = [{ type: 'shell', environment: { type: 'container_auto' } }]
    const refused = await ask('anthropic', [], { stream: true, tools, input: 'Hi' }).catch((thrown: unknown) => thrown)
    expect(refused).toMatchObject({ status: 400, message: expect.stringMatching(/^tools\[0\]: .*tools\.shell/) as unknown })
  })

  test('the skills of a local shell are told to the model', async () => {
    const skills = [{ name: 'pdf', description: 'Fill in forms.', path: '/skills/pdf' }]
    const tools = [{ type: 'shell', environment: { type: 'local', skills } }]
    const { sent } = await ask('anthropic', [], { stream: true, tools, input: 'Hi' })
    expect(at(JSON.parse(sent[0]?.body ?? ''), 'tools', 0, 'description')).toContain('- pdf (/skills/pdf): Fill in forms.')
  })

  test('that OpenAI calls reaches the client also where a guardrail reads the answer', async () => {
    const item = {
      id: 'lsh_1',
      type: 'local_shell_call',
      call_id: 'call_1',
      status: 'completed',
      action: { type: 'exec', command: ['ls'], env: {} },
    }
    const response = { id: 'resp_1', object: 'response', status: 'completed', model: 'm', output: [item] }
    const events = [
      { type: 'response.output_item.added', output_index: 0, item: { ...item, status: 'in_progress' } },
      { type: 'response.output_item.done', output_index: 0, item },
      { type: 'response.completed', response },
    ]
    const bytes = new TextEncoder().encode(events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join(''))
    const { text } = await replay({
      client: 'responses',
      upstreams: [{ dialect: 'openai-responses', slug: 'openai', reply: { type: 'text/event-stream', pieces: [bytes] } }],
      body: { model: MODEL, stream: true, tools: TOOLS, input: 'Hi' },
      guardrails: [emailGuardrail('redact', 'output')],
    })
    expect(output(at(streamEvents(text).at(-1)?.data, 'response'))).toMatchObject([
      { type: 'local_shell_call', call_id: 'call_1', status: 'completed', action: { type: 'exec', command: ['ls'], env: {} } },
    ])
  })
})
