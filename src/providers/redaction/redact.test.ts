import { expect, test } from 'bun:test'
import fc from 'fast-check'

import { beginningOf, redact, withoutKeys } from './redact.ts'

/** The ways in which a provider, or something before it, may quote our credential. */
const FORMS: Readonly<Record<string, (secret: string) => string>> = {
  'as it is': (secret) => secret,
  'in JSON': (secret) => JSON.stringify(secret),
  'in JSON with escaped slashes': (secret) => JSON.stringify(secret).replaceAll('/', '\\/'),
  'in an address': (secret) => encodeURIComponent(secret),
  'in base64': (secret) => Buffer.from(secret).toString('base64'),
  'in base64 of addresses': (secret) => Buffer.from(secret).toString('base64url'),
  'in hexadecimal': (secret) => Buffer.from(secret).toString('hex'),
}

test.each(Object.keys(FORMS))('our credential is never shown: %s', (name) => {
  const form = FORMS[name]!
  fc.assert(
    // The words around it have none of its characters, so that what is left of it would be seen.
    fc.property(fc.stringMatching(/^[0-9!-/:-@[-`{-~\u00e0-\u00ff]{4,60}$/), (apiKey) => {
      const quoted = form(apiKey).replaceAll('"', '')
      expect(redact(`Q W ${form(apiKey)} E R`, { apiKey })).not.toContain(quoted)
      expect(redact(`Q W ${form(apiKey)} E R`, { apiKey: null })).toStartWith('Q W ')
    }),
  )
})

test('a credential too short to be one takes nothing out of a text', () => {
  expect(redact('The model is away.', { apiKey: 'a' })).toBe('The model is away.')
  expect(redact('Wrong key abcd.', { apiKey: 'abcd' })).toBe('Wrong key [redacted].')
})

test('of a text without end only the beginning is read', () => {
  expect(redact('word '.repeat(1_000_000), { apiKey: 'secret' }).length).toBeLessThanOrEqual(64 * 1024)
})

test.each([
  'sk-0123456789abcdef',
  'gsk_0123456789abcdef',
  'AIza0123456789abcdefghij',
  'AKIA0123456789ABCDEF',
  'ASIA0123456789ABCDEF',
  'Bearer abc.def/ghi',
  'org-0123456789abcdef',
  'proj_0123456789abcdef',
  'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.abc',
])('what has the form of a key is taken out: %s', (key) => {
  expect(withoutKeys(`before ${key} after`)).toBe('before [redacted] after')
})

test.each([
  ['postgres://root:hunter2@db/x', 'postgres://[redacted]@db/x'],
  ['"https://user:pass@host:8080/a?b=c@d"', '"https://[redacted]@host:8080/a?b=c@d"'],
  ['redis://:hunter2@cache:6379', 'redis://[redacted]@cache:6379'],
  ['https://0123456789abcdef@errors.example/1', 'https://[redacted]@errors.example/1'],
  [String.raw`"postgres:\/\/root:hunter2@db\/x"`, String.raw`"postgres:\/\/[redacted]@db\/x"`],
  ['a password with an @: mysql://root:hunt@er2@db/x', 'a password with an @: mysql://[redacted]@db/x'],
  ['one with signs: mysql://root:h/unt?er#2@db/x', 'one with signs: mysql://[redacted]@db/x'],
  ['one that begins like a port: mysql://root:1/hunt?er#2@db/x', 'one that begins like a port: mysql://[redacted]@db/x'],
  ['an encoded one: postgres%3A%2F%2Froot%3Ahunter2%40db%2Fx', 'an encoded one: postgres%3A%2F%2F[redacted]@db%2Fx'],
  ['/a?to=redis%253a%252f%252f%253ahunter2%2540cache&by=ada%40corp', '/a?to=redis%253a%252f%252f[redacted]@cache&by=ada%40corp'],
  ['one with signs: postgres%3A%2F%2Froot%3Ah%252Funt%253Fer%25232%40db%2Fx', 'one with signs: postgres%3A%2F%2F[redacted]@db%2Fx'],
  ['Error 1045: "root:hunt@er2@tcp(db:3306)/x"', 'Error 1045: "[redacted]@tcp(db:3306)/x"'],
  ['root:hunter2@unix(/run/db.sock)/x', '[redacted]@unix(/run/db.sock)/x'],
  ['host=db password=hunter2 user=root', 'host=db password=[redacted] user=root'],
  ['Server=db;Uid=root;Pwd=hunter2;', 'Server=db;Uid=root;Pwd=[redacted];'],
])('an address shows nobody who signs in: %s', (text, shown) => {
  expect(withoutKeys(text)).toBe(shown)
})

test.each([
  'Write to ada@corp.example or @ada: mailto:ada@corp.example',
  'https://host/@ada https://host:8080/@ada/b?c=d@e http://[::1]:8080/@a https://host?a=b@c https://host#@a',
  'git@host:owner/name.git, owner/name@v1, npm:@scope/name@1.2.3',
  'see https://host, "https://host","ada@corp.example" and <https://host>@',
  'https://host/User:Ada@home file:///c:/a@b',
  'https%3A%2F%2Fhost%3A8080%2F%40ada https%3A%2F%2Fhost%3Fa%3Db%40c ada%40corp.example',
  'q=see%20https%3A%2F%2Fhost%20or%20%22https%3A%2F%2Fhost%22%20and%20write%20to%20ada%40corp.example',
  'ada@tcp.example, f(x)@unix, password = hunter, a@b (tcp)',
])('an @ elsewhere changes nothing: %s', (text) => {
  expect(withoutKeys(text)).toBe(text)
})

test('the beginning of a text has at most so many bytes, and ends between two characters', () => {
  const text = 'a\u00e9\u20ac\u{1F600}z'
  const ends = [0, 1, 1, 3, 3, 3, 6, 6, 6, 6, 10, 11, 11]
  expect(ends.map((_, mostBytes) => Buffer.byteLength(beginningOf(text, mostBytes)))).toEqual(ends)
  for (const mostBytes of ends.keys()) expect(text.startsWith(beginningOf(text, mostBytes))).toBe(true)
})
