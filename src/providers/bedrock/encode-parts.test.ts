import { describe, expect, test } from 'bun:test'

import type { Part } from '../../canonical/prompt.ts'
import { CLAUDE, encode, LLAMA, MISTRAL, NOVA, settingsOf, talk, type Given } from './encode.test-kit.ts'

const PNG = 'data:image/png;base64,iVBORw0KGgo='
const PDF = 'data:application/pdf;base64,JVBERi0='
const f = { type: 'function', name: 'f', description: null, parameters: { type: 'object' } } as const

/** The encoded content of a user's turn with these parts. */
const contentOf = (parts: readonly Part[], given: Given = {}): { content: unknown; reported: readonly string[] } => {
  const { sent, reported } = encode({ messages: talk(['user', ...parts]), tools: [f] }, given)
  return { content: sent.messages[0]?.content, reported }
}

describe('media', () => {
  test.each<[string, Part, object]>([
    ['a picture', { type: 'image', url: PNG }, { image: { format: 'png', source: { bytes: 'iVBORw0KGgo=' } } }],
    [
      'a picture called jpg',
      { type: 'image', url: 'data:image/JPG;base64,AA==' },
      { image: { format: 'jpeg', source: { bytes: 'AA==' } } },
    ],
    [
      'a picture among files',
      { type: 'file', url: PNG, filename: 'a.png' },
      { image: { format: 'png', source: { bytes: 'iVBORw0KGgo=' } } },
    ],
    [
      'a file',
      { type: 'file', url: PDF, filename: 'Q3  report_v2.pdf' },
      { document: { format: 'pdf', name: 'Q3 report-v2', source: { bytes: 'JVBERi0=' } } },
    ],
    [
      'a file without a name',
      { type: 'file', url: PDF, filename: null },
      { document: { format: 'pdf', name: 'document', source: { bytes: 'JVBERi0=' } } },
    ],
    [
      'a file of text',
      { type: 'file', url: 'data:application/json,%7B%7D', filename: '…' },
      { document: { format: 'txt', name: 'document', source: { bytes: 'e30=' } } },
    ],
    ['a film', { type: 'video', url: 'data:video/mp4;base64,AAAA' }, { video: { format: 'mp4', source: { bytes: 'AAAA' } } }],
    ['a sound', { type: 'audio', data: 'AAAA', format: 'wav' }, { audio: { format: 'wav', source: { bytes: 'AAAA' } } }],
  ])('%s goes as its bytes', (_, part, block) => {
    expect(contentOf([{ type: 'text', text: 'See' }, part], { model: NOVA })).toEqual({ content: [{ text: 'See' }, block], reported: [] })
  })

  test.each<[string, Part]>([
    ['a picture by its address', { type: 'image', url: 'https://a.example/a.png' }],
    ['a picture of an unknown format', { type: 'image', url: 'data:image/tiff;base64,AA==' }],
    ['a film by its address', { type: 'video', url: 'https://a.example/a.mp4' }],
    ['a film of an unknown format', { type: 'video', url: 'data:video/x-new;base64,AA==' }],
    ['a file by its address', { type: 'file', url: 'https://a.example/a.pdf', filename: null }],
    ['a file of an unknown format', { type: 'file', url: 'data:application/zip;base64,AA==', filename: null }],
    ['a sound of an unknown format', { type: 'audio', data: 'AA==', format: 'midi' }],
    ['a file by its id', { type: 'unknown', kind: 'input_file', at: 'messages[0]', content: true }],
  ])('400: %s is named', (_, part) => {
    expect(() => contentOf([{ type: 'text', text: 'See' }, part], { model: NOVA })).toThrow('messages[0]: ')
  })

  test('says in words that an address is not enough', () => {
    expect(() => encode({ messages: talk(['user', 'See', { type: 'image', url: 'https://a.example/a.png' }]) })).toThrow(
      'messages[0]: Bedrock takes pictures as data only, not by an address',
    )
  })

  test('Claude neither hears nor watches, and no model chooses a detail', () => {
    expect(() =>
      contentOf([
        { type: 'text', text: 'a' },
        { type: 'audio', data: 'AA==', format: 'wav' },
      ]),
    ).toThrow('messages[0]: Bedrock takes no sound here')
    expect(contentOf([{ type: 'image', url: PNG, detail: 'high' }]).reported).toEqual(['unsupported_field messages[0]'])
  })

  test('no two documents have the same name, and one needs text beside it', () => {
    const file = { type: 'file', url: PDF, filename: 'a.pdf' } as const
    const { content, reported } = contentOf([file, file])
    expect(content).toMatchObject([{ text: 'Document:' }, { document: { name: 'a' } }, { document: { name: 'a (2)' } }])
    expect(reported).toEqual(['mapped_field messages[0]'])
  })
})

