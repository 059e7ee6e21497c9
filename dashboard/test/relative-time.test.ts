import { describe, expect, test } from 'bun:test'

import { relative } from '../src/relative-time.ts'

const NOW = Date.parse('2026-11-23T06:00:00.000Z')

describe('a time in words', () => {
  test.each([
    ['2026-11-23T06:00:14.000Z', 'just now'],
    ['2026-11-23T05:59:30.000Z', 'just now'],
    ['2026-11-23T06:00:40.000Z', 'in a moment'],
    ['2026-11-23T05:57:00.000Z', '3 min ago'],
    ['2026-11-23T05:59:16.000Z', 'just now'],
    ['2026-11-23T05:59:15.000Z', '1 min ago'],
    ['2026-11-23T05:00:31.000Z', '59 min ago'],
    ['2026-11-23T05:00:30.000Z', '1 h ago'],
    ['2026-11-22T06:30:01.000Z', '23 h ago'],
    ['2026-11-22T06:30:00.000Z', '1 d ago'],
    ['2026-11-23T06:00:20.000Z', 'just now'],
    ['2026-11-23T06:00:21.000Z', 'in a moment'],
    ['2026-11-23T09:00:00.000Z', 'in 3 h'],
  ])('%s is %s, though the clock of the page was last read some seconds before', (at, words) => {
    expect(relative(at, NOW)).toBe(words)
  })
})
