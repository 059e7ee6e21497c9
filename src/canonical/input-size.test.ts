import { describe, expect, test } from 'bun:test'

import fc from 'fast-check'

import { JsonBody } from '../lib/json/json-body.ts'
import { atOnce } from '../lib/steps.ts'
import { inputSizeOf, type InputSize, measuringInput, mostTextTokens } from './input-size.ts'
import { mostHundredths, wholeTokens } from './token-bound.ts'

const sizeOf = (text: string): Pick<InputSize, 'textBytes' | 'images' | 'mediaBytes' | 'linked'> => {
  const { textBytes, images, mediaBytes, linked } = inputSizeOf(JsonBody.read(text))
  return { textBytes, images, mediaBytes, linked }
}
const said = (...content: unknown[]): object => ({ messages: [{ role: 'user', content }] })

const PICTURE = 'iVBORw0KGgo'.repeat(100)
const DATA_URL = `data:image/png;base64,${PICTURE}`
const NOTHING = { images: 0, mediaBytes: 0, linked: 0 }

test.each<[string, object]>([
  ['chat', said({ type: 'image_url', image_url: { url: DATA_URL } })],
  ['responses', { input: [{ role: 'user', content: [{ type: 'input_image', image_url: DATA_URL }] }] }],
  ['messages', said({ type: 'image', source: { type: 'base64', media_type: 'image/png', data: PICTURE } })],
  ['google', { contents: [{ role: 'user', parts: [{ inlineData: { mimeType: 'image/png', data: PICTURE } }] }] }],
  ['bedrock', said({ image: { format: 'png', source: { bytes: PICTURE } } })],
  [
    'messages, as the result of a tool',
    said({ type: 'tool_result', content: [{ type: 'image', source: { type: 'base64', data: PICTURE } }] }),
  ],
  [
    'responses, as the output of a call',
    { input: [{ type: 'function_call_output', output: [{ type: 'input_image', image_url: DATA_URL }] }] },
  ],
])('a picture inside a %s body counts as one, and not by its bytes', (_, body) => {
  const text = JSON.stringify(body)
  const { textBytes, images, linked } = sizeOf(text)
  expect({ images, linked }).toEqual({ images: 1, linked: 0 })
  expect(textBytes).toBe(text.length - PICTURE.length)
})

test.each<[string, object]>([
  ['chat', said({ type: 'image_url', image_url: { url: 'https://example.com/a.png' } })],
  ['chat, in another case', said({ type: 'Image_URL', Image_Url: { url: 'https://example.com/a.png' } })],
  ['responses', { input: [{ type: 'input_image', image_url: 'https://example.com/a.png' }] }],
  ['responses, by its id', { input: [{ role: 'user', content: [{ type: 'input_image', file_id: 'file-1' }] }] }],
  ['messages', said({ type: 'image', source: { type: 'url', url: 'https://example.com/a.png' } })],
])('a picture that a %s body names counts as one', (_, body) => {
  expect(sizeOf(JSON.stringify(body)).images).toBe(1)
})

test('pictures inside a document that is made of parts count as so many', () => {
  const picture = { type: 'image', source: { type: 'url', url: 'https://example.com/a.png' } }
  const content = [picture, { type: 'text', text: 'Hi' }, picture]
  expect(sizeOf(JSON.stringify(said({ type: 'document', source: { type: 'content', content } })))).toMatchObject({ images: 2, linked: 0 })
})

test('fifty pictures count as fifty, whichever letters of their parts are escaped', () => {
  const text = JSON.stringify(said(...Array.from({ length: 50 }, () => ({ type: 'image_url', image_url: { url: 'https://e.com/a.png' } }))))
  for (const hidden of [
    text,
    text.replaceAll('"http', '"\\u0068ttp'),
    text.replaceAll('image_url', '\\u0069mage\\u005furl'),
    text.replaceAll('"url"', '"\\u0075rl"').replaceAll('"content"', '"\\u0063ontent"'),
  ])
    expect(sizeOf(hidden).images).toBe(50)
})

