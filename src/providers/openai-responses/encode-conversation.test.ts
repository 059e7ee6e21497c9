import { describe, expect, test } from 'bun:test'

import type { Message, Part } from '../../canonical/prompt.ts'
import type { ReasoningProof } from '../../canonical/reasoning.ts'
import type { JsonObject } from '../../lib/json/json.ts'
import { assistant, encode, proof, text, user } from './encode.test-kit.ts'

describe('phases of the assistant’s messages', () => {
  const call = (id: string): Part => ({ type: 'tool-call', id, name: 'f', arguments: '{}' })
  const result = (callId: string): Part => ({ type: 'tool-result', callId, text: '' })
  const phases = (messages: readonly Message[], model = 'gpt-5.4'): readonly unknown[] =>
    (encode({ messages }, { model }).sent['input'] as readonly JsonObject[]).flatMap((item) =>
      item['role'] === 'assistant' ? [item['phase']] : [],
    )
  const history = [user(text('1')), assistant(text('a'), call('x')), user(result('x')), assistant(text('b')), user(text('2'))]

  test.each([
    ['gpt-5.3-codex', true],
    ['gpt-5.4', true],
    ['openai/gpt-5.5-pro', true],
    ['gpt-6-sol', true],
    ['gpt-5.3', false],
    ['gpt-5.2-codex', false],
    ['gpt-5.4-chat-latest', false],
    ['local-model', false],
  ])('%s is told which words were comments between calls, and which answered: %p', (model, knows) => {
    expect(phases(history, model)).toEqual(knows ? ['commentary', 'final_answer'] : [undefined, undefined])
  })

  test.each<[string, readonly Message[], readonly string[]]>([
    [
      'words in a message of their own before the calls',
      [user(text('1')), assistant(text('a')), assistant(call('x')), user(result('x'))],
      ['commentary'],
    ],
    [
      'words behind a call that was answered',
      [user(text('1')), assistant(call('x'), text('a')), user(result('x'), text('2'))],
      ['commentary'],
    ],
    [
      'an answer before a question with calls behind it',
      [assistant(text('a')), user(text('1')), assistant(call('x')), user(result('x'))],
      ['final_answer'],
    ],
    [
      'words on both sides of thinking',
      [assistant(text('a'), { type: 'reasoning', text: '', proof }, text('b'), call('x')), user(result('x'))],
      ['commentary', 'commentary'],
    ],
  ])('%s', (_, messages, expected) => {
    expect(phases(messages)).toEqual(expected)
  })

  test('those that the client says itself stay, each with its message, for every model', () => {
    const said = assistant(
      { type: 'text', text: 'a', phase: 'final_answer' },
      { type: 'text', text: 'b', phase: 'commentary' },
      text('c'),
      call('x'),
    )
    expect(phases([said, user(result('x'))])).toEqual(['final_answer', 'commentary', 'commentary'])
    expect(phases([said, user(result('x'))], 'local-model')).toEqual(['final_answer', 'commentary', undefined])
  })
})

