/** Tools with names that a provider would refuse: it gets names that it accepts, and the client gets its own names back. */
import { describe, expect, test } from 'bun:test'

import { CLIENT_DIALECTS, type ClientDialect } from '../../src/canonical/call.ts'
import { at } from '../support/json-at.ts'
import { readAnswer } from '../support/read-answer.ts'
import type { UpstreamDialect } from '../support/recordings.ts'
import { MODEL, OWN_DIALECT, replay } from '../support/replay.ts'
import { reportedBytes } from '../support/reported-answers.ts'
import { USAGE, whole } from '../support/upstream-replies.ts'

const LONG = `mcp__${'server_of_a_very_long_name_'.repeat(2)}__tool_1`
/** Names of 93 characters, and others that become equal when cut or cleaned. */
const NAMES = [
  LONG.padEnd(93, 'x'),
  LONG.padEnd(94, 'x'),
  'files.read',
  'files/read',
  'files:read',
  'files read',
  'files_read',
  'datei_ö',
] as const
const [FIRST, SECOND] = NAMES

const PARAMETERS = { type: 'object', properties: { name: { type: 'string', default: 'a name.of its own' } } }

/** All tools are declared, the first one is demanded, the second one was called before. */
const REQUESTS: Readonly<Record<ClientDialect, Readonly<Record<string, unknown>>>> = {
  chat: {
    tools: NAMES.map((name) => ({ type: 'function', function: { name, parameters: PARAMETERS } })),
    tool_choice: { type: 'function', function: { name: FIRST } },
    messages: [
      { role: 'user', content: 'Hi' },
      { role: 'assistant', content: null, tool_calls: [{ id: 'call_1', type: 'function', function: { name: SECOND, arguments: '{}' } }] },
      { role: 'tool', tool_call_id: 'call_1', name: SECOND, content: 'done' },
    ],
  },
  responses: {
    tools: NAMES.map((name) => ({ type: 'function', name, parameters: PARAMETERS })),
    tool_choice: { type: 'function', name: FIRST },
    input: [
      { role: 'user', content: 'Hi' },
      { type: 'function_call', call_id: 'call_1', name: SECOND, arguments: '{}' },
      { type: 'function_call_output', call_id: 'call_1', output: 'done' },
    ],
  },
  messages: {
    max_tokens: 100,
    tools: NAMES.map((name) => ({ name, input_schema: PARAMETERS })),
    tool_choice: { type: 'tool', name: FIRST },
    messages: [
      { role: 'user', content: 'Hi' },
      { role: 'assistant', content: [{ type: 'tool_use', id: 'call_1', name: SECOND, input: {} }] },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'call_1', content: 'done' }] },
    ],
  },
}

interface SentNames {
  readonly tools: readonly unknown[]
  readonly choice: unknown
  readonly called: unknown
}

const list = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])

/** The names in a sent body, in the places of each dialect. */
const SENT: Readonly<Record<UpstreamDialect, (body: unknown) => SentNames>> = {
  'openai-chat': (body) => ({
    tools: list(at(body, 'tools')).map((tool) => at(tool, 'function', 'name')),
    choice: at(body, 'tool_choice', 'function', 'name'),
    called: list(at(body, 'messages'))
      .map((message) => at(message, 'tool_calls', 0, 'function', 'name'))
      .find((name) => name !== undefined),
  }),
  'openai-responses': (body) => ({
    tools: list(at(body, 'tools')).map((tool) => at(tool, 'name')),
    choice: at(body, 'tool_choice', 'name'),
    called: at(
      list(at(body, 'input')).find((item) => at(item, 'type') === 'function_call'),
      'name',
    ),
  }),
  anthropic: (body) => ({
    tools: list(at(body, 'tools')).map((tool) => at(tool, 'name')),
    choice: at(body, 'tool_choice', 'name'),
    called: at(
      list(at(body, 'messages', 1, 'content')).find((block) => at(block, 'type') === 'tool_use'),
      'name',
    ),
  }),
  google: (body) => ({
    tools: list(at(body, 'tools', 0, 'functionDeclarations')).map((tool) => at(tool, 'name')),
    choice: at(body, 'toolConfig', 'functionCallingConfig', 'allowedFunctionNames', 0),
    called: at(body, 'contents', 1, 'parts', 0, 'functionCall', 'name'),
  }),
  bedrock: (body) => ({
    tools: list(at(body, 'toolConfig', 'tools')).map((tool) => at(tool, 'toolSpec', 'name')),
    choice: at(body, 'toolConfig', 'toolChoice', 'tool', 'name'),
    called: at(body, 'messages', 1, 'content', 0, 'toolUse', 'name'),
  }),
}

/** One call of each tool, as a whole answer. */
const WHOLE: Readonly<Record<UpstreamDialect, (names: readonly string[]) => unknown>> = {
  'openai-chat': (names) => ({
    id: 'c',
    object: 'chat.completion',
    created: 1,
    model: 'm',
    choices: [
      {
        index: 0,
        finish_reason: 'tool_calls',
        message: {
          role: 'assistant',
          content: null,
          tool_calls: names.map((name, index) => ({ id: `call_${index}`, type: 'function', function: { name, arguments: '{}' } })),
        },
      },
    ],
    usage: USAGE,
  }),
  'openai-responses': (names) => ({
    id: 'r',
    object: 'response',
    created_at: 1,
    status: 'completed',
    model: 'm',
    output: names.map((name, index) => ({
      type: 'function_call',
      id: `fc_${index}`,
      call_id: `call_${index}`,
      name,
      arguments: '{}',
      status: 'completed',
    })),
    usage: { input_tokens: 1, output_tokens: 1, total_tokens: 2 },
  }),
  anthropic: (names) => ({
    id: 'm',
    type: 'message',
    role: 'assistant',
    model: 'm',
    content: names.map((name, index) => ({ type: 'tool_use', id: `call_${index}`, name, input: {} })),
    stop_reason: 'tool_use',
    stop_sequence: null,
    usage: { input_tokens: 1, output_tokens: 1 },
  }),
  google: (names) => ({
    candidates: [{ content: { role: 'model', parts: names.map((name) => ({ functionCall: { name, args: {} } })) }, finishReason: 'STOP' }],
    usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 },
  }),
  bedrock: (names) => ({
    output: {
      message: { role: 'assistant', content: names.map((name, index) => ({ toolUse: { toolUseId: `call_${index}`, name, input: {} } })) },
    },
    stopReason: 'tool_use',
    usage: { inputTokens: 1, outputTokens: 1, totalTokens: 2 },
  }),
}

