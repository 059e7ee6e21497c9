import { describe, expect, test } from 'bun:test'

import type { Message, Part } from '../../canonical/prompt.ts'
import { assistant, encode, googleProof, system, user } from './encode.test-kit.ts'

const call = (id: string, more: object = {}): Part => ({ type: 'tool-call', id, name: `f_${id}`, arguments: '{"a":1}', ...more })
const result = (callId: string, text: string, more: object = {}): Part => ({ type: 'tool-result', callId, text, ...more })
const sent = (messages: readonly Message[], model?: string) => encode({ messages }, model === undefined ? {} : { model })
const partsOf = (messages: readonly Message[], model?: string) => sent(messages, model).body.contents.flatMap(({ parts }) => parts)

describe('turns', () => {
  test('leading system messages are the instruction, in order; turns alternate', () => {
    const { body, losses } = sent([
      system('A'),
      { ...system('B'), role: 'developer' },
      user('1'),
      user('2', '3'),
      assistant('4'),
      assistant('5'),
      user('6'),
    ])
    expect(body.systemInstruction).toEqual({ parts: [{ text: 'A' }, { text: 'B' }] })
    expect(body.contents).toEqual([
      { role: 'user', parts: [{ text: '1' }, { text: '2' }, { text: '3' }] },
      { role: 'model', parts: [{ text: '4' }, { text: '5' }] },
      { role: 'user', parts: [{ text: '6' }] },
    ])
    expect(losses).toEqual([])
  })

  test('the name of a speaker is reported as lost in every role', () => {
    const { losses } = sent([{ ...system('A'), name: 'a' }, { ...user('1'), name: 'b' }, { ...assistant('2'), name: 'c' }, user('3')])
    expect(losses).toHaveLength(3)
    for (const loss of losses) expect(loss).toContain('Google has no names of participants')
  })

  test('a later system message keeps its place, as the user’s, with a warning', () => {
    const { body, losses } = sent([user('1'), assistant('2'), system('S'), user('3')])
    expect(body.systemInstruction).toBeUndefined()
    expect(body.contents.at(-1)).toEqual({ role: 'user', parts: [{ text: 'S' }, { text: '3' }] })
    expect(losses).toEqual([expect.stringContaining('messages[0]: Google has no system message here')])
  })

  test('a model of another name has one, as the newest Gemini does', () => {
    expect(sent([system('S'), user('1')], 'tuned-models/support').body.systemInstruction).toEqual({ parts: [{ text: 'S' }] })
  })

  test('Gemma has no system instruction', () => {
    const { body, losses } = sent([system('S'), user('1')], 'gemma-3-27b-it')
    expect([body.systemInstruction, body.contents, losses.length]).toEqual([
      undefined,
      [{ role: 'user', parts: [{ text: 'S' }, { text: '1' }] }],
      1,
    ])
  })

  test('system messages alone become the turn of the user, with a warning', () => {
    const { body, losses } = sent([system('A'), { ...system('B'), role: 'developer' }])
    expect([body.systemInstruction, body.contents]).toEqual([undefined, [{ role: 'user', parts: [{ text: 'A' }, { text: 'B' }] }]])
    expect(losses).toEqual(['messages[0]: A conversation with only system messages was sent as the turn of a user.'])
  })

  test.each<[string, readonly Message[]]>([
    ['alone', []],
    ['behind a system message', [system('S')]],
    ['behind a message that says nothing', [user('')]],
    ['behind its own words', [assistant('Well')]],
  ])('a call that begins the conversation, %s, follows a sentence of the user', (_, before) => {
    const { body, losses } = sent([...before, assistant(call('x')), user(result('x', '1'))])
    expect(body.contents.map(({ role }) => role)).toEqual(['user', 'model', 'user'])
    expect(body.contents[0]?.parts).toEqual([{ text: 'The conversation begins with your answer.' }])
    expect(losses).toEqual(['messages[0]: gemini-3.5-flash wants the first word to be the user’s; a sentence was put before the answer.'])
  })

  test.each([
    ['gemini-3.5-flash-lite', false],
    ['gemini-3.6-flash', false],
    ['models/gemini-4-pro', false],
    ['gemini-flash-latest', false],
    ['gemini-3.5-flash', true],
    ['gemini-3-pro-preview', true],
    ['gemini-2.5-flash-lite', true],
    ['gemma-3-27b-it', true],
  ])('the beginning of an answer: %s goes on with it: %p, or is asked to in the words of the user', (model, goesOn) => {
    const { body, losses } = sent([user('Count'), assistant('1 2')], model)
    const asked = { role: 'user', parts: [{ text: 'Go on with your answer from where it ends, and repeat nothing of it.' }] }
    expect(body.contents).toEqual([
      { role: 'user', parts: [{ text: 'Count' }] },
      { role: 'model', parts: [{ text: '1 2' }] },
      ...(goesOn ? [] : [asked]),
    ])
    expect(losses).toEqual(goesOn ? [] : [expect.stringContaining('does not go on with the beginning of an answer')])
  })

  test('words of the model may begin the conversation', () => {
    const { body, losses } = sent([assistant('Hello'), user('Hi'), assistant(call('x')), user(result('x', '1'))])
    expect(body.contents.map(({ role }) => role)).toEqual(['model', 'user', 'model', 'user'])
    expect(losses).toEqual([])
  })

  test.each<[string, readonly Message[]]>([
    ['only empty text', [user('')]],
    ['only empty system messages', [system('')]],
    ['an empty question behind a system message', [system('S'), user('')]],
  ])('400: %s', (_, messages) => {
    expect(() => sent(messages)).toThrow(/no message for the model to answer|nothing that the model could answer/)
  })

  test('what has no word is left out and told, part by part', () => {
    const { body, losses } = sent([
      {
        ...user(
          '1',
          { type: 'unknown', kind: 'shell_call', at: 'input[4]' },
          { type: 'image', url: 'https://x.example/a.png', detail: 'fine' },
        ),
        name: 'Ann',
      },
    ])
    expect(body.contents[0]?.parts).toHaveLength(2)
    expect(losses.map((loss) => loss.slice(0, loss.indexOf(':')))).toEqual(['messages[0].name', 'input[4]', 'messages[0]'])
  })

  test.each<[string, Part, string]>([
    [
      'a file by its id',
      { type: 'unknown', kind: 'file', at: 'messages[0].content[1].file', content: true },
      'messages[0].content[1].file: ',
    ],
    ['a picture at an address that Google does not fetch', { type: 'image', url: 'http://x.example/a.png' }, 'messages[0]: '],
  ])('400: %s is named', (_, part, reported) => {
    expect(() => sent([user('1', part)])).toThrow(reported)
  })
})

