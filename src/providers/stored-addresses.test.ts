import { expect, test } from 'bun:test'

import * as fc from 'fast-check'

import { isStoredAddress, mayHoldStoredAddress } from './stored-addresses.ts'

const GAPS = ['', ' ', '\t', '\n', '\r\n', '\f', '\v', '\0', '\u001f', ' '.repeat(200), '\n'.repeat(200)]
const SCHEMES = ['gs', 's3', 'ms', 'file', 'http', 'https', 'HTTPS', 'xhttp', 'a', 'g\ts', 'data']

const addresses = fc
  .tuple(fc.constantFrom(...GAPS), fc.constantFrom(...SCHEMES), fc.constantFrom('://', '://generativelanguage.googleapis.com/'))
  .map(([gap, scheme, slashes]) => `${gap}${scheme}${slashes}bucket/object`)

test('text that holds a stored address is found, however JSON writes it', () => {
  fc.assert(
    fc.property(addresses, fc.boolean(), (address, escapes) => {
      const json = JSON.stringify({ before: 'see https://example.com', image_url: { url: address } })
      const text = escapes ? json.replaceAll('/', String.raw`\/`) : json
      if (isStoredAddress(address)) expect(mayHoldStoredAddress(text)).toBe(true)
    }),
  )
})

test('public addresses, and names of schemes within a text, are not taken for one', () => {
  for (const text of [
    'https://a.example/b',
    'HTTP://a.example',
    ' https://a.example',
    'see gs://bucket',
    'data:image/png;base64,AA//',
    'a: b',
  ]) {
    expect(mayHoldStoredAddress(JSON.stringify({ url: text }))).toBe(false)
  }
})

test.each([
  ['white space', `"${' '.repeat(4_000_000)}a://`],
  ['line ends', `"${String.raw`\n`.repeat(2_000_000)}://`],
  ['slashes', `"x ${'://'.repeat(1_000_000)}`],
  ['addresses', `"x ${' https://a'.repeat(400_000)}`],
])('megabytes of %s are looked through in milliseconds', (_, text) => {
  const startedMicros = process.cpuUsage().user
  mayHoldStoredAddress(text)
  expect(process.cpuUsage().user - startedMicros).toBeLessThan(100_000)
})