describe('text counts by its bytes, whatever it looks like', () => {
  const source = { type: 'base64', media_type: 'image/png', data: PICTURE }
  test.each<[string, object]>([
    ['a message', { messages: [{ role: 'user', content: DATA_URL }] }],
    ['a part of text', said({ type: 'text', text: DATA_URL })],
    [
      'the schema of a tool',
      { tools: [{ type: 'function', function: { name: 'f', parameters: { data: DATA_URL, image_url: { url: DATA_URL } } } }] },
    ],
    ['the arguments of a call', said({ type: 'tool_use', id: 'a', name: 'f', input: { type: 'image', source, data: DATA_URL } })],
    ['instructions', { system: [{ type: 'text', text: DATA_URL }], input: 'data:image/png;base64' }],
  ])('%s', (_, body) => {
    const text = JSON.stringify(body)
    expect(sizeOf(text)).toEqual({ textBytes: text.length, ...NOTHING })
  })

  test('a picture in a part that says it is text', () => {
    const text = JSON.stringify(said({ type: 'text', text: 'Hi', image_url: { url: DATA_URL } }))
    expect(sizeOf(text)).toEqual({ textBytes: text.length, ...NOTHING, images: 1 })
  })

  test.each<[string, object]>([
    ['the title of a document', { type: 'document', title: DATA_URL, source: { type: 'url', url: 'https://e.com/a.pdf' } }],
    ['the context of a document', { type: 'document', context: DATA_URL, source: { type: 'url', url: 'https://e.com/a.pdf' } }],
    ['the name of a file', { type: 'file', file: { filename: DATA_URL, file_id: 'file-1' } }],
    ['the detail of a picture', { type: 'image_url', image_url: { url: 'https://e.com/a.png', detail: DATA_URL } }],
  ])('%s, beside its address', (_, part) => {
    const text = JSON.stringify(said(part))
    expect(sizeOf(text).textBytes).toBe(text.length)
  })

  test('a document of text', () => {
    const text = JSON.stringify(said({ type: 'document', source: { type: 'text', media_type: 'text/plain', data: PICTURE } }))
    expect(sizeOf(text)).toEqual({ textBytes: text.length, ...NOTHING })
  })
})

describe('media beside the conversation count as media and as text', () => {
  const LINK = 'https://example.com/a.png'
  test.each<[string, object, { images?: number; linked?: number }]>([
    ['addresses of pictures', { images: [LINK, LINK, 'file-1'] }, { images: 3 }],
    ['in other words', { 'Input-Images': [{ url: LINK }] }, { images: 1 }],
    ['inline', { image_url: { url: DATA_URL } }, { images: 1 }],
    ['of several kinds', { multi_modal_data: { image: [LINK, LINK], video: LINK, audio_url: 'abc' } }, { images: 2, linked: 2 }],
    ['within the members of others', { extra_body: { options: { images: [PICTURE] } } }, { images: 1 }],
    ['an address under any name', { attachments: [{ from: LINK }], frobnicate: LINK }, { linked: 2 }],
    ['files by their id', { file_ids: ['file-1', 'file-2'] }, { linked: 2 }],
    ['as a part of the system prompt', { system: [{ type: 'image', source: { type: 'url', url: LINK } }] }, { images: 1 }],
    ['settings of media', { image_config: { aspect_ratio: '16:9' }, audio: { voice: 'alloy' }, modalities: ['image'] }, {}],
    [
      'addresses in text and in tools',
      { user: LINK, metadata: { page: LINK }, mcp_servers: [{ url: LINK }], note: `see ${LINK} there` },
      {},
    ],
  ])('%s', (_, body, found) => {
    const text = JSON.stringify({ ...body, messages: [] })
    const hidden = text.replaceAll('image', '\\u0069mage').replaceAll('"http', '"\\u0068ttp')
    expect(sizeOf(text)).toEqual({ textBytes: text.length, ...NOTHING, ...found })
    expect(sizeOf(hidden)).toMatchObject(found)
  })
})

test('a file counts by its decoded bytes, one that is only named as one, and text by its bytes in UTF-8', () => {
  const data = 'JVBERi0x'.repeat(1000)
  const text = JSON.stringify(said({ type: 'file', file: { file_data: `data:application/pdf;base64,${data}` } }))
  expect(sizeOf(text)).toEqual({ textBytes: text.length - data.length, images: 0, mediaBytes: 6000, linked: 0 })
  expect(sizeOf(JSON.stringify(said({ type: 'file', file: { file_id: 'file-1' } }))).linked).toBe(1)
  expect(sizeOf('{"a":"日本"}').textBytes).toBe('{"a":""}'.length + 6)
})

