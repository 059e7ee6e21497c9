import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'

import { patient } from '../../../test/support/patience.ts'
import { atOnce } from '../../lib/steps.ts'
import { redactBody } from './redact-body.ts'
import { withoutKeys } from './redact.ts'

const redacted = (body: unknown): unknown => JSON.parse(atOnce(redactBody(JSON.stringify(body))))
const bytes = (count: number): string => Buffer.alloc(count, 7).toString('base64')

test.each<[string, unknown, unknown]>([
  ['a picture in a data URL', { url: `data:image/png;base64,${bytes(10)}` }, { url: 'data:image/png;base64,[10 bytes]' }],
  ['a picture of Messages', { source: { type: 'base64', data: bytes(3) } }, { source: { type: 'base64', data: '[3 bytes]' } }],
  ['a picture of Bedrock', { image: { source: { bytes: bytes(4) } } }, { image: { source: { bytes: '[4 bytes]' } } }],
  ['a file', { file: { file_data: bytes(5), filename: 'a.pdf' } }, { file: { file_data: '[5 bytes]', filename: 'a.pdf' } }],
  ['a proof of thinking', { encrypted_content: bytes(600) }, { encrypted_content: '[600 bytes]' }],
  ['a key in what was said', { text: 'use sk-0123456789abcdef, please' }, { text: 'use [redacted], please' }],
  ['a signed token', { text: 'x-eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.abc_-9!' }, { text: 'x-[redacted]!' }],
  ['one without its signature', { text: '(eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0)' }, { text: '([redacted])' }],
  [
    'what begins like a token',
    { text: 'eyJhbGciOiJIUzI1NiJ9 eyJhbGciOiJIUzI1NiJ9.short' },
    { text: 'eyJhbGciOiJIUzI1NiJ9 eyJhbGciOiJIUzI1NiJ9.short' },
  ],
  ['a key behind such a beginning', { text: 'eyJhbGciOiJIUzI1NiJ9-sk-0123456789abcdef' }, { text: 'eyJhbGciOiJIUzI1NiJ9-[redacted]' }],
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
  expect(atOnce(redactBody('{"id": 12345678901234567890}'))).toBe('{"id":12345678901234567890}')
})

describe('a text of megabytes is shown as a short one', () => {
  const key = 'sk-0123456789abcdef'
  const bearer = 'Bearer abc.def/ghi'

  test('a key is taken out wherever it stands', () => {
    for (let before = 131_040; before <= 131_080; before += 1) {
      for (const [text, shown] of [
        [` ${key} `, ' [redacted] '],
        [` ${bearer} `, ' [redacted] '],
        [' db://root:hunter2@db/x ', ' db://[redacted]@db/x '],
        [' db://root:hun/ter2@db/x ', ' db://[redacted]@db/x '],
        [` Bearer   ${'x'.repeat(40)} "`, ' [redacted] "'],
      ] as const) {
        const [start, end] = ['a '.repeat(before / 2), ' y'.repeat(100_000)]
        expect(redacted({ text: start + text + end })).toEqual({ text: start + shown + end })
      }
    }
  })

  test('property: whatever its words are', () => {
    const word = fc.constantFrom(
      key,
      bearer,
      'Bearer',
      ' ',
      '"',
      'x'.repeat(70_000),
      ',',
      '\u{1F600}',
      'AKIA0123456789ABCDEF',
      '.',
      'db://a:b@c',
      'db://a:b/c@d',
    )
    fc.assert(
      fc.property(fc.array(word, { maxLength: 12 }), (words) => {
        // The prefix keeps the text from being base64 alone.
        const text = `! ${words.join(' ')}`
        expect(redacted({ text })).toEqual({ text: withoutKeys(text) })
      }),
      { examples: [[['x'.repeat(70_000), 'Bearer', 'Bearer', 'x'.repeat(70_000)]]] },
    )
  })

  test.each(['eyJ-', '://', '://a:b', 'a://b:c/', '@', ':', ',a@tcp', '%3A%2F%2Fa'])(
    'in linear time, also where all begins like a secret and nothing is one: %s',
    (word) => {
      const text = `! ${word.repeat(1_000_000 / word.length)}`
      const startedMs = performance.now()
      expect(redacted({ text })).toEqual({ text })
      expect(performance.now() - startedMs).toBeLessThan(patient(1000))
    },
  )

  test('pictures as their size', () => {
    for (const count of [400_000, 400_001, 400_002]) {
      expect(redacted({ data: bytes(count), url: `data:image/png;base64,${bytes(count)}` })).toEqual({
        data: `[${count} bytes]`,
        url: `data:image/png;base64,[${count} bytes]`,
      })
    }
    expect(redacted({ data: `${bytes(400_000)}!` })).toEqual({ data: `${bytes(400_000)}!` })
  })
})
