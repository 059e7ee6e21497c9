import { describe, expect, test } from 'bun:test'

import { needsStatus, STATUS_CLIENTS } from './status-clients.ts'

describe('each row of the table', () => {
  test.each(STATUS_CLIENTS.map((row) => [`${row.client}: ${row.header}`, row] as const))('%s', (_, { header, word, sends }) => {
    expect(needsStatus(new Headers({ [header]: sends }))).toBe(true)
    expect(needsStatus(new Headers({ [header]: sends.toUpperCase() }))).toBe(true)
    // A client may put its own name before the library's; a word that only ends like it does not count.
    if (word !== undefined) {
      expect(needsStatus(new Headers({ [header]: `my-app/1.0 ${sends}` }))).toBe(true)
      expect(needsStatus(new Headers({ [header]: `un${word}1.0` }))).toBe(false)
    }
  })
})

test('no header that tells: not known', () => {
  expect(needsStatus(new Headers())).toBe(false)
  expect(needsStatus(new Headers({ 'user-agent': '', 'x-app': 'cli', accept: 'application/json' }))).toBe(false)
})