describe('calls of tools', () => {
  test('keep the arguments as they were written, and results come first', () => {
    const { text, sent, reported } = encode({
      tools: [f],
      messages: talk(
        ['user', 'Go'],
        [
          'assistant',
          'Well',
          { type: 'tool-call', id: 'c1', name: 'f', arguments: '{ "n": 1.0e2, "u": "\\u00e9" }' },
          { type: 'tool-call', id: 'c2', name: 'f', arguments: '' },
        ],
        [
          'user',
          'And?',
          { type: 'tool-result', callId: 'c1', text: 'one', isError: true },
          { type: 'tool-result', callId: 'c2', text: '', pieces: [{ type: 'image', url: PNG }] },
        ],
      ),
    })
    expect(text).toContain('{"toolUse":{"toolUseId":"c1","name":"f","input":{ "n": 1.0e2, "u": "\\u00e9" }}}')
    expect(sent.messages.slice(1)).toEqual([
      { role: 'assistant', content: [{ text: 'Well' }, expect.anything(), { toolUse: { toolUseId: 'c2', name: 'f', input: {} } }] },
      {
        role: 'user',
        content: [
          { toolResult: { toolUseId: 'c1', content: [{ text: 'one' }], status: 'error' } },
          { toolResult: { toolUseId: 'c2', content: [{ image: { format: 'png', source: { bytes: 'iVBORw0KGgo=' } } }] } },
          { text: 'And?' },
        ],
      },
    ])
    expect(reported).toEqual([])
  })

  test('whose arguments are no object, and failures for which the dialect has no word, are reported', () => {
    const messages = talk(
      ['user', 'Go'],
      ['assistant', { type: 'tool-call', id: 'c1', name: 'f', arguments: '{"a":' }],
      ['user', { type: 'tool-result', callId: 'c1', text: 'no', isError: true }],
    )
    expect(encode({ tools: [f], messages }, { model: LLAMA }).reported).toEqual([
      'mapped_field messages[1]',
      'unsupported_field messages[2]',
    ])
  })

  test.each<[string, Partial<Extract<Part, { type: 'tool-result' }>>, string, object, readonly string[]]>([
    ['an empty one says so', {}, CLAUDE, { content: [{ text: 'The tool returned nothing.' }] }, []],
    [
      'an empty failure says so',
      { text: ' ', isError: true },
      NOVA,
      { content: [{ text: 'The tool failed without a message.' }], status: 'error' },
      [],
    ],
    [
      'beside a picture Claude gets no mark of a failure',
      { isError: true, pieces: [{ type: 'image', url: PNG }] },
      CLAUDE,
      { content: [{ image: expect.anything() as unknown }] },
      ['unsupported_field messages[2]'],
    ],
    [
      'beside a picture Nova gets the mark of a failure',
      { isError: true, pieces: [{ type: 'image', url: PNG }] },
      NOVA,
      { content: [{ image: expect.anything() as unknown }], status: 'error' },
      [],
    ],
  ])('results: %s', (_, more, model, result, losses) => {
    const messages = talk(
      ['user', 'Go'],
      ['assistant', { type: 'tool-call', id: 'c1', name: 'f', arguments: '{}' }],
      ['user', { type: 'tool-result', callId: 'c1', text: '', ...more }],
    )
    const { sent, reported } = encode({ tools: [f], messages }, { model })
    expect(sent.messages[2]?.content).toEqual([{ toolResult: { toolUseId: 'c1', ...result } }])
    expect(reported).toEqual(losses)
  })

  test.each<[string, string, RegExp]>([
    ['functions.f:0', CLAUDE, /^functions_2ef_3a0$/],
    [`call_${'x'.repeat(80)}`, CLAUDE, /^[0-9a-f]{64}$/],
    ['call_abc', MISTRAL, /^[0-9a-f]{9}$/],
    ['abcDEF123', MISTRAL, /^abcDEF123$/],
  ])('the id %s is one that %s takes, in call and result alike', (id, model, form) => {
    const messages = talk(
      ['user', 'Go'],
      ['assistant', { type: 'tool-call', id, name: 'f', arguments: '{}' }],
      ['user', { type: 'tool-result', callId: id, text: 'ok' }],
    )
    const { sent } = encode({ tools: [f], messages }, { model })
    const [call, result] = [sent.messages[1]?.content[0], sent.messages[2]?.content[0]] as { [kind: string]: { toolUseId: string } }[]
    expect(call?.['toolUse']?.toolUseId).toMatch(form)
    expect(result?.['toolResult']?.toolUseId).toBe(call?.['toolUse']?.toolUseId as string)
  })
})

