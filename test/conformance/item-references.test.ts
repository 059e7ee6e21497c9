/**
 * Programs that assume that their answers are stored, as the Vercel AI SDK does by default: nothing is stored, but the conversation goes
 * on.
 */
import { createOpenAI } from '@ai-sdk/openai'
import { generateText, type ModelMessage } from 'ai'
import { describe, expect, test } from 'bun:test'

import { at } from '../support/json-at.ts'
import { recording, type UpstreamDialect } from '../support/recordings.ts'
import { MODEL, replay, type Replayed } from '../support/replay.ts'

const UPSTREAMS: readonly UpstreamDialect[] = ['openai-responses', 'openai-chat', 'anthropic', 'google', 'bedrock']

const send = (dialect: UpstreamDialect, body: object, headers: Readonly<Record<string, string>> = {}): Promise<Replayed> =>
  replay({
    client: 'responses',
    upstreams: [{ dialect, reply: { type: 'application/json', pieces: [recording(dialect, 'length', false).bytes] } }],
    body: { model: MODEL, ...body },
    headers,
  })

const HI = { role: 'user', content: 'Hi' }
const NEXT = { role: 'user', content: 'And then?' }

for (const dialect of UPSTREAMS) {
  describe(dialect, () => {
    test('a reference to an item that is not in the request is left out with a warning', async () => {
      const { sent, headers } = await send(dialect, { input: [HI, { type: 'item_reference', id: 'rs_1' }, NEXT] })
      expect(sent[0]?.body).toContain('And then?')
      expect(sent[0]?.body).not.toContain('rs_1')
      expect(headers.get('x-service-warnings')).toBe('1')
    })

    test('one to an item of the same request says nothing new', async () => {
      const item = { type: 'message', id: 'msg_1', role: 'assistant', content: [{ type: 'output_text', text: 'Once.', annotations: [] }] }
      const { sent, headers } = await send(dialect, { input: [HI, item, { type: 'item_reference', id: 'msg_1' }, NEXT] })
      expect(sent[0]?.body.split('Once.')).toHaveLength(2)
      expect(sent[0]?.body).not.toContain('item_reference')
      expect(headers.get('x-service-warnings')).toBeNull()
    })
  })
}

const WRITTEN: readonly string[] = [
  '{"id":"rs_1"}',
  '{ "type" : null , "id" : "rs_1" }',
  '{"id":"rs_1","type":null}',
  String.raw`{"type":"item\u005freference","id":"rs_1"}`,
  String.raw`{"i\u0064":"rs_1"}`,
  '{"type":"image_generation_call","id":"rs_1"}',
  '{"type":"image_generation_call","id":"rs_1","status":"completed","result":null}',
]

describe.each(WRITTEN)('%s names an item too', (reference) => {
  test.each(UPSTREAMS)('and is left out with a warning: %s', async (dialect) => {
    const { sent, headers } = await replay({
      client: 'responses',
      upstreams: [{ dialect, reply: { type: 'application/json', pieces: [recording(dialect, 'length', false).bytes] } }],
      body: `{"model":"${MODEL}","input":[{"role":"user","content":"Hi"},${reference},{"role":"user","content":"And then?"}]}`,
    })
    expect(sent[0]?.body).toContain('And then?')
    expect(sent[0]?.body).not.toContain('rs_1')
    expect(headers.get('x-service-warnings')).toBe('1')
  })
})

test('400 for a strict request: a reference that leads nowhere', async () => {
  const sent = send('openai-responses', { input: [HI, { type: 'item_reference', id: 'rs_1' }] }, { 'x-service-strict': 'enabled' })
  expect(sent).rejects.toThrow('input[1]: The request is strict. Otherwise it would get this warning: rs_1 is not in this request')
})

test('what is not a reference stays byte for byte', async () => {
  const input = `[ {"role":"user","content":"a \\u0041"} , {"type":"item_reference","id":"rs_1"},{"role":"user", "content":"b"}]`
  const { sent } = await replay({
    client: 'responses',
    upstreams: [
      { dialect: 'openai-responses', reply: { type: 'application/json', pieces: [recording('openai-responses', 'length', false).bytes] } },
    ],
    body: `{"model":"${MODEL}","input":${input}}`,
  })
  expect(sent[0]?.body).toContain(`[ {"role":"user","content":"a \\u0041"} , {"role":"user", "content":"b"}]`)
})

test.each(['conversation', 'previous_response_id'])('400: %s names what is stored in the account of the operator', (field) => {
  expect(send('openai-responses', { input: 'Hi', [field]: 'conv_1' })).rejects.toThrow(`${field}: Nothing is stored here`)
  expect(send('openai-responses', { input: 'Hi', [field]: { id: 'conv_1' } })).rejects.toThrow(`${field}: Nothing is stored here`)
})

test('400: the refusal of an earlier response says what to set in a library that refers to one by itself', () => {
  expect(send('openai-responses', { input: 'Hi', previous_response_id: 'resp_1' })).rejects.toThrow('if its option `store` is false')
})

test('the AI SDK goes on after thinking and a call of a tool', async () => {
  const bodies: unknown[] = []
  const provider = createOpenAI({
    apiKey: 'k',
    fetch: (async (_url: unknown, init: RequestInit) => {
      const given = JSON.parse(init.body as string) as Readonly<Record<string, unknown>>
      const { sent, text } = await send('anthropic', { ...given, model: MODEL })
      bodies.push(JSON.parse(sent[0]?.body ?? '{}'))
      return new Response(text, { headers: { 'content-type': 'application/json' } })
    }) as unknown as typeof fetch,
  })
  const itemId = { openai: { itemId: 'rs_1' } }
  const messages: ModelMessage[] = [
    { role: 'user', content: 'Hi' },
    {
      role: 'assistant',
      content: [
        { type: 'reasoning', text: 'Hm.', providerOptions: itemId },
        { type: 'tool-call', toolCallId: 'call_1', toolName: 'run', input: {}, providerOptions: { openai: { itemId: 'fc_1' } } },
      ],
    },
    { role: 'tool', content: [{ type: 'tool-result', toolCallId: 'call_1', toolName: 'run', output: { type: 'text', value: 'done' } }] },
  ]
  const { finishReason } = await generateText({ model: provider.responses('gpt-5'), messages })
  expect(finishReason).toBe('length')
  expect(at(bodies[0], 'messages', 1, 'content', 0)).toMatchObject({ type: 'tool_use', name: 'run' })
  expect(at(bodies[0], 'messages', 2, 'content', 0)).toMatchObject({ type: 'tool_result', content: 'done' })
})
