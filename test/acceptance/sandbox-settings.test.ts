/** The settings that models of the sandbox apply, and those that they refuse, on all interfaces. */
import { describe, expect, test } from 'bun:test'

import { type Answer, conversationOf, type Dialect, DIALECTS, infer, PATHS } from '../support/calls.ts'
import { readStream } from '../support/client-stream.ts'
import { useServices } from '../support/started-service.ts'

const service = await useServices().start()

type Json = Readonly<Record<string, unknown>>

const ask = (dialect: Dialect, model: string, fields: Json, text = 'One two STOP three'): Promise<Answer> =>
  infer(service, { model: `sandbox/${model}`, ...conversationOf(dialect, text), ...fields }, { path: PATHS[dialect] })

describe.each(DIALECTS)('%s', (dialect) => {
  test.each([
    ['sandbox.tokens', { tokens: 0 }],
    ['sandbox', 'x'],
    ['sandbox.script[0].fail', { script: [{ fail: 'nothing' }] }],
  ])('400, as our own check, for a fault of the field at %s, streamed and whole', async (path, sandbox) => {
    for (const stream of [false, true]) {
      const { status, text } = await ask(dialect, 'lorem', { sandbox, stream })
      expect(status).toBe(400)
      expect(text).toContain(path)
      expect(text).not.toContain('data:')
    }
  })

  test('calls are made one at a time where the request wants no parallel ones', async () => {
    const schema = { type: 'object', properties: {} }
    const tools = ['one', 'two'].map((name) =>
      dialect === 'chat'
        ? { type: 'function', function: { name, parameters: schema } }
        : dialect === 'responses'
          ? { type: 'function', name, parameters: schema }
          : { name, input_schema: schema },
    )
    const single =
      dialect === 'messages' ? { tool_choice: { type: 'auto', disable_parallel_tool_use: true } } : { parallel_tool_calls: false }
    const callsIn = ({ text }: Answer): number => [...text.matchAll(/"id":\s*"call_sandbox_|"call_id":\s*"call_sandbox_/g)].length
    expect(callsIn(await ask(dialect, 'tools', { tools }))).toBe(2)
    expect(callsIn(await ask(dialect, 'tools', { tools, ...single }))).toBe(1)
  })
})

test.each<[Dialect, Json]>([
  ['chat', { reasoning: { effort: 'none' } }],
  ['chat', { reasoning: { enabled: false } }],
  ['responses', { reasoning: { effort: 'none' } }],
  ['responses', { reasoning: { enabled: false } }],
  ['messages', { thinking: { type: 'disabled' } }],
])('%s: %j turns thinking off', async (dialect, fields) => {
  expect((await ask(dialect, 'reasoning', {})).text).toContain('The last message of the user has')
  const { status, text } = await ask(dialect, 'reasoning', fields)
  expect(status).toBe(200)
  expect(text).toContain('Your message has 4 words.')
  expect(text).not.toContain('The last message of the user has')
})

describe('a stop sequence ends the answer before it', () => {
  test('chat, as a stop', async () => {
    const { json } = await ask('chat', 'echo', { stop: ['STOP', 'nothing'] })
    expect(json).toMatchObject({ choices: [{ message: { content: 'One two ' }, finish_reason: 'stop' }], usage: { completion_tokens: 2 } })
  })

  test('messages, by its name', async () => {
    const { json } = await ask('messages', 'echo', { stop_sequences: ['STOP'] })
    expect(json).toMatchObject({
      content: [{ type: 'text', text: 'One two ' }],
      stop_reason: 'stop_sequence',
      stop_sequence: 'STOP',
    })
  })

  test.each<['chat' | 'messages', Json]>([
    ['chat', { stop: 'STOP' }],
    ['messages', { stop_sequences: ['STOP'] }],
  ])('%s, streamed', async (dialect, fields) => {
    const { text } = await ask(dialect, 'echo', { ...fields, stream: true })
    expect(readStream(dialect, text)).toEqual({ end: 'normal', faults: [] })
    expect(text).toContain('two')
    expect(text).not.toContain('three')
    if (dialect === 'messages') expect(text).toContain('"stop_sequence":"STOP"')
  })
})

test('400: more than one choice, which no model of the sandbox gives', async () => {
  for (const stream of [false, true]) {
    const { status, error } = await ask('chat', 'echo', { n: 3, stream })
    expect([status, error.message]).toEqual([400, 'n: Sandbox cannot do this. Leave it out, or use another model.'])
  }
  expect((await ask('chat', 'echo', { n: 1 })).status).toBe(200)
})