const VENDORS: readonly { readonly slug: string; readonly dialect: UpstreamDialect; readonly lawful: RegExp; readonly model: string }[] = [
  { slug: 'openai', dialect: 'openai-chat', lawful: /^[a-zA-Z0-9_-]{1,64}$/, model: 'gpt-4.1' },
  { slug: 'openai', dialect: 'openai-responses', lawful: /^[a-zA-Z0-9_-]{1,64}$/, model: 'gpt-4.1' },
  { slug: 'mistral', dialect: 'openai-chat', lawful: /^[a-zA-Z0-9_-]{1,64}$/, model: 'mistral-large' },
  { slug: 'anthropic', dialect: 'anthropic', lawful: /^[a-zA-Z0-9_-]{1,64}$/, model: 'claude-sonnet-4-5' },
  { slug: 'google', dialect: 'google', lawful: /^[a-zA-Z_][a-zA-Z0-9_-]{0,62}$/, model: 'gemini-2.5-pro' },
  { slug: 'bedrock', dialect: 'bedrock', lawful: /^[a-zA-Z0-9_-]{1,64}$/, model: 'anthropic.claude-sonnet-4-5' },
  { slug: 'bedrock', dialect: 'bedrock', lawful: /^[a-zA-Z0-9_]{1,64}$/, model: 'us.amazon.nova-pro-v1:0' },
]

const INVENTED = 'made_up'

for (const client of CLIENT_DIALECTS) {
  describe(client, () => {
    for (const { slug, dialect, lawful, model } of VENDORS) {
      for (const stream of [false, true]) {
        test(`${slug}, ${dialect}, ${stream ? 'stream' : 'whole'}: lawful names go out, the client's come back`, async () => {
          let names: SentNames | undefined
          const { text, internalErrors } = await replay({
            client,
            upstreams: [
              {
                dialect,
                slug,
                model,
                reply(sent) {
                  names = SENT[dialect](JSON.parse(sent))
                  const called = [...(names.tools as readonly string[]), INVENTED]
                  if (!stream) return whole(WHOLE[dialect](called))
                  const calls = called.map((name, index) => ({ id: `call_${index}`, name, args: {} }))
                  const answer = { text: [], thinking: [], calls, stop: 'end', input: 1, output: 1, cut: 1 } as const
                  return { type: 'text/event-stream', pieces: [reportedBytes(dialect, answer)] }
                },
              },
            ],
            body: { model: MODEL, stream, ...REQUESTS[client] },
          })
          expect(internalErrors).toEqual([])
          if (names === undefined) throw new Error(text)
          const { tools, choice, called } = names
          expect(tools).toHaveLength(NAMES.length)
          expect(new Set(tools).size).toBe(NAMES.length)
          for (const name of tools) expect(name).toMatch(lawful)
          expect(tools[NAMES.indexOf('files_read')]).toBe('files_read')
          expect(choice).toBe(tools[0])
          expect(called).toBe(tools[1])

          const { calls } = await readAnswer(OWN_DIALECT[client], stream, text)
          expect(calls.map(({ name }) => name)).toEqual([...NAMES, INVENTED])
          for (const name of tools) if (name !== 'files_read') expect(text).not.toContain(String(name))
        })
      }
    }

    test('a server of which nothing is known gets every name as it is, byte for byte', async () => {
      const body = JSON.stringify({ model: MODEL, ...REQUESTS[client] })
      const { sent } = await replay({
        client,
        upstreams: [{ dialect: 'openai-chat', reply: whole(WHOLE['openai-chat'](NAMES)) }],
        body,
      })
      expect(SENT['openai-chat'](JSON.parse(sent[0]?.body ?? '{}'))).toEqual({ tools: [...NAMES], choice: FIRST, called: SECOND })
      if (client === 'chat') expect(sent[0]?.body).toBe(body.replace(MODEL, 'upstream-0'))
    })
  })
}

test('only the names change in what is passed on: numbers, spaces and members stay as they were written', async () => {
  const body = `{"model":"${MODEL}", "max_tokens": 1.0e2,"x_own":[1 , 2.50],"messages": [{"role":"user","content":"call \\u0061.b"}],"tools":[ {"type":"function","function":{"name":"a.b","parameters":{"type":"object","minProperties":1.0}}} ,{"type":"function","function":{"name":"c"}}]}`
  const { sent } = await replay({
    client: 'chat',
    upstreams: [{ dialect: 'openai-chat', slug: 'together', reply: whole(WHOLE['openai-chat'](['c'])) }],
    body,
  })
  const name = String(at(JSON.parse(sent[0]?.body ?? '{}'), 'tools', 0, 'function', 'name'))
  expect(name).toMatch(/^a_b_[0-9a-f]{8}$/)
  expect(sent[0]?.body).toBe(body.replace(MODEL, 'upstream-0').replace('"a.b"', `"${name}"`))
})
