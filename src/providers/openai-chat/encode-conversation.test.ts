import { describe, expect, test } from 'bun:test'

import * as fc from 'fast-check'

import type { Message, Part } from '../../canonical/prompt.ts'
import type { ReasoningProof } from '../../canonical/reasoning.ts'
import type { JsonValue } from '../../lib/json/json.ts'
import { assistant, call, encode, result, system, text, user } from './encode.test-kit.ts'

const messages = (given: readonly Message[], vendor?: string, model?: string): { sent: JsonValue | undefined; lost: readonly string[] } => {
  const { sent, lost } = encode(
    { messages: given },
    { ...(vendor === undefined ? {} : { vendor }), ...(model === undefined ? {} : { model }) },
  )
  return { sent: sent['messages'], lost }
}

const sentOf = (given: readonly Message[], vendor?: string, model?: string): JsonValue | undefined => messages(given, vendor, model).sent

describe('a conversation', () => {
  test('keeps each message at its place, system messages too', () => {
    const developer: Message = { role: 'developer', parts: [text('c')], at: 'input[2]' }
    expect(sentOf([system(text('a')), user(text('b')), developer], 'openai')).toEqual([
      { role: 'system', content: 'a' },
      { role: 'user', content: 'b' },
      { role: 'developer', content: 'c' },
    ])
    expect(sentOf([developer], 'deepseek')).toEqual([{ role: 'system', content: 'c' }])
  })

  test('of media is parts, each in the words of the dialect', () => {
    const media: Part[] = [
      text('see'),
      { type: 'image', url: 'https://a.example/b.png', detail: 'low' },
      { type: 'audio', data: 'AAAA', format: 'wav' },
      { type: 'file', url: 'data:application/pdf;base64,AAAA', filename: null },
    ]
    expect(messages([user(...media)], 'openai')).toEqual({
      sent: [
        {
          role: 'user',
          content: [
            { type: 'text', text: 'see' },
            { type: 'image_url', image_url: { url: 'https://a.example/b.png', detail: 'low' } },
            { type: 'input_audio', input_audio: { data: 'AAAA', format: 'wav' } },
            { type: 'file', file: { filename: 'file.pdf', file_data: 'data:application/pdf;base64,AAAA' } },
          ],
        },
      ],
      lost: [],
    })
  })

  test.each<[string, Part, string]>([
    ['a video', { type: 'video', url: 'https://a.example/v.mp4' }, 'messages[0]'],
    ['a file at an address', { type: 'file', url: 'https://a.example/f.pdf', filename: null }, 'messages[0]'],
    [
      'a part of an unknown kind',
      { type: 'unknown', kind: 'hologram', at: 'messages[0].content[0]', content: true },
      'messages[0].content[0]',
    ],
    [
      'a file by its id',
      { type: 'unknown', kind: 'file', at: 'messages[0].content[0].file', content: true },
      'messages[0].content[0].file',
    ],
  ])('400: %s, where the vendor takes none, is named', (_, part, field) => {
    expect(() => messages([user(text('a'), part)], 'openai')).toThrow(`${field}: `)
  })

  test('loses with a warning what says something beside the content', () => {
    const asked: Part = { type: 'unknown', kind: 'citations', at: 'messages[0].content[0].citations' }
    expect(messages([user(text('a'), asked)], 'openai')).toEqual({ sent: [{ role: 'user', content: 'a' }], lost: [asked.at] })
  })

  test('400: a conversation of which nothing is left', () => {
    const asked: Part = { type: 'unknown', kind: 'citations', at: 'messages[0].content[0].citations' }
    expect(() => messages([user(asked)], 'openai')).toThrow('messages[0]: The prompt has no message')
  })

  test('shows a picture of the assistant’s in what the user says next', () => {
    const picture: Part = { type: 'image', url: 'data:image/png;base64,AA' }
    expect((sentOf([user(text('Draw')), assistant(picture), user(text('Bluer'))], 'openai') as readonly unknown[]).at(-1)).toEqual({
      role: 'user',
      content: [
        { type: 'text', text: 'The picture that you made:' },
        { type: 'image_url', image_url: { url: 'data:image/png;base64,AA' } },
        { type: 'text', text: 'Bluer' },
      ],
    })
  })

  test('sends documents to Mistral as it calls them', () => {
    expect(sentOf([user({ type: 'file', url: 'https://a.example/f.pdf', filename: 'f.pdf' })], 'mistral')).toEqual([
      { role: 'user', content: [{ type: 'document_url', document_url: 'https://a.example/f.pdf', document_name: 'f.pdf' }] },
    ])
  })

  test('of texts alone is a list for vendors that know one there, else one string', () => {
    expect(sentOf([system(text('a'), text('b'))], 'openai')).toEqual([
      {
        role: 'system',
        content: [
          { type: 'text', text: 'a' },
          { type: 'text', text: 'b' },
        ],
      },
    ])
    expect(sentOf([system(text('a'), text('b'))], 'groq')).toEqual([{ role: 'system', content: 'a\n\nb' }])
  })
})

