import { describe, expect, test } from 'bun:test'

import { sealProof } from '../../canonical/reasoning.ts'
import { JsonBody } from '../../lib/json/json-body.ts'
import { atOnce } from '../../lib/steps.ts'
import { parsePrompt } from './parse-prompt.ts'

const parts = (message: object) =>
  atOnce(parsePrompt(JsonBody.read(JSON.stringify({ messages: [{ role: 'assistant', ...message }] })))).messages[0]?.parts
const details = (...list: object[]) => parts({ content: null, reasoning_details: list })

const claude = { format: 'anthropic-claude-v1' } as const
const openai = { format: 'openai-responses-v1' } as const
const google = { format: 'google-gemini-v1' } as const
const signature = (data: string) => ({ ...claude, kind: 'signature' as const, data })

describe('reasoning_details', () => {
  test('win over the text that repeats them, and keep their order', () => {
    expect(
      parts({
        content: null,
        reasoning: 'ab',
        reasoning_details: [
          { type: 'reasoning.text', text: 'a', signature: 's1', ...claude, index: 0 },
          { type: 'reasoning.encrypted', data: 'x', ...claude, index: 1 },
          { type: 'reasoning.text', text: 'b', signature: 's2', ...claude, index: 2 },
        ],
      }),
    ).toEqual([
      { type: 'reasoning', text: 'a', proof: signature('s1') },
      { type: 'reasoning', text: '', proof: { ...claude, kind: 'encrypted', data: 'x' } },
      { type: 'reasoning', text: 'b', proof: signature('s2') },
    ])
  })

  test('the pieces of a stream are one block: by index, by id, or because they follow each other', () => {
    const claudeBlock = [{ type: 'reasoning', text: ' two words', proof: signature('s') }]
    expect(
      details(
        { type: 'reasoning.text', text: ' two', index: 0 },
        { type: 'reasoning.text', text: ' words', index: 0 },
        { type: 'reasoning.text', text: '', signature: 's', ...claude, index: 0 },
      ),
    ).toEqual(claudeBlock as never)
    const proof = { ...openai, kind: 'encrypted', data: 'x', id: 'rs_1' }
    const openaiBlock = [{ type: 'reasoning', text: 'sum', summary: true, proof }]
    const sealed = { type: 'reasoning.encrypted', data: 'x', id: 'rs_1', ...openai }
    const summary = { type: 'reasoning.summary', summary: 'sum', ...openai }
    expect(details({ ...summary, index: 0 }, { ...sealed, index: 0 })).toEqual(openaiBlock as never)
    expect(details({ ...summary, id: 'rs_1' }, sealed)).toEqual(openaiBlock as never)
    expect(details(sealed, { ...summary, id: 'rs_1' })).toEqual(openaiBlock as never)
    expect(details({ ...summary, id: null }, sealed)).toEqual(openaiBlock as never)
  })

  test('blocks of the same index that have their proofs stay apart', () => {
    expect(
      details(
        { type: 'reasoning.text', text: 'a', signature: 's1', ...claude, index: 0 },
        { type: 'reasoning.text', text: 'b', signature: 's2', ...claude, index: 0 },
        { type: 'reasoning.encrypted', data: 'x', ...claude, index: 0 },
      ),
    ).toMatchObject([{ text: 'a' }, { text: 'b' }, { text: '' }])
  })

  test('a signature without a format is Claude’s; a signature of an unknown format is reported as unknown', () => {
    expect(
      details(
        { type: 'reasoning.text', text: 'a', signature: 's' },
        { type: 'reasoning.encrypted', data: 'x', format: 'xai-responses-v1', id: 'r' },
        { type: 'reasoning.server_tool_call', tool_name: 't' },
      ),
    ).toEqual([
      { type: 'reasoning', text: 'a', proof: { format: 'anthropic-claude-v1', kind: 'signature', data: 's' } },
      { type: 'unknown', kind: 'reasoning.encrypted', at: 'messages[0].reasoning_details[1]' },
      { type: 'unknown', kind: 'reasoning.server_tool_call', at: 'messages[0].reasoning_details[2]' },
    ])
  })

  test('a sealed proof is opened', () => {
    const proof = { ...openai, kind: 'encrypted', data: 'x', id: 'rs_1', model: 'openai/gpt-5.4' } as const
    expect(details({ type: 'reasoning.encrypted', data: sealProof(proof), format: 'unknown' })).toEqual([
      { type: 'reasoning', text: '', proof },
    ])
  })
})

