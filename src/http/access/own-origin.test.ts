import { expect, test } from 'bun:test'

import { createOwnOrigin } from './own-origin.ts'

test.each([
  ['https://llm.example', 'llm.example', true],
  // A browser would drop a secure cookie that comes over http.
  ['http://llm.example', 'llm.example', false],
  ['https://llm.example', 'localhost:3000', false],
  [undefined, '127.0.0.1:3000', false],
])('cookies are for https alone where that is how the request came: public %s, asked %s', (publicUrl, name, expected) => {
  const ownOrigin = createOwnOrigin({ host: '127.0.0.1', publicUrl })
  expect(ownOrigin.isSecure(new Headers({ host: name }))).toBe(expected)
})
