import { expect, test } from 'bun:test'

import { redactBody } from './redact-body.ts'

const redacted = (body: unknown): unknown => JSON.parse(redactBody(JSON.stringify(body)))
const bytes = (count: number): string => Buffer.alloc(count, 7).toString('base64')

test.each<[string, unknown, unknown]>([
  ['a picture in a data URL', { url: `data:image/png;base64,${bytes(10)}` }, { url: 'data:image/png;base64,[10 bytes]' }],
  ['a picture of Messages', { source: { type: 'base64', data: bytes(3) } }, { source: { type: 'base64', data: '[3 bytes]' } }],
  ['a picture of Bedrock', { image: { source: { bytes: bytes(4) } } }, { image: { source: { bytes: '[4 bytes]' } } }],
  ['a file', { file: { file_data: bytes(5), filename: 'a.pdf' } }, { file: { file_data: '[5 bytes]', filename: 'a.pdf' } }],
  ['a proof of thinking', { encrypted_content: bytes(600) }, { encrypted_content: '[600 bytes]' }],
  ['a key in what was said', { text: 'use sk-0123456789abcdef, please' }, { text: 'use [redacted], please' }],
  ['what was said, however long', { text: 'so it is '.repeat(500) }, { text: 'so it is '.repeat(500) }],
  [
    'settings',
    { temperature: 0.5, stream: true, stop: null, n: [1, 'two'] },
    { temperature: 0.5, stream: true, stop: null, n: [1, 'two'] },
  ],
])('%s', (_, body, shown) => {
  expect(redacted(body)).toEqual(shown)
})

test('whole numbers that a double cannot hold stay as they are', () => {
  expect(redactBody('{"id": 12345678901234567890}')).toBe('{"id":12345678901234567890}')
})