describe('media', () => {
  test.each<[string, Part, unknown]>([
    ['an image', { type: 'image', url: 'data:image/png;base64,QQ==' }, { inlineData: { mimeType: 'image/png', data: 'QQ==' } }],
    [
      'a type with parameters',
      { type: 'file', url: 'data:text/plain;charset=utf-8;base64,QQ==', filename: null },
      { inlineData: { mimeType: 'text/plain', data: 'QQ==' } },
    ],
    [
      'data that is not base64',
      { type: 'file', url: 'data:,A%20B', filename: null },
      { inlineData: { mimeType: 'text/plain', data: 'QSBC' } },
    ],
    ['sound', { type: 'audio', data: 'QQ==', format: 'wav' }, { inlineData: { mimeType: 'audio/wav', data: 'QQ==' } }],
    ['video', { type: 'video', url: 'data:video/mp4;base64,QQ==' }, { inlineData: { mimeType: 'video/mp4', data: 'QQ==' } }],
    [
      'an address',
      { type: 'file', url: 'https://x.example/a.PDF?sig=1', filename: 'a.pdf' },
      { fileData: { mimeType: 'application/pdf', fileUri: 'https://x.example/a.PDF?sig=1' } },
    ],
    ['an address that tells no type', { type: 'image', url: 'https://x.example/1' }, { fileData: { fileUri: 'https://x.example/1' } }],
  ])('%s', (_, part, expected) => {
    expect(partsOf([user(part)])).toEqual([expected])
  })

  test.each([
    ['low', 'MEDIA_RESOLUTION_LOW'],
    ['high', 'MEDIA_RESOLUTION_HIGH'],
    ['original', 'MEDIA_RESOLUTION_ULTRA_HIGH'],
    ['auto', undefined],
  ])('the detail %s of a picture is its resolution, which models before Gemini 3 do not have', (detail, level) => {
    const picture: Part = { type: 'image', url: 'data:image/png;base64,QQ==', detail }
    const inline = { inlineData: { mimeType: 'image/png', data: 'QQ==' } }
    const { body, losses } = sent([user(picture)])
    expect(body.contents[0]?.parts).toEqual([level === undefined ? inline : { ...inline, mediaResolution: { level } }])
    expect(losses).toEqual([])
    const older = sent([user(picture)], 'gemini-2.5-flash')
    expect([older.body.contents[0]?.parts, older.losses.length]).toEqual([[inline], level === undefined ? 0 : 1])
  })

  test('a model that cannot read the web still reads the videos that Google shows to everybody', () => {
    const { body } = sent([user('1', { type: 'video', url: 'https://youtu.be/abc' })], 'gemini-2.0-flash')
    expect(body.contents[0]?.parts).toHaveLength(2)
    const other: Part = { type: 'video', url: 'https://x.example/youtube.com/watch?v=1' }
    expect(() => sent([user('1', other)], 'gemini-2.0-flash')).toThrow('messages[0]: Google takes data: URLs here')
  })

  test.each(['data:image/png', 'data:,%zz'])('400: %s', (url) => {
    expect(() => sent([user({ type: 'file', url, filename: null })])).toThrow(/messages\[0\]: .*data: URL/)
  })
})