describe('tools', () => {
  test('answer directly after the calls, whatever stands before them in the turn; media follow as the user’s', () => {
    const looked: Part = {
      type: 'tool-result',
      callId: 'c2',
      text: 'two',
      pieces: [
        { type: 'text', text: 'two' },
        { type: 'image', url: 'data:image/png;base64,AA' },
      ],
    }
    expect(sentOf([assistant(call('c1', '{"a":1}'), call('c2', '')), user(text('and?'), result('c1', ''), looked)])).toEqual([
      {
        role: 'assistant',
        content: null,
        tool_calls: [
          { id: 'c1', type: 'function', function: { name: 'look', arguments: '{"a":1}' } },
          { id: 'c2', type: 'function', function: { name: 'look', arguments: '{}' } },
        ],
      },
      { role: 'tool', tool_call_id: 'c1', content: '' },
      { role: 'tool', tool_call_id: 'c2', content: 'two' },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'Returned by the tool look:' },
          { type: 'image_url', image_url: { url: 'data:image/png;base64,AA' } },
          { type: 'text', text: 'and?' },
        ],
      },
    ])
  })

  test('a result of a picture alone says where the picture is', () => {
    const looked: Part = { type: 'tool-result', callId: 'c1', text: '', pieces: [{ type: 'image', url: 'data:image/png;base64,AA' }] }
    expect((sentOf([assistant(call('c1')), user(looked)]) as readonly unknown[]).slice(1)).toEqual([
      { role: 'tool', tool_call_id: 'c1', content: 'What the tool look returned follows in the next message.' },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'Returned by the tool look:' },
          { type: 'image_url', image_url: { url: 'data:image/png;base64,AA' } },
        ],
      },
    ])
  })

  test('an error among their results is reported as lost', () => {
    expect(messages([user({ type: 'tool-result', callId: 'c', text: 'no', isError: true })]).lost).toEqual(['messages[0]'])
  })

  test.each<[string, RegExp]>([
    ['mistral', /^[a-zA-Z0-9]{9}$/],
    ['openai', /^.{1,40}$/],
  ])('%s: an id is of the form that the vendor takes, and the same in call and result', (vendor, form) => {
    fc.assert(
      fc.property(fc.string({ minLength: 1, maxLength: 80 }), (id) => {
        const [turn, answer] = sentOf([assistant(call(id)), user(result(id))], vendor) as [
          { tool_calls: { id: string }[] },
          { tool_call_id: string },
        ]
        expect(answer.tool_call_id).toBe(turn.tool_calls[0]?.id ?? '')
        expect(answer.tool_call_id).toMatch(form.source === '^.{1,40}$' ? /^[\s\S]{1,40}$/ : form)
      }),
    )
  })
})

describe('what to cache', () => {
  const marked: Message[] = [
    system({ type: 'text', text: 'a', cache: { ttl: '1h' } }),
    assistant({ type: 'tool-call', id: 'c', name: 'f', arguments: '{}' }),
    user({ type: 'tool-result', callId: 'c', text: 'r', cache: {} }),
  ]
  const called = { role: 'assistant', content: null, tool_calls: [{ id: 'c', type: 'function', function: { name: 'f', arguments: '{}' } }] }

  test('is marked for vendors that take marks, with the lifetime where they know one', () => {
    const mark = { type: 'ephemeral' }
    expect(messages(marked, 'openrouter')).toEqual({
      sent: [
        { role: 'system', content: [{ type: 'text', text: 'a', cache_control: { ...mark, ttl: '1h' } }] },
        called,
        { role: 'tool', tool_call_id: 'c', content: [{ type: 'text', text: 'r', cache_control: mark }] },
      ],
      lost: [],
    })
    expect(sentOf([marked[0] ?? user()], 'alibaba')).toEqual([
      { role: 'system', content: [{ type: 'text', text: 'a', cache_control: mark }] },
    ])
  })

  test('is reported once if a vendor caches by itself', () => {
    expect(messages(marked, 'openai')).toEqual({
      sent: [{ role: 'system', content: 'a' }, called, { role: 'tool', tool_call_id: 'c', content: 'r' }],
      lost: ['system'],
    })
  })
})

