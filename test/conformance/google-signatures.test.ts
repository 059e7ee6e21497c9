/** Google refuses, or reasons worse on, a turn whose signatures moved: what a client sends back unchanged reaches Google unchanged. */
import { describe, expect, test } from 'bun:test'

import { CLIENT_DIALECTS, type ClientDialect } from '../../src/canonical/call.ts'
import { MODEL, question, replay, type Replayed } from '../support/replay.ts'

const call = (id: string, city: string): object => ({ functionCall: { id, name: 'get_weather', args: { city } } })
/** Google's documented signature for a call that has none. */
const SKIPPED = 'skip_thought_signature_validator'
const picture = { inlineData: { mimeType: 'image/png', data: 'QQ==' } }

const TURNS: Readonly<Record<string, readonly object[]>> = {
  'a thought': [{ text: 'T', thought: true, thoughtSignature: 'c2ln' }, { text: 'x' }],
  'a text': [
    { text: 'T', thought: true },
    { text: 'x', thoughtSignature: 'c2ln' },
  ],
  'nothing behind a text': [{ text: 'x' }, { text: '', thoughtSignature: 'c2ln' }],
  'nothing behind a thought and a text': [{ text: 'T', thought: true }, { text: 'x' }, { text: '', thoughtSignature: 'c2ln' }],
  'a call behind a thought': [
    { text: 'T', thought: true },
    { ...call('a', 'Oslo'), thoughtSignature: 'c2ln' },
  ],
  'a text and a call': [
    { text: 'x', thoughtSignature: 'dGV4dA' },
    { ...call('a', 'Oslo'), thoughtSignature: 'c2ln' },
  ],
  'the first of two calls': [{ ...call('a', 'Oslo'), thoughtSignature: 'c2ln' }, call('b', 'Rome')],
  'a picture behind a text': [{ text: 'x' }, { ...picture, thoughtSignature: 'c2ln' }],
  'a text and a picture': [
    { text: 'x', thoughtSignature: 'dGV4dA' },
    { ...picture, thoughtSignature: 'c2ln' },
  ],
  'the second of two pictures': [{ text: 'x' }, picture, { ...picture, thoughtSignature: 'c2ln' }],
}

interface Answer {
  readonly choices: readonly [{ readonly message: { readonly tool_calls?: readonly { readonly id: string }[] } }]
  readonly output: readonly { readonly type: string; readonly call_id: string }[]
  readonly content: readonly { readonly type: string; readonly id: string }[]
}

const MORE = { role: 'user', content: 'More' }

/** The conversation with the answer unchanged, and the next message. */
const NEXT: Readonly<Record<ClientDialect, (asked: Readonly<Record<string, unknown>>, answer: Answer) => object>> = {
  chat: ({ messages }, { choices: [{ message }] }) => {
    const results = (message.tool_calls ?? []).map(({ id }) => ({ role: 'tool', tool_call_id: id, content: 'r' }))
    return { messages: [...(messages as unknown[]), message, ...results, MORE] }
  },
  responses: (_, { output }) => {
    const results = output.flatMap(({ type, call_id }) =>
      type === 'function_call' ? [{ type: 'function_call_output', call_id, output: 'r' }] : [],
    )
    return { input: [{ role: 'user', content: 'Hi' }, ...output, ...results, MORE] }
  },
  messages: ({ messages }, { content }) => {
    const results = content.flatMap(({ type, id }) => (type === 'tool_use' ? [{ type: 'tool_result', tool_use_id: id, content: 'r' }] : []))
    return {
      messages: [
        ...(messages as unknown[]),
        { role: 'assistant', content },
        { role: 'user', content: [...results, { type: 'text', text: 'More' }] },
      ],
    }
  },
}

/** Sends an answer back as the client got it; the parts that Google then gets, and the warnings about them. */
const sentBack = async (client: ClientDialect, parts: readonly object[]): Promise<{ parts: unknown; warnings: string | null }> => {
  const body = JSON.stringify({
    candidates: [{ content: { role: 'model', parts }, finishReason: 'STOP' }],
    usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 1 },
  })
  const ask = (asked: object): Promise<Replayed> =>
    replay({
      client,
      upstreams: [
        {
          dialect: 'google',
          reply: { type: 'application/json', pieces: [new TextEncoder().encode(body)] },
          model: 'gemini-3-pro-preview',
        },
      ],
      body: { ...question(client, false), model: MODEL, ...asked },
    })
  const answer = JSON.parse((await ask({})).text) as Answer
  const { sent, headers } = await ask(NEXT[client](question(client, false), answer))
  const { contents } = JSON.parse(sent[0]?.body ?? '{"contents":[]}') as { readonly contents: readonly { readonly parts: unknown }[] }
  return { parts: contents[1]?.parts, warnings: headers.get('x-service-warnings') }
}

describe.each([...CLIENT_DIALECTS])('%s: a signature stays on', (client) => {
  test.each(Object.entries(TURNS))('%s', async (_, parts) => {
    expect(await sentBack(client, parts)).toEqual({ parts, warnings: null })
  })
})

const code = { executableCode: { id: 'c', language: 'PYTHON', code: '1' }, thoughtSignature: 'Y29kZQ' }
const search = { toolCall: { id: 's', toolType: 'GOOGLE_SEARCH_WEB', args: {} }, thoughtSignature: 'Y2FsbA' }
const found = { toolResponse: { id: 's', toolType: 'GOOGLE_SEARCH_WEB', response: {} }, thoughtSignature: 'cmVzdWx0' }
const text = { text: 'x' }
const signed = { text: 'x', thoughtSignature: 'dGV4dA' }

describe.each([...CLIENT_DIALECTS])('%s: a part that cannot go back leaves its signature on nothing else:', (client) => {
  test.each<[string, readonly object[], readonly object[]]>([
    ['code before a text', [code, { codeExecutionResult: { outcome: 'OUTCOME_OK' } }, text], [text]],
    [
      'a search between a thought and a text',
      [{ text: 'T', thought: true }, search, found, signed],
      [{ text: 'T', thought: true }, signed],
    ],
    ['a search before a call', [search, found, call('a', 'Oslo')], [{ ...call('a', 'Oslo'), thoughtSignature: SKIPPED }]],
  ])('%s', async (_, said, back) => {
    expect((await sentBack(client, said)).parts).toEqual(back)
  })
})