describe('calls and results', () => {
  test('results name their functions, and those of one turn stand together, before what else it says', () => {
    const { contents } = sent([
      user('1'),
      assistant(call('x', { proof: googleProof('SIG') }), call('y')),
      user('so', result('y', 'Y')),
      user(result('x', '{"z":1.5}')),
    ]).body
    expect(contents.slice(1)).toEqual([
      {
        role: 'model',
        parts: [
          { functionCall: { id: 'x', name: 'f_x', args: { a: 1 } }, thoughtSignature: 'SIG' },
          { functionCall: { id: 'y', name: 'f_y', args: { a: 1 } } },
        ],
      },
      {
        role: 'user',
        parts: [
          { functionResponse: { id: 'y', name: 'f_y', response: { result: 'Y' } } },
          { functionResponse: { id: 'x', name: 'f_x', response: { z: 1.5 } } },
          { text: 'so' },
        ],
      },
    ])
  })

  test('ids that come again mean the newest call', () => {
    const again = { ...(call('x') as Extract<Part, { type: 'tool-call' }>), name: 'newer' }
    expect(
      partsOf([user('1'), assistant(call('x')), user(result('x', '1')), assistant(again), user(result('x', '2'))]).at(-1),
    ).toMatchObject({ functionResponse: { name: 'newer' } })
  })

  test.each(['', '[1]', '{"n":12345678901234567890}', '{"a":1,"a":2}', '{'.repeat(100_000), 'null'])(
    'a result that is no exact object stays text: %#',
    (text) => {
      expect(partsOf([user('1'), assistant(call('x')), user(result('x', text))]).at(-1)).toMatchObject({
        functionResponse: { response: { result: text } },
      })
    },
  )

  test('a failed tool says what went wrong', () => {
    expect(partsOf([user('1'), assistant(call('x')), user(result('x', 'bad', { isError: true }))]).at(-1)).toMatchObject({
      functionResponse: { response: { error: 'bad' } },
    })
  })

  test.each(['[1]', '{"a":', '7', '['.repeat(100_000)])('arguments that are no object are an empty one, and told', (bad) => {
    const { body, losses } = sent([user('1'), assistant(call('x', { arguments: bad })), user(result('x', '1'))])
    expect(body.contents[1]?.parts).toMatchObject([{ functionCall: { args: {} } }])
    expect(losses).toEqual([expect.stringContaining('The arguments of the call of f_x are not a JSON object')])
  })

  test('no arguments are an empty object', () => {
    expect(partsOf([user('1'), assistant(call('x', { arguments: ' ' })), user(result('x', '1'))])[1]).toMatchObject({
      functionCall: { args: {} },
    })
  })

  test('media of a result ride in it, where the model has a place for them', () => {
    const media: Part[] = [
      { type: 'image', url: 'data:image/png;base64,QQ==', detail: 'high' },
      { type: 'image', url: 'https://x.example/a.png' },
    ]
    const history = [user('1'), assistant(call('x')), user(result('x', 'R', { pieces: [{ type: 'text', text: 'R' }, ...media] }))]
    const inline = { inlineData: { mimeType: 'image/png', data: 'QQ==' } }
    const linked = { fileData: { mimeType: 'image/png', fileUri: 'https://x.example/a.png' } }
    expect(partsOf(history).slice(2)).toEqual([
      { functionResponse: { id: 'x', name: 'f_x', response: { result: 'R' }, parts: [inline] } },
      { text: 'Returned by the tool f_x:' },
      linked,
    ])
    expect(partsOf(history, 'gemini-2.5-flash').slice(2)).toEqual([
      { functionResponse: { id: 'x', name: 'f_x', response: { result: 'R' } } },
      { text: 'Returned by the tool f_x:' },
      inline,
      linked,
    ])
  })

  test.each<[Part, string]>([
    [{ type: 'audio', data: 'QQ==', format: 'wav' }, 'audio/wav'],
    [{ type: 'video', url: 'data:video/mp4;base64,QQ==' }, 'video/mp4'],
  ])('media of other types follow it: %j', (media, mimeType) => {
    const history = [user('1'), assistant(call('x')), user(result('x', 'R', { pieces: [{ type: 'text', text: 'R' }, media] }))]
    expect(partsOf(history).slice(2)).toEqual([
      { functionResponse: { id: 'x', name: 'f_x', response: { result: 'R' } } },
      { text: 'Returned by the tool f_x:' },
      { inlineData: { mimeType, data: 'QQ==' } },
    ])
  })
})