test.each<[string, object]>([
  ['a file', said({ type: 'file', file: { file_data: 'https://example.com/a.pdf' } })],
  ['a file of Responses', { input: [{ role: 'user', content: [{ type: 'input_file', file_data: ' HTTPS://example.com/a.pdf' }] }] }],
  ['a sound', said({ type: 'input_audio', input_audio: { data: 'https://example.com/a.wav', format: 'wav' } })],
  ['a document of Messages', said({ type: 'document', source: { type: 'base64', media_type: 'application/pdf', data: 'gs://a/b.pdf' } })],
  ['a file whose data is not in base64', said({ type: 'file', file: { file_data: 'data:application/pdf,%25PDF-1.4' } })],
])('%s with an address in the place of its data counts as one that is only named', (_, body) => {
  const text = JSON.stringify(body)
  expect(sizeOf(text)).toEqual({ textBytes: text.length, ...NOTHING, linked: 1 })
})

test('a file in bare base64 counts as the PDF that a provider takes it for, unless its name says otherwise', () => {
  const pages = (file: object): number => inputSizeOf(JsonBody.read(JSON.stringify(said({ type: 'file', file })))).pages
  const file_data = 'CiVQREYtMS40'
  expect([pages({ file_data }), pages({ file_data, filename: 'a.pdf' }), pages({ file_data, filename: 'a.txt' })]).toEqual([1000, 1000, 0])
})

describe('tokens of text, at most', () => {
  const tokens = (text: string): number => {
    const body = JsonBody.ofBytes(Buffer.from(text))
    return atOnce(mostTextTokens(body))
  }

  test.each([100, 40_000, 3_000_000])('pictures of %d characters are none, with their slashes escaped or not', (length) => {
    const data = 'iVBO/w0K'.repeat(length / 8)
    const text = JSON.stringify(said({ type: 'image_url', image_url: { url: `data:image/png;base64,${data}` } }))
    if (length >= 1000) for (const written of [text, text.replaceAll('/', '\\/')]) expect(tokens(written)).toBeLessThan(200)
    expect(tokens(text)).toBeLessThanOrEqual(300)
  })

  test('the same base64 is text where it stands as text', () => {
    const data = 'iVBO/w0K'.repeat(5000)
    const picture = { type: 'image_url', image_url: { url: `data:image/png;base64,${data}` } }
    expect(tokens(JSON.stringify(said(picture, { type: 'text', text: `data:image/png;base64,${data}` })))).toBeGreaterThan(data.length / 2)
  })

  test('more than a mebibyte is a token a byte; characters beyond ASCII count by their bytes, however the body is held', () => {
    const long = JSON.stringify(said({ type: 'text', text: 'the '.repeat(300_000) }))
    expect(tokens(long)).toBe(long.length)
    const japanese = '本'.repeat(2000)
    expect(tokens(JSON.stringify(said({ type: 'text', text: japanese })))).toBeGreaterThanOrEqual(6000)
    expect(tokens(JSON.stringify(said({ type: 'text', text: japanese.repeat(10) })))).toBeGreaterThanOrEqual(60_000)
  })
})

test('a body weighs the same beside one that was measured before, whichever members they share', () => {
  const text = fc.oneof(fc.string({ unit: 'binary' }), fc.constantFrom('the word '.repeat(200), '日本'.repeat(300), DATA_URL))
  const value = fc.oneof(
    text,
    fc.integer(),
    fc.boolean(),
    text.map((url) => [{ role: 'user', content: [{ type: 'image_url', image_url: { url } }] }]),
  )
  const members = fc.dictionary(fc.constantFrom('model', 'messages', 'system', 'tools', 'größe', 'n'), value)
  fc.assert(
    fc.property(members, members, (came, changed) => {
      const before = JsonBody.read(JSON.stringify(came))
      const [outgoing, alone] = [0, 1].map(() => JsonBody.read(JSON.stringify({ ...came, ...changed })))
      atOnce(mostTextTokens(before))
      atOnce(measuringInput(outgoing!, before))
      expect(atOnce(mostTextTokens(outgoing!))).toBe(atOnce(mostTextTokens(alone!)))
      expect(inputSizeOf(outgoing!)).toEqual(inputSizeOf(alone!))
    }),
  )
})

test('members that are counted each on their own are what the whole text is, to a token for each that begins with a letter', () => {
  for (const body of [
    { model: 'a', stream: true, n: 1 },
    said({ type: 'text', text: 'the words of a text. '.repeat(50) }),
    { größe: 'ä', b: null },
  ]) {
    for (const written of [JSON.stringify(body), JSON.stringify(body, null, 2)]) {
      const whole = wholeTokens(atOnce(mostHundredths(written, 'text')))
      const counted = atOnce(mostTextTokens(JsonBody.read(written)))
      expect(counted).toBeGreaterThanOrEqual(whole)
      expect(counted).toBeLessThanOrEqual(whole + Object.keys(body).length)
    }
  }
})