describe('a translated request', () => {
  test('names the model, streams as asked, and is never stored', () => {
    expect(encode({ messages: [user(text('Hi'))] }, { stream: true }).sent).toEqual({
      model: 'gpt-5.4',
      input: [{ type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Hi' }] }],
      include: ['reasoning.encrypted_content'],
      stream: true,
      store: false,
    })
  })

  test('keeps a whole tool loop in its order: thinking before what it led to, results as they came', () => {
    const { sent, warnings } = encode({
      messages: [
        { role: 'system', parts: [text('Be brief.')] },
        { role: 'developer', parts: [text('Use metric units.')] },
        user(text('Weather?'), { type: 'image', url: 'https://example.com/a.png' }),
        assistant(
          { type: 'reasoning', text: 'Two cities.', summary: true, proof },
          text('Looking.'),
          { type: 'tool-call', id: 'call_1', name: 'weather', arguments: '{"city":"Oslo"}' },
          { type: 'tool-call', id: 'call_2', name: 'weather', arguments: '{"city": "Rome"}' },
        ),
        user(
          { type: 'tool-result', callId: 'call_1', text: '3 °C' },
          {
            type: 'tool-result',
            callId: 'call_2',
            text: '',
            pieces: [{ type: 'image', url: 'data:image/png;base64,AA==', detail: 'high' }],
          },
          text('And now?'),
        ),
        { role: 'system', parts: [text('Hurry.')] },
      ],
    })
    expect(warnings).toEqual([])
    expect(sent['instructions']).toBe('Be brief.')
    expect(sent['input']).toEqual([
      { type: 'message', role: 'developer', content: [{ type: 'input_text', text: 'Use metric units.' }] },
      {
        type: 'message',
        role: 'user',
        content: [
          { type: 'input_text', text: 'Weather?' },
          { type: 'input_image', image_url: 'https://example.com/a.png', detail: 'auto' },
        ],
      },
      { type: 'reasoning', id: 'rs_1', summary: [{ type: 'summary_text', text: 'Two cities.' }], encrypted_content: 'gAAA+/=' },
      { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Looking.' }], phase: 'commentary' },
      { type: 'function_call', call_id: 'call_1', name: 'weather', arguments: '{"city":"Oslo"}' },
      { type: 'function_call', call_id: 'call_2', name: 'weather', arguments: '{"city": "Rome"}' },
      { type: 'function_call_output', call_id: 'call_1', output: '3 °C' },
      {
        type: 'function_call_output',
        call_id: 'call_2',
        output: [{ type: 'input_image', image_url: 'data:image/png;base64,AA==', detail: 'high' }],
      },
      { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'And now?' }] },
      { type: 'message', role: 'system', content: [{ type: 'input_text', text: 'Hurry.' }] },
    ])
  })

  test.each<[string, readonly Message[]]>([
    ['stands alone', [{ role: 'system', parts: [text('a')] }]],
    ['has a name', [{ role: 'system', parts: [text('a')], name: 'ops' }, user(text('b'))]],
    ['has several parts', [{ role: 'system', parts: [text('a'), text('b')] }, user(text('c'))]],
    ['is a developer’s', [{ role: 'developer', parts: [text('a')] }, user(text('b'))]],
    ['comes later', [user(text('b')), { role: 'system', parts: [text('a')] }]],
  ])('keeps a system message as an item where it %s', (_, messages) => {
    const { sent } = encode({ messages })
    expect(sent['instructions']).toBeUndefined()
    expect((sent['input'] as readonly unknown[]).length).toBe(messages.length)
  })

  test.each<[string, Part, JsonObject]>([
    ['a refusal', { type: 'refusal', text: 'No.' }, { type: 'refusal', refusal: 'No.' }],
    [
      'text with its sources',
      { type: 'text', text: 'x', annotations: [{ url: 'https://a.example', title: null, content: null, start: 0, end: 1 }] },
      {
        type: 'output_text',
        text: 'x',
        annotations: [{ type: 'url_citation', url: 'https://a.example', title: '', start_index: 0, end_index: 1 }],
      },
    ],
  ])('says %s as the assistant', (_, part, content) => {
    expect(encode({ messages: [assistant(part)] }).sent['input']).toEqual([
      { type: 'message', role: 'assistant', content: [content], phase: 'final_answer' },
    ])
  })

  test.each<[string, Part & { type: 'file' }, JsonObject]>([
    [
      'data under its name',
      { type: 'file', url: 'data:text/plain;base64,AA==', filename: 'a.txt' },
      { type: 'input_file', filename: 'a.txt', file_data: 'data:text/plain;base64,AA==' },
    ],
    [
      'data without a name under one of its kind',
      { type: 'file', url: 'data:application/pdf;base64,AA==', filename: null },
      { type: 'input_file', filename: 'file.pdf', file_data: 'data:application/pdf;base64,AA==' },
    ],
    [
      'an address without a name beside it',
      { type: 'file', url: 'https://a.example/a.pdf', filename: 'a.pdf' },
      { type: 'input_file', file_url: 'https://a.example/a.pdf' },
    ],
  ])('sends a file: %s', (_, part, content) => {
    expect(encode({ messages: [user(part)] }).sent['input']).toEqual([{ type: 'message', role: 'user', content: [content] }])
  })

  test('leaves out the empty text of a turn that calls, and no other', () => {
    const call: Part = { type: 'tool-call', id: 'x', name: 'f', arguments: '{}' }
    const typesOf = (...parts: readonly Part[]): readonly unknown[] => {
      const { sent } = encode({ messages: [user(text('1')), assistant(...parts), user({ type: 'tool-result', callId: 'x', text: '' })] })
      return (sent['input'] as readonly JsonObject[]).slice(1, -1).map(({ type }) => type)
    }
    expect(typesOf({ type: 'reasoning', text: '', proof }, text(''), call)).toEqual(['reasoning', 'function_call'])
    expect(typesOf({ type: 'reasoning', text: '', proof }, text('a'), call)).toEqual(['reasoning', 'message', 'function_call'])
    expect(typesOf({ type: 'reasoning', text: '', proof }, text(''))).toEqual(['reasoning', 'message'])
  })

  test('shortens the id of a call that is too long, alike in the call and its result', () => {
    const id = `toolu_${'x'.repeat(80)}`
    const [call, result] = encode({
      messages: [assistant({ type: 'tool-call', id, name: 'f', arguments: '{}' }), user({ type: 'tool-result', callId: id, text: '' })],
    }).sent['input'] as readonly JsonObject[]
    expect(call?.['call_id']).toMatch(/^call_[0-9a-f]{59}$/)
    expect(result).toEqual({ type: 'function_call_output', call_id: call?.['call_id'] ?? null, output: '' })
  })

  test.each<[string, Part, string]>([
    ['audio', { type: 'audio', data: 'AA==', format: 'wav' }, 'messages[0]'],
    ['video', { type: 'video', url: 'https://a.example/v.mp4' }, 'messages[0]'],
    ['an unknown part', { type: 'unknown', kind: 'hologram', at: 'messages[0].content[1]', content: true }, 'messages[0].content[1]'],
  ])('400: %s, which it cannot carry, is named', (_, part, field) => {
    expect(() => encode({ messages: [user(text('a'), part)] })).toThrow(`${field}: `)
  })

  test('reports names and failed tools; a picture that the assistant made is shown by the user', () => {
    const { sent, lost } = encode({
      messages: [
        { ...user(text('a')), name: 'Ann' },
        assistant({ type: 'image', url: 'data:image/png;base64,AA==' }, { type: 'tool-call', id: 'c', name: 'f', arguments: '{}' }),
        { ...user({ type: 'tool-result', callId: 'c', text: 'boom', isError: true }), at: 'messages[2]' },
      ],
    })
    expect(lost).toEqual(['messages[0].name', 'messages[2]'])
    expect(JSON.stringify(sent['input'])).toContain('data:image/png;base64,AA==')
  })

  test('marks the cache where the model knows marks, else reports them once', () => {
    const messages = [user({ ...text('a'), cache: {} } as Part, { ...text('b'), cache: { ttl: '1h' } } as Part)]
    expect(encode({ messages }).lost).toEqual(['messages[0]'])
    const { sent, lost } = encode({ messages }, { model: 'gpt-5.6-sol' })
    expect(lost).toEqual([])
    expect(JSON.stringify(sent['input'])).toContain('{"type":"input_text","text":"a","prompt_cache_breakpoint":{"mode":"explicit"}}')
  })
})

describe('thinking', () => {
  const turn = (thought: Partial<ReasoningProof> | null): readonly Message[] => [
    assistant({ type: 'reasoning', text: 'Hm.', ...(thought === null ? {} : { proof: { ...proof, ...thought } }) }, text('Yes.')),
    user(text('Sure?')),
  ]

  test.each<[string, Partial<ReasoningProof> | null, string]>([
    ['of another provider', { format: 'anthropic-claude-v1', kind: 'signature' }, 'gpt-5.4'],
    ['of another model', { model: 'openai/gpt-5' }, 'gpt-5.4'],
    ['without a proof', null, 'gpt-5.4'],
    ['for a model that does not think', {}, 'gpt-4.1'],
  ])('%s is left out, with a warning, and its text goes nowhere', (_, thought, model) => {
    const { text, lost } = encode({ messages: turn(thought) }, { model })
    expect(lost).toEqual(['messages[1]'])
    expect(text).not.toContain('Hm.')
    expect(text).not.toContain('gAAA')
  })

  test.each<[string, Partial<ReasoningProof>, unknown]>([
    ['of the same model goes back byte by byte', { model: 'openai/gpt-5.4' }, 'rs_1'],
    ['goes back without an id that the provider would refuse', { id: `rs_${'x'.repeat(400)}` }, undefined],
  ])('%s', (_, thought, id) => {
    const { sent, lost } = encode({ messages: turn(thought) })
    const [item] = sent['input'] as readonly JsonObject[]
    expect(lost).toEqual([])
    expect({ id: item?.['id'], data: item?.['encrypted_content'] }).toEqual({ id: id as never, data: 'gAAA+/=' })
  })

  test('that led to nothing in its turn is left out, with a warning', () => {
    const { sent, lost } = encode({ messages: [assistant({ type: 'reasoning', text: '', proof }), user(text('Go on.'))] })
    expect(lost).toEqual(['messages[1]'])
    expect(sent['input']).toEqual([{ type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Go on.' }] }])
  })
})