describe('signatures', () => {
  const reasoning = (text: string, more: object = {}): Part => ({ type: 'reasoning', text, ...more })
  const model = (...parts: readonly (Part | string)[]) => {
    const { body, losses } = sent([user('1'), assistant(...parts)])
    return { parts: body.contents[1]?.parts ?? [], losses: losses.length }
  }

  test('go back on the part that had them, byte for byte', () => {
    expect(model(reasoning('T', { proof: googleProof('a+/=') }), 'x')).toEqual({
      parts: [{ text: 'T', thought: true, thoughtSignature: 'a+/=' }, { text: 'x' }],
      losses: 0,
    })
    expect(model('x', reasoning('', { proof: googleProof('S') }))).toEqual({ parts: [{ text: 'x', thoughtSignature: 'S' }], losses: 0 })
  })

  test('of a text, where the client’s dialect puts thinking first', () => {
    expect(model(reasoning('T'), reasoning('', { proof: googleProof('S') }), 'x')).toEqual({
      parts: [
        { text: 'T', thought: true },
        { text: 'x', thoughtSignature: 'S' },
      ],
      losses: 0,
    })
  })

  test('of a text, where thinking comes between the two', () => {
    expect(model('x', reasoning('T'), reasoning('', { proof: googleProof('S') }), call('y', { proof: googleProof('C') })).parts).toEqual([
      { text: 'x', thoughtSignature: 'S' },
      { text: 'T', thought: true },
      { functionCall: { id: 'y', name: 'f_y', args: { a: 1 } }, thoughtSignature: 'C' },
    ])
  })

  test('that vouch for nothing that is left stand alone', () => {
    expect(model(call('x', { proof: googleProof('C') }), reasoning('', { proof: googleProof('S') })).parts).toEqual([
      { functionCall: { id: 'x', name: 'f_x', args: { a: 1 } }, thoughtSignature: 'C' },
      { text: '', thoughtSignature: 'S' },
    ])
  })

  test.each<[string, Part]>([
    ['without a proof', reasoning('T')],
    ['with another vendor’s', reasoning('T', { proof: { format: 'anthropic-claude-v1', kind: 'signature', data: 'S' } })],
    ['with another model’s', reasoning('T', { proof: googleProof('S', 'google/gemini-2.5-pro') })],
    ['hidden, of another vendor', reasoning('', { proof: { format: 'openai-responses-v1', kind: 'encrypted', data: 'S' } })],
  ])('thinking %s is left out and told', (_, part) => {
    expect(model(part, 'x')).toEqual({ parts: [{ text: 'x' }], losses: 1 })
  })

  test('a proof of the very model is kept', () => {
    expect(model(reasoning('T', { proof: googleProof('S', 'google/gemini-3.5-flash') })).losses).toBe(0)
  })

  test('a step whose first call has none gets the documented stand-in, in old turns too', () => {
    const stand = 'skip_thought_signature_validator'
    const history = [
      user('1'),
      assistant('t', call('x'), call('y')),
      user(result('x', ''), result('y', '')),
      assistant(call('z', { proof: { format: 'anthropic-claude-v1', kind: 'signature', data: 'S' } })),
      user(result('z', '')),
    ]
    const { body, losses } = sent(history)
    const signatures = body.contents
      .flatMap(({ parts }) => parts as { thoughtSignature?: string }[])
      .map(({ thoughtSignature }) => thoughtSignature ?? null)
    expect(signatures).toEqual([null, null, stand, null, null, null, stand, null])
    expect(losses).toEqual([expect.stringContaining('another model’s')])
    expect(JSON.stringify(sent(history, 'gemini-2.5-pro').body)).not.toContain(stand)
  })
})
