import { expect, test } from 'bun:test'

import * as fc from 'fast-check'

import { atOnce } from '../../lib/steps.ts'
import { isStoredAddress, lookForStoredAddress, mayHoldStoredAddress } from './stored-addresses.ts'

const GAPS = [
  '',
  ' ',
  '\t',
  '\n',
  '\r\n',
  '\f',
  '\v',
  '\0',
  '\u001f',
  ' '.repeat(200),
  '\n'.repeat(200),
  ' '.repeat(3000),
  '\n'.repeat(3000),
  '\u001f'.repeat(300),
]
const SCHEMES = [
  'gs',
  's3',
  'ms',
  'file',
  'http',
  'https',
  'HTTPS',
  'xhttp',
  'a',
  'g\ts',
  `g${'\n'.repeat(300)}s`,
  `gs${'\r'.repeat(100)}`,
  'data',
  'da\nta',
]

const addresses = fc
  .tuple(
    fc.constantFrom(...GAPS),
    fc.constantFrom(...SCHEMES),
    fc.constantFrom('://', ':\n//', ':/\t/', '://generativelanguage.googleapis.com/'),
  )
  .map(([gap, scheme, slashes]) => `${gap}${scheme}${slashes}bucket/object`)

test('text that holds a stored address is found, however JSON writes it', () => {
  fc.assert(
    fc.property(addresses, fc.boolean(), (address, escapes) => {
      const json = JSON.stringify({ before: 'see https://example.com', image_url: { url: address } })
      const text = escapes ? json.replaceAll('/', String.raw`\/`).replaceAll(String.raw`\n`, String.raw`\u000A`) : json
      if (isStoredAddress(address)) expect(mayHoldStoredAddress(text)).toBe(true)
    }),
  )
})

test('an address is recognised behind any length of white space, and with line ends anywhere', () => {
  for (const gap of GAPS) {
    for (const scheme of ['gs', 'a', 'xhttp', 'g\ns', `g${'\n'.repeat(300)}s`])
      expect(isStoredAddress(`${gap}${scheme}://bucket/object`)).toBe(true)
    for (const scheme of ['data', 'da\nta', 'https']) expect(isStoredAddress(`${gap}${scheme}://a.example/b`)).toBe(false)
  }
})

test('white space before an address hides it at no length, whichever part of an escape the search begins in', () => {
  for (const space of ['\n', '\r', '\t', '\f', '\u001f', ' '])
    for (const scheme of ['a', 'gs', 'xyz'])
      expect(mayHoldStoredAddress(JSON.stringify({ url: `${space.repeat(3000)}${scheme}://bucket/object` }))).toBe(true)
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

test('an address is found wherever it stands in a text of megabytes', () => {
  const filler = 'x'.repeat(512 * 1024 - 20)
  for (const address of [String.raw`"\n gs:\/\/bucket`, '"ms://1', '"https://generativelanguage.GoogleAPIs.com/v1'])
    for (let more = 0; more < 60; more += 1) expect(atOnce(lookForStoredAddress(`["${filler}${'y'.repeat(more)}",${address}"]`))).toBe(true)
  expect(atOnce(lookForStoredAddress(`["${filler}","https://example.com","see gs://bucket"]`))).toBe(false)
})

test.each(['g', 'goog', ' ', String.raw`\n`])('eight million characters of %p are searched in many short steps', (text) => {
  const steps = lookForStoredAddress(`["(${text.repeat(8_000_000 / text.length)}"]`)
  let count = 1
  while (steps.next().done !== true) count += 1
  expect(count).toBeGreaterThan(14)
})
