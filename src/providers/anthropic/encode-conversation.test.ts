import { describe, expect, test } from 'bun:test'

import * as fc from 'fast-check'

import type { Message, Part } from '../../canonical/prompt.ts'
import { encode, message, type Sent } from './encode.test-kit.ts'

const shape = ({ messages }: Sent): string[] =>
  messages.map(({ role, content }) => `${role}: ${content.map((block) => String(block['text'] ?? block['type'])).join(' | ')}`)

const call = (id: string, json = '{}'): Part => ({ type: 'tool-call', id, name: 'f', arguments: json })
const result = (callId: string, text = 'done'): Part => ({ type: 'tool-result', callId, text })
const signed = (text: string, model?: string): Part => ({
  type: 'reasoning',
  text,
  proof: { format: 'anthropic-claude-v1', kind: 'signature', data: 'sig+/=', ...(model === undefined ? {} : { model }) },
})

describe('system messages', () => {
  test('at the beginning are the system prompt, with their cache marks', () => {
    const { sent, reported } = encode({
      messages: [
        message('system', 0, { type: 'text', text: 'A', cache: { ttl: '1h' } }),
        message('developer', 1, 'B'),
        message('user', 2, 'Hi'),
      ],
    })
    expect(sent.system).toEqual([
      { type: 'text', text: 'A', cache_control: { type: 'ephemeral', ttl: '1h' } },
      { type: 'text', text: 'B' },
    ])
    expect([shape(sent), reported]).toEqual([['user: Hi'], []])
  })

  const later: [string, Message[], string[], string[]][] = [
    ['last, behind the user', [message('user', 0, 'u'), message('system', 1, 's')], ['user: u', 'system: s'], ['user: u | s']],
    [
      'between user and assistant',
      [
        message('user', 0, 'u'),
        message('system', 1, 's'),
        message('developer', 2, 't'),
        message('assistant', 3, 'a'),
        message('user', 4, 'v'),
      ],
      ['user: u', 'system: s | t', 'assistant: a', 'user: v'],
      ['user: u | s | t', 'assistant: a', 'user: v'],
    ],
    [
      'behind the assistant',
      [message('user', 0, 'u'), message('assistant', 1, 'a'), message('system', 2, 's'), message('user', 3, 'v')],
      ['user: u', 'assistant: a', 'user: s | v'],
      ['user: u', 'assistant: a', 'user: s | v'],
    ],
    [
      'between two users',
      [message('user', 0, 'u'), message('system', 1, 's'), message('user', 2, 'v')],
      ['user: u | s | v'],
      ['user: u | s | v'],
    ],
  ]
  test.each(later)('%s: keep their place, as a turn of their own where the model knows one', (_, messages, known, unknown) => {
    const newest = encode({ messages }, { model: 'claude-opus-5' })
    expect(shape(newest.sent)).toEqual(known)
    expect(newest.reported.length > 0).toBe(!known.some((turn) => turn.startsWith('system')))
    const older = encode({ messages }, { model: 'claude-sonnet-4-5' })
    expect(shape(older.sent)).toEqual(unknown)
    expect(older.reported[0]).toMatch(/^mapped_field messages\[\d\]$/)
  })

  test('between a call and its result: the result comes first', () => {
    const messages = [
      message('user', 0, 'u'),
      message('assistant', 1, call('c')),
      message('system', 2, 's'),
      message('user', 3, result('c')),
    ]
    expect(shape(encode({ messages }, { model: 'claude-opus-5' }).sent)).toEqual([
      'user: u',
      'assistant: tool_use',
      'user: tool_result',
      'system: s',
    ])
    expect(shape(encode({ messages }, { model: 'claude-sonnet-4-5' }).sent)).toEqual([
      'user: u',
      'assistant: tool_use',
      'user: tool_result | s',
    ])
  })

  test('alone are asked as a user would ask, for the dialect wants a turn', () => {
    const { sent, reported } = encode({ messages: [message('system', 0, 's')] })
    expect([sent.system, shape(sent), reported]).toEqual([undefined, ['user: s'], ['mapped_field messages[0]']])
  })

  test('the prefix of a conversation is the same text, however it goes on', () => {
    const messages = [
      message('system', 0, 's'),
      message('user', 1, 'u'),
      message('assistant', 2, 'a', call('c', '{"n": 1}')),
      message('user', 3, result('c'), 'v'),
      message('assistant', 4, 'b'),
    ]
    const turnsOf = (count: number): string => encode({ messages: messages.slice(0, count) }).text.slice(0, -2)
    expect(turnsOf(5).startsWith(turnsOf(4))).toBe(true)
    expect(turnsOf(4).startsWith(turnsOf(2))).toBe(true)
  })
})