describe('thinking of earlier turns', () => {
  const own = { format: 'anthropic-claude-v1', kind: 'signature', data: 'c2ln+/=' } as const
  const after = (part: Part, given: Given = {}): { content: unknown; reported: readonly string[] } => {
    const { sent, reported } = encode({ messages: talk(['user', 'a'], ['assistant', part, 'b'], ['user', 'c']) }, given)
    return { content: sent.messages[1]?.content, reported }
  }

  test('goes back to the byte where the model signed it', () => {
    expect(after({ type: 'reasoning', text: ' Hm.\n', proof: own })).toEqual({
      content: [{ reasoningContent: { reasoningText: { text: ' Hm.\n', signature: 'c2ln+/=' } } }, { text: 'b' }],
      reported: [],
    })
    expect(after({ type: 'reasoning', text: '', proof: { ...own, kind: 'encrypted', data: 'b3Bh' } })).toEqual({
      content: [{ reasoningContent: { redactedContent: 'b3Bh' } }, { text: 'b' }],
      reported: [],
    })
    expect(after({ type: 'reasoning', text: 'x', proof: { ...own, model: 'bedrock/it' } }).reported).toEqual([])
  })

  test.each<[string, Part, Given]>([
    ['nobody signed', { type: 'reasoning', text: 'x' }, {}],
    ['another maker signed', { type: 'reasoning', text: 'x', proof: { ...own, format: 'openai-responses-v1', kind: 'encrypted' } }, {}],
    ['another model signed', { type: 'reasoning', text: 'x', proof: { ...own, model: 'anthropic/other' } }, {}],
    ['Claude signed, for a model that is none', { type: 'reasoning', text: 'x', proof: own }, { model: NOVA }],
  ])('is left out, and told, where %s', (_, part, given) => {
    expect(after(part, given)).toEqual({ content: [{ text: 'b' }], reported: ['unsupported_field messages[1]'] })
  })

  test('a proof beside a call is another maker’s', () => {
    const proof = { format: 'google-gemini-v1', kind: 'signature', data: 'x' } as const
    const messages = talk(
      ['user', 'a'],
      ['assistant', { type: 'tool-call', id: 'c', name: 'f', arguments: '{}', proof }],
      ['user', { type: 'tool-result', callId: 'c', text: 'r' }],
    )
    expect(encode({ tools: [f], messages }).reported).toEqual(['unsupported_field messages[1]'])
  })
})

