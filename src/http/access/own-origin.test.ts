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

test.each([
  [
    '127.0.0.1',
    ['127.0.0.1:80', '127.9.9.9', 'localhost', 'app.localhost:3000', '[::1]:80'],
    ['192.0.2.1', 'llm.example', 'localhost.example', ''],
  ],
  ['0.0.0.0', ['192.0.2.1:80', '[2001:db8::1]', 'localhost'], ['llm.example', '192.0.2.1.example']],
  ['::', ['192.0.2.1:80', '[2001:db8::1]'], ['llm.example']],
  ['llm.example', ['LLM.example:80'], ['other.example', '192.0.2.1']],
])(
  'a service that listens on %s signs people in under its own names alone, which nobody else can make point at it',
  (host, own, foreign) => {
    const ownOrigin = createOwnOrigin({ host, publicUrl: undefined })
    const isOurs = (name: string): boolean => {
      try {
        ownOrigin.refuseForeign(new Headers({ host: name }))
        return true
      } catch (thrown) {
        expect(thrown).toMatchObject({ type: 'permission_denied' })
        return false
      }
    }
    expect([own.filter(isOurs), foreign.filter(isOurs)]).toEqual([own, []])
  },
)
