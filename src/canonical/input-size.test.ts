import { expect, test } from 'bun:test'

import { inputSizeOf as sizeOfBody, type InputSize } from './input-size.ts'

const inputSizeOf = (text: string): InputSize => sizeOfBody({ searchable: text, byteLength: Buffer.byteLength(text) })

const PICTURE = 'iVBORw0KGgo'.repeat(100)

test.each<[string, unknown]>([
  ['chat', { type: 'image_url', image_url: { url: `data:image/png;base64,${PICTURE}` } }],
  ['responses', { type: 'input_image', image_url: `data:image/jpeg;base64,${PICTURE}` }],
  ['messages', { type: 'image', source: { type: 'base64', media_type: 'image/png', data: PICTURE } }],
])('a picture inside a %s body counts as one, and not by its bytes', (_, part) => {
  const text = JSON.stringify({ messages: [{ role: 'user', content: [part] }] })
  expect(inputSizeOf(text)).toEqual({ textBytes: text.length - PICTURE.length, images: 1, mediaBytes: 0 })
})

test.each<[string, unknown]>([
  ['chat', { type: 'image_url', image_url: { url: 'https://example.com/a.png' } }],
  ['responses', { type: 'input_image', image_url: 'https://example.com/a.png' }],
  ['messages', { type: 'image', source: { type: 'url', url: 'https://example.com/a.png' } }],
])('a picture that a %s body links to counts as one', (_, part) => {
  expect(inputSizeOf(JSON.stringify({ content: [part] })).images).toBe(1)
})

test('prose that looks like a picture counts as prose', () => {
  for (const content of [PICTURE, `data:image/png;base64,${PICTURE}`, `{"url":"data:image/png;base64,${PICTURE}"}`]) {
    const text = JSON.stringify({ messages: [{ role: 'user', content }], base64: 'image/' })
    expect(inputSizeOf(text)).toEqual({ textBytes: text.length, images: 0, mediaBytes: 0 })
  }
})

test('a file counts by its decoded bytes, and text by its bytes in UTF-8', () => {
  const data = 'JVBERi0x'.repeat(1000)
  const text = JSON.stringify({ file: { file_data: `data:application/pdf;base64,${data}` } })
  expect(inputSizeOf(text)).toEqual({ textBytes: text.length - data.length, images: 0, mediaBytes: 6000 })
  expect(inputSizeOf('"日本"').textBytes).toBe(8)
})