describe('a turn of the assistant', () => {
  test('that refused says so where there is a word for it', () => {
    const refused = [assistant({ type: 'refusal', text: 'No.' })]
    expect(sentOf(refused, 'openai')).toEqual([{ role: 'assistant', content: null, refusal: 'No.' }])
    expect(sentOf(refused, 'groq')).toEqual([{ role: 'assistant', content: 'No.' }])
  })

  test('of which nothing is left is left out', () => {
    expect(sentOf([assistant({ type: 'reasoning', text: 'Hm.' }), user(text('a'))])).toEqual([{ role: 'user', content: 'a' }])
  })

  const claudes: ReasoningProof = { format: 'anthropic-claude-v1', kind: 'signature', data: 'EqQB+/=' }
  const thought = (proof?: ReasoningProof): Part => ({ type: 'reasoning', text: 'Hm.', ...(proof === undefined ? {} : { proof }) })

  test.each<[string, Part, string, string, object, readonly string[]]>([
    ['is stripped for a vendor that wants none', thought(), 'groq', 'm', {}, []],
    ['is stripped with a warning where it had a proof', thought(claudes), 'groq', 'm', {}, ['messages[1]']],
    ['goes back as text where it is wanted', thought(), 'deepseek', 'm', { reasoning_content: 'Hm.' }, []],
    ['goes back to Z.ai', thought(), 'zai', 'm', { reasoning_content: 'Hm.' }, []],
    ['goes back to vLLM under its name', thought(), 'vllm', 'm', { reasoning: 'Hm.' }, []],
    ['of another maker does not go to vLLM, and nothing takes its place', thought(claudes), 'vllm', 'm', {}, ['messages[1]']],
    ['is left out for a server of which nothing is known', thought(), 'acme', 'm', {}, []],
    ['of another maker does not, and its place is filled', thought(claudes), 'moonshot', 'm', { reasoning_content: ' ' }, ['messages[1]']],
    [
      'goes back to its maker behind a router, byte for byte',
      thought(claudes),
      'openrouter',
      'anthropic/claude-opus-5',
      { reasoning_details: [{ type: 'reasoning.text', text: 'Hm.', signature: 'EqQB+/=', format: 'anthropic-claude-v1', index: 0 }] },
      [],
    ],
    ['of one maker never goes to another behind a router', thought(claudes), 'openrouter', 'openai/gpt-5.4', {}, ['messages[1]']],
    [
      'of another model of the maker neither',
      thought({ ...claudes, model: 'acme/two' }),
      'openrouter',
      'anthropic/claude-opus-5',
      {},
      ['messages[1]'],
    ],
    ['without a proof goes to models that prove nothing', thought(), 'openrouter', 'deepseek/deepseek-v4', { reasoning: 'Hm.' }, []],
    ['without a proof is stripped for models that want one', thought(), 'openrouter', 'anthropic/claude-opus-5', {}, []],
  ])('its thinking %s', (_, part, vendor, model, members, lost) => {
    const { sent, lost: reported } = messages([assistant(part, call('abcdefghi')), user(result('abcdefghi'))], vendor, model)
    const content = vendor === 'deepseek' || vendor === 'moonshot' ? '' : null
    const calls = [{ id: 'abcdefghi', type: 'function', function: { name: 'look', arguments: '{}' } }]
    expect(sent).toEqual([
      { role: 'assistant', content, ...members, tool_calls: calls },
      { role: 'tool', tool_call_id: 'abcdefghi', content: 'ok' },
    ])
    expect(reported).toEqual(lost)
  })

  test('the proof of a call goes back under the call’s id', () => {
    const proof: ReasoningProof = { format: 'google-gemini-v1', kind: 'signature', data: 'CiQB' }
    const [turn] = sentOf(
      [assistant({ type: 'tool-call', id: 'c1', name: 'look', arguments: '{}', proof })],
      'openrouter',
      'google/gemini-3-pro',
    ) as [{ reasoning_details: unknown }]
    expect(turn.reasoning_details).toEqual([{ type: 'reasoning.encrypted', data: 'CiQB', id: 'c1', format: 'google-gemini-v1', index: 0 }])
  })
})

test('thinking never becomes visible text, for any vendor', () => {
  fc.assert(
    fc.property(fc.constantFrom('acme', 'openai', 'openrouter', 'groq', 'mistral', 'deepseek', 'moonshot', 'alibaba'), (vendor) => {
      const [turn] = sentOf([assistant({ type: 'reasoning', text: 'SECRET' }, text('said'))], vendor) as [{ content: string }]
      expect(turn.content).toBe('said')
    }),
  )
})