describe('turns', () => {
  test('of one role are joined, empty ones vanish, and a prefill is left as it is', () => {
    const { sent, reported } = encode({
      messages: [
        message('user', 0, 'a'),
        message('user', 1, 'b'),
        message('assistant', 2, ''),
        message('user', 3, 'c'),
        message('assistant', 4, '{'),
      ],
    })
    expect([shape(sent), reported]).toEqual([['user: a | b | c', 'assistant: {'], []])
  })

  test('a call goes out with its arguments to the byte, and its id in the dialect’s letters on both sides', () => {
    const json = '{ "n": 12345678901234567890, "x": 1.0 }'
    const { text, sent } = encode({
      messages: [
        message('user', 0, 'u'),
        message('assistant', 1, call('functions.f:0', json)),
        message('user', 2, result('functions.f:0')),
      ],
    })
    expect(text).toContain(`"input":${json}}`)
    expect(sent.messages[1]?.content[0]?.['id']).toBe('functions_2ef_3a0')
    expect(sent.messages[2]?.content[0]?.['tool_use_id']).toBe('functions_2ef_3a0')
  })

  test.each<[string, string, readonly string[]]>([
    ['', '{}', []],
    ['{"a":', '{}', ['mapped_field messages[1]']],
    ['[1]', '{}', ['mapped_field messages[1]']],
    ['{"a":1}', '{"a":1}', []],
  ])('arguments %p become %s', (given, sent, reported) => {
    const encoded = encode({
      messages: [message('user', 0, 'u'), message('assistant', 1, call('c', given)), message('user', 2, result('c'))],
    })
    expect([JSON.stringify(encoded.sent.messages[1]?.content[0]?.['input']), encoded.reported]).toEqual([sent, [...reported]])
  })

  test('results of tools come first, with their media, their failure and their mark of the cache', () => {
    const { sent, reported } = encode({
      messages: [
        message('user', 0, 'u'),
        message('assistant', 1, call('c'), call('d')),
        message(
          'user',
          2,
          'now',
          {
            type: 'tool-result',
            callId: 'c',
            text: 'see',
            pieces: [
              { type: 'text', text: 'see' },
              { type: 'image', url: 'data:image/png;base64,AA==' },
            ],
            cache: {},
          },
          { type: 'tool-result', callId: 'd', text: '', isError: true },
        ),
      ],
    })
    expect(sent.messages[2]?.content).toEqual([
      {
        type: 'tool_result',
        tool_use_id: 'c',
        content: [
          { type: 'text', text: 'see' },
          { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AA==' } },
        ],
        cache_control: { type: 'ephemeral' },
      },
      { type: 'tool_result', tool_use_id: 'd', content: 'The tool failed without a message.', is_error: true },
      { type: 'text', text: 'now' },
    ])
    expect(reported).toEqual([])
  })

  test('roles follow one another as the dialect wants it, and no text is lost, whatever the conversation', () => {
    const roles = fc.constantFrom('system', 'developer', 'user', 'assistant')
    const model = fc.constantFrom('claude-opus-5', 'claude-sonnet-4-5')
    fc.assert(
      fc.property(fc.array(roles, { minLength: 1, maxLength: 12 }), model, (given, name) => {
        const { sent } = encode({ messages: given.map((role, index) => message(role, index, `t${index}`)) }, { model: name })
        const order = sent.messages.map(({ role }) => role)
        for (const [index, role] of order.entries()) {
          expect(role).not.toBe(order[index - 1] ?? '')
          if (role === 'system') expect(`${order[index - 1]} ${order[index + 1] ?? 'assistant'}`).toBe('user assistant')
        }
        const texts = [...(sent.system ?? []), ...sent.messages.flatMap(({ content }) => content)].map((block) => block['text'])
        const ofUs = /^(?:The conversation begins with|Go on with) your answer/
        expect(texts.map(String).filter((text) => !ofUs.test(text))).toEqual(given.map((_, index) => `t${index}`))
        expect(order[0]).toBe('user')
        if (name === 'claude-opus-5') expect(order.findLast((role) => role !== 'system')).toBe('user')
      }),
    )
  })
})

describe('thinking', () => {
  test('that this model signed goes back to the byte', () => {
    const redacted: Part = { type: 'reasoning', text: '', proof: { format: 'anthropic-claude-v1', kind: 'encrypted', data: 'xyz==' } }
    const { sent, reported } = encode({
      messages: [
        message('user', 0, 'u'),
        message('assistant', 1, signed(' so\n', 'anthropic/it'), redacted, signed(''), 'a'),
        message('user', 2, 'v'),
      ],
    })
    expect(sent.messages[1]?.content).toEqual([
      { type: 'thinking', thinking: ' so\n', signature: 'sig+/=' },
      { type: 'redacted_thinking', data: 'xyz==' },
      { type: 'thinking', thinking: '', signature: 'sig+/=' },
      { type: 'text', text: 'a' },
    ])
    expect(reported).toEqual([])
  })

  test.each<[string, Part]>([
    ['of another model', signed('SECRET', 'anthropic/other')],
    ['of another maker', { type: 'reasoning', text: 'SECRET', proof: { format: 'openai-responses-v1', kind: 'encrypted', data: 'x' } }],
    ['that nobody signed', { type: 'reasoning', text: 'SECRET' }],
  ])('%s is left out, told, and never becomes text', (_, part) => {
    const { text, reported } = encode({ messages: [message('user', 0, 'u'), message('assistant', 1, part, 'a'), message('user', 2, 'v')] })
    expect(text).not.toContain('SECRET')
    expect(reported).toEqual(['unsupported_field messages[1]'])
  })

  test.each<[string, Part, readonly Readonly<Record<string, unknown>>[], readonly string[]]>([
    ['that nobody signed', { type: 'reasoning', text: 'Hm.' }, [{ type: 'thinking', thinking: 'Hm.', signature: '' }], []],
    ['that says nothing', { type: 'reasoning', text: '' }, [], []],
    [
      'of another maker',
      { type: 'reasoning', text: 'Hm.', proof: { format: 'openai-responses-v1', kind: 'encrypted', data: 'x' } },
      [],
      ['unsupported_field messages[1]'],
    ],
  ])('of a model that is no Claude: %s', (_, part, blocks, lost) => {
    const { sent, reported } = encode(
      { messages: [message('user', 0, 'u'), message('assistant', 1, part, 'a'), message('user', 2, 'v')] },
      { model: 'glm-4.7', provider: 'acme' },
    )
    expect([sent.messages[1]?.content, reported]).toEqual([[...blocks, { type: 'text', text: 'a' }], lost])
  })
})

describe('media', () => {
  test.each<[Message['role'], Part]>([
    ['user', { type: 'image', url: 'data:image/tiff;base64,AA==' }],
    ['user', { type: 'file', url: 'data:application/zip;base64,AA==', filename: null }],
    ['user', { type: 'audio', data: 'AA==', format: 'wav' }],
    ['user', { type: 'video', url: 'https://a.example/v.mp4' }],
    ['user', { type: 'unknown', kind: 'hologram', at: 'messages[0]', content: true }],
    ['system', { type: 'image', url: 'https://a.example/b.png' }],
  ])('400: %s %j is named', (role, part) => {
    expect(() => encode({ messages: [message(role, 0, part), message('user', 1, 'x')] })).toThrow('messages[0]: ')
  })

  test('what the assistant drew is shown in what the user says next', () => {
    const picture: Part = { type: 'image', url: 'https://a.example/b.png' }
    const { sent, reported } = encode({
      messages: [message('user', 0, 'Draw'), message('assistant', 1, 'Here', picture), message('user', 2, 'x')],
    })
    expect(sent.messages.at(-1)?.content).toEqual([
      { type: 'text', text: 'The picture that you made:' },
      { type: 'image', source: { type: 'url', url: 'https://a.example/b.png' } },
      { type: 'text', text: 'x' },
    ])
    expect(reported).toEqual([])
  })

  test.each<[Part, Readonly<Record<string, unknown>>]>([
    [
      { type: 'image', url: 'https://a.example/b.png' },
      { type: 'image', source: { type: 'url', url: 'https://a.example/b.png' } },
    ],
    [
      { type: 'image', url: 'data:image/jpg;base64,AA==', cache: {} },
      { type: 'image', source: { type: 'base64', media_type: 'image/jpeg', data: 'AA==' }, cache_control: { type: 'ephemeral' } },
    ],
    [
      { type: 'file', url: 'data:application/pdf;base64,JVBE', filename: 'a.pdf' },
      { type: 'document', source: { type: 'base64', media_type: 'application/pdf', data: 'JVBE' }, title: 'a.pdf' },
    ],
    [
      { type: 'file', url: 'https://a.example/b.pdf', filename: null },
      { type: 'document', source: { type: 'url', url: 'https://a.example/b.pdf' } },
    ],
    [
      { type: 'file', url: 'data:text/csv;charset=utf-8;base64,w6k=', filename: null },
      { type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'é' } },
    ],
    [
      { type: 'file', url: 'data:,a%20b', filename: null },
      { type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'a b' } },
    ],
    [
      { type: 'file', url: 'data:image/png;base64,AA==', filename: 'x' },
      { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AA==' } },
    ],
  ])('%j', (part, block) => {
    const { sent, reported } = encode({ messages: [message('user', 0, part)] })
    expect([sent.messages[0]?.content, reported]).toEqual([[block], []])
  })

  test.each<[Message['role'], Part]>([
    ['user', { type: 'unknown', kind: 'citations', at: 'messages[0]' }],
    ['user', { type: 'text', text: ' \n' }],
    ['user', { type: 'reasoning', text: 'hm' }],
    ['assistant', { type: 'unknown', kind: 'server_tool_use', at: 'messages[0]', content: true }],
  ])('%s %j is left out and told', (role, part) => {
    const { sent, reported } = encode({ messages: [message(role, 0, part), message('user', 1, 'x')] })
    expect([sent.messages.flatMap(({ content }) => content), reported]).toEqual([
      [{ type: 'text', text: 'x' }],
      ['unsupported_field messages[0]'],
    ])
  })
})
