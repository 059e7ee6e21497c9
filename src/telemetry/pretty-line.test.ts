import { expect, test } from 'bun:test'

import { createFakeClock } from '../../test/support/fake-clock.ts'
import { logTo } from './log.ts'

const written = (coloured: boolean, write: (log: ReturnType<typeof logTo>) => void): string => {
  let text = ''
  write(logTo((line) => (text += line), 'info', createFakeClock(), { pretty: true, coloured }))
  return text
}

test('a line for people has the time of day, the level, what happened and its fields', () => {
  const text = written(false, (log) => log.info({ model: 'a/b', tokens: 12, provider: null, nested: { a: [1] } }, 'generation'))
  expect(text).toBe('10:00:00 info  generation model=a/b tokens=12 nested={"a":[1]}\n')
})

test('colours surround their words, and end with them', () => {
  const text = written(true, (log) => log.warn({ a: 1 }, 'slow'))
  expect(text).toBe('\u001b[2m10:00:00\u001b[0m \u001b[33mwarn \u001b[0m slow \u001b[2ma=\u001b[0m1\n')
})

test('a fault is its sentence, those of its causes, and where it arose', () => {
  const error = new Error('outer', { cause: new TypeError('inner') })
  const lines = written(false, (log) => log.error({ error }, 'failed')).split('\n')
  expect(lines.slice(0, 2)).toEqual(['10:00:00 error failed', '  Error: outer'])
  expect(lines[2]).toMatch(/^ {4}at /)
  expect(lines.find((line) => line.includes('because'))).toBe('  because TypeError: inner')
})

test.each(['\u001b[2J', 'a\nb', '\r', '\u202e', '\u009b31m', '\u0007'])('what a stranger wrote moves no cursor: %j', (text) => {
  const line = written(false, (log) => log.info({ text }, 'request'))
  expect(line.endsWith('\n')).toBe(true)
  expect(line.slice(0, -1)).not.toMatch(/[\p{Cc}\p{Cf}]/u)
})

test('a value that is long is cut', () => {
  const line = written(false, (log) => log.info({ text: 'x'.repeat(1000) }, 'request'))
  expect(line.length).toBeLessThan(200)
})