describe('thinking that says where it stood', () => {
  const call = (id: string) => ({ id, type: 'function', function: { name: 'f', arguments: '{}' } })
  const thought = (data: string, place?: string) => ({
    type: 'reasoning.text',
    text: data,
    signature: data,
    ...claude,
    ...(place === undefined ? {} : { id: `pbt0${place}` }),
  })
  const shape = (message: object): readonly string[] =>
    (parts(message) ?? []).map((part) => ('text' in part ? part.text : part.type === 'tool-call' ? part.id : part.type))

  test.each<[string, object, readonly string[]]>([
    [
      'goes before the words and the calls that it was followed by',
      { content: 'ab', reasoning_details: [thought('S'), thought('T', 't1c0'), thought('U', 't2c1')], tool_calls: [call('c'), call('d')] },
      ['S', 'a', 'T', 'b', 'c', 'U', 'd'],
    ],
    [
      'may have said its words behind a call',
      { content: 'b', reasoning_details: [thought('T', 't0c1')], tool_calls: [call('c'), call('d')] },
      ['c', 'T', 'b', 'd'],
    ],
    [
      'stands at the end where the text and the calls are shorter',
      { content: 'a', reasoning_details: [thought('T', 't9c9')], tool_calls: [call('c')] },
      ['a', 'c', 'T'],
    ],
    [
      'stays behind the thinking before it',
      { content: 'ab', reasoning_details: [thought('T', 't1c0'), thought('U'), thought('V', 't0c0')] },
      ['a', 'T', 'U', 'V', 'b'],
    ],
    [
      'goes between the parts of a content too',
      {
        content: [
          { type: 'text', text: 'ab' },
          { type: 'text', text: 'cd' },
        ],
        reasoning_details: [thought('T', 't2c0'), thought('U', 't3c0')],
      },
      ['ab', 'T', 'c', 'U', 'd'],
    ],
    ['cuts no character in two', { content: 'a🎈b', reasoning_details: [thought('T', 't2c0')] }, ['a🎈', 'T', 'b']],
    ['has nothing to stand behind where nothing was said', { content: null, reasoning_details: [thought('T', 't5c2')] }, ['T']],
  ])('%s', (_, message, expected) => {
    expect(shape(message)).toEqual(expected)
  })

  test('is no proof of a call whose id its own looks like', () => {
    expect(parts({ content: null, reasoning_details: [thought('T', 't0c1')], tool_calls: [call('pbt0t0c1')] })).toEqual([
      { type: 'tool-call', id: 'pbt0t0c1', name: 'f', arguments: '{}' },
      { type: 'reasoning', text: 'T', proof: signature('T') },
    ])
  })

  test('keeps the id of its maker', () => {
    const [, , last] =
      parts({
        content: 'a',
        reasoning_details: [{ type: 'reasoning.encrypted', data: 'x', id: 'rs_1_pbt0t1c1', ...openai }],
        tool_calls: [call('c')],
      }) ?? []
    expect(last).toEqual({ type: 'reasoning', text: '', proof: { ...openai, kind: 'encrypted', data: 'x', id: 'rs_1' } })
  })

  test('leaves a cache mark at the end of the text, and each source at the piece that it is of', () => {
    const source = (url: string, place: object) => ({ type: 'url_citation', url_citation: { url, title: url, ...place } })
    const read = parts({
      content: [{ type: 'text', text: 'abcdef', cache_control: { type: 'ephemeral' } }],
      reasoning_details: [thought('T', 't2c0'), thought('U', 't4c0')],
      annotations: [source('y', { start_index: 4, end_index: 6 }), source('x', { start_index: 1, end_index: 3 }), source('z', {})],
    })
    const own = (part: object | undefined) => (part !== undefined && 'annotations' in part ? part.annotations : [])
    expect(read).toMatchObject([{ text: 'ab' }, { text: 'T' }, { text: 'cd' }, { text: 'U' }, { text: 'ef', cache: {} }])
    expect(read?.filter((part) => 'cache' in part)).toHaveLength(1)
    expect(own(read?.[0])).toMatchObject([{ url: 'x', start: 1, end: 2 }])
    expect(own(read?.[2])).toEqual([])
    expect(own(read?.[4])).toMatchObject([
      { url: 'y', start: 0, end: 2 },
      { url: 'z', start: null, end: null },
    ])
  })

  test('leaves out the break before the next message of OpenAI’s, and counts sources after it', () => {
    const read = parts({
      content: 'ab\n\ncd',
      reasoning_details: [{ type: 'reasoning.encrypted', data: 'x', id: 'rs_1_pbt0t2c0', ...openai }],
      annotations: [{ type: 'url_citation', url_citation: { url: 'u', title: 'u', start_index: 4, end_index: 6 } }],
    })
    expect(read).toMatchObject([{ text: 'ab' }, { type: 'reasoning' }, { text: 'cd', annotations: [{ url: 'u', start: 0, end: 2 }] }])
    expect(read?.[0]).not.toHaveProperty('annotations')
  })

  test('and calls of the service that do are the turns that they were', () => {
    const ran = (index: number, place: string) => ({
      type: 'reasoning.server_tool_call',
      tool_name: 'service:datetime',
      arguments: '{}',
      result: 'now',
      tool_call_id: `ran_${index}`,
      id: `st_svc${index}p0_x_pbt${index}${place}`,
    })
    const { messages } = atOnce(
      parsePrompt(
        JsonBody.read(
          JSON.stringify({
            messages: [
              {
                role: 'assistant',
                content: 'Look.Found.',
                reasoning_details: [thought('S'), ran(0, 't5c0'), thought('T', 't5c0')],
                tool_calls: [call('c')],
              },
            ],
          }),
        ),
      ),
    )
    expect(
      messages.map((message) => message.parts.map((part) => ('text' in part ? part.text : part.type === 'tool-call' ? part.id : ''))),
    ).toEqual([['S', 'Look.', 'ran_0'], ['now'], ['T', 'Found.', 'c']])
  })
})

