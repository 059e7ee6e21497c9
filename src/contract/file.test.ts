import { expect, test } from 'bun:test'
import fc from 'fast-check'

import { fileName } from './file-name.ts'

test.each(['a', 'report 2026.pdf', 'folder/notes.csv', '.env', 'naïve ✓ 👩‍👩‍👧.txt', 'x'.repeat(255)])('%p is a name', (name) => {
  expect(fileName.safeParse(name).success).toBe(true)
})

test.each([
  '',
  ' ',
  ' a',
  'a\n',
  '..',
  '../a',
  'a/../b',
  'a..b',
  '/etc/passwd',
  '\\a',
  'C:\\a',
  'a\u0000b',
  'a\tb',
  'a\u007f',
  'invoice\u202Efdp.exe',
  '\ud800',
  'x'.repeat(256),
])('%p is none', (name) => {
  expect(fileName.safeParse(name).success).toBe(false)
})

test('no name that is taken leads out of its folder, has a control character, or is too long to tell', () => {
  const hostile = fc
    .array(fc.constantFrom('..', '/', '\\', '.', 'a', '\u0000', '\n', '\u202e', '\ud83d', ' ', '%2e', '~'), { maxLength: 12 })
    .map((pieces) => pieces.join(''))
  fc.assert(
    fc.property(
      fc.oneof(
        hostile,
        fc.array(fc.nat(0x10ffff), { maxLength: 300 }).map((points) => String.fromCodePoint(...points)),
      ),
      (name) => {
        if (!fileName.safeParse(name).success) return
        expect(name).toMatch(/^[^/\\][^\\]{0,254}$/)
        expect(name).not.toContain('..')
        expect(/[\p{Cc}\p{Cs}\u202a-\u202e]/u.test(name)).toBe(false)
      },
    ),
  )
})