describe('cache marks', () => {
  const marked = { type: 'text', text: 'a', cache: { ttl: '1h' } } as const
  const point = { cachePoint: { type: 'default' } }

  test.each<[string, string, unknown, string[]]>([
    ['become points behind their block', CLAUDE, [{ text: 'a' }, { cachePoint: { type: 'default', ttl: '1h' } }], []],
    ['last as long as the model keeps a cache', NOVA, [{ text: 'a' }, point], ['mapped_field messages[0]']],
    [
      'last as long as an older Claude keeps one',
      'anthropic.claude-3-7-sonnet-20250219-v1:0',
      [{ text: 'a' }, point],
      ['mapped_field messages[0]'],
    ],
    ['are told where there is no cache', LLAMA, [{ text: 'a' }], ['unsupported_field messages[0]']],
  ])('%s', (_, model, content, reported) => {
    expect(contentOf([marked], { model })).toEqual({ content, reported })
  })

  test('stand in the system prompt, and not in the tools of Nova', () => {
    const { sent, reported } = encode(
      { messages: talk(['system', { type: 'text', text: 's', cache: {} }], ['user', 'a']), tools: [{ ...f, cache: {} }] },
      { model: NOVA },
    )
    expect(sent.system).toEqual([{ text: 's' }, point])
    expect(sent.toolConfig?.tools).toHaveLength(1)
    expect(reported).toEqual(['unsupported_field tools[0]'])
  })

  test('do not follow the result of a tool for Nova, which refuses them there', () => {
    const messages = talk(
      ['user', 'Go'],
      ['assistant', { type: 'tool-call', id: 'c', name: 'f', arguments: '{}' }],
      ['user', { type: 'tool-result', callId: 'c', text: 'r', cache: {} }],
    )
    const { sent, reported } = encode({ tools: [f], messages }, { model: NOVA })
    expect([sent.messages[2]?.content.length, reported]).toEqual([1, ['unsupported_field messages[2]']])
    expect(encode({ tools: [f], messages }).sent.messages[2]?.content).toHaveLength(2)
    const whole = encode({ tools: [f], messages, settings: settingsOf({ cacheControl: { type: 'ephemeral' } }) }, { model: NOVA })
    expect(whole.sent.messages[2]?.content).toHaveLength(1)
  })

  test('for the whole request stand at its end, once', () => {
    const settings = settingsOf({ cacheControl: { type: 'ephemeral' } })
    expect(encode({ settings }).sent.messages[0]?.content).toEqual([{ text: 'Hi' }, point])
    const messages = talk(['user', { type: 'text', text: 'a', cache: {} }])
    expect(encode({ settings, messages }).sent.messages[0]?.content).toEqual([{ text: 'a' }, point])
  })
})

describe('the input of an earlier call', () => {
  const callWith = (json: string) => {
    const turn = talk(['user', 'Go'], ['assistant', { type: 'tool-call', id: 'c1', name: 'f', arguments: json }])
    const result = talk(['user', { type: 'tool-result', callId: 'c1', text: '{"":1}' }])
    const { text, reported } = encode({ messages: [...turn, ...result], tools: [f] })
    return { input: /"input":(.*?)\}\}\]\}/.exec(text)?.[1], reported }
  }

  test('goes without members that have no name, which Converse refuses, with a warning', () => {
    expect(callWith('{"":1,"a":[{"":{"b":2},"c":12345678901234567890}],"d":{"":0}}')).toEqual({
      input: '{"a":[{"c":12345678901234567890}],"d":{}}',
      reported: ['unsupported_field messages[1]'],
    })
  })

  test('is sent as it is written where all members have one', () => {
    const json = String.raw`{ "a\"": "\"\":", "b": "" }`
    expect(callWith(json)).toEqual({ input: json, reported: [] })
  })
})