test('reasoning, or what a vendor calls it, where there are no details', () => {
  expect(parts({ content: 'c', reasoning: 'r', reasoning_details: [] })).toEqual([
    { type: 'reasoning', text: 'r' },
    { type: 'text', text: 'c' },
  ])
  expect(parts({ reasoning_content: 'r' })).toEqual([{ type: 'reasoning', text: 'r' }])
})

describe('the proof of a tool call', () => {
  const call = (id: string, more: object = {}) => ({ id, type: 'function', function: { name: 'f', arguments: '{}' }, ...more })
  const proven = (id: string, data: string) => ({
    type: 'tool-call' as const,
    id,
    name: 'f',
    arguments: '{}',
    proof: { ...google, kind: 'signature' as const, data },
  })

  test('stands with the call in Google’s own form of the dialect', () => {
    const extra = { extra_content: { google: { thought_signature: 'g' } } }
    expect(parts({ content: null, tool_calls: [call('c1', extra)] })).toEqual([proven('c1', 'g')])
  })

  test('stands among the details under the id of the call, also beside thinking of the same index', () => {
    expect(
      parts({
        content: null,
        reasoning_details: [
          { type: 'reasoning.text', text: 't', ...google, index: 0 },
          { type: 'reasoning.encrypted', data: 'g2', id: 'c2', ...google, index: 0 },
        ],
        tool_calls: [call('c1'), call('c2')],
      }),
    ).toEqual([{ type: 'reasoning', text: 't' }, { type: 'tool-call', id: 'c1', name: 'f', arguments: '{}' }, proven('c2', 'g2')])
  })
})
