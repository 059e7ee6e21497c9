import { expect, test } from 'bun:test'

import { inBase64, partsOf, readDataUrl } from './data-url.ts'
import { atOnce } from '../steps.ts'

test.each([
  ['data:image/PNG;base64,aGk=', 'image/png', 'aGk=', 'hi'],
  ['DATA:text/plain;charset=utf-8;BASE64,aGk=', 'text/plain', 'aGk=', 'hi'],
  ['data:,h%20i', 'text/plain', 'aCBp', 'h i'],
  ['data:text/csv,a%2', 'text/csv', 'YSUy', 'a%2'],
  ['data:', 'text/plain', '', ''],
])('%s', (url, mediaType, base64, text) => {
  const read = readDataUrl(url)
  expect([read?.mediaType, read?.base64(), read?.text()]).toEqual([mediaType, base64, text])
})

test('a web address is not a data URL', () => {
  for (const url of ['https://a.example/data:x', 'dat:', '']) expect(readDataUrl(url)).toBeNull()
})

test.each([
  'data:,',
  'data:text/plain,a',
  'data:text/plain;charset=utf-8,ab%2C',
  `data:image/png;x=y,${'%E2%82%AC\u{1f600}é'.repeat(50_000)}`,
  'data:;base64,aGk=',
])('with base64 in place of escapes an address says the same: %.40s', (url) => {
  const changed = atOnce(inBase64(url)) ?? ''
  const [given, read] = [readDataUrl(url), readDataUrl(changed)]
  expect(partsOf(changed).isBase64).toBe(true)
  expect([read?.mediaType, read?.base64(), read?.text()]).toEqual([given?.mediaType, given?.base64(), given?.text()])
})

test('escapes that are not well formed are nothing, or text as it stands', () => {
  expect(atOnce(inBase64('data:,a%2'))).toBeNull()
  expect(atOnce(inBase64('data:,a%2', (text) => text))).toBe('data:;base64,YSUy')
})

test('an address whose head has no end has no data, and is not looked through', () => {
  expect(partsOf(`data:image/png${';'.repeat(1_000_000)},a`)).toEqual({ type: 'image/png', isBase64: false, data: null })
})
