import { expect, test } from 'bun:test'

import { readDataUrl } from './data-url.ts'

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

test('an address of the web is none', () => {
  for (const url of ['https://a.example/data:x', 'dat:', '']) expect(readDataUrl(url)).toBeNull()
})
