import { expect, test } from 'bun:test'
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'

/** The lines that a program using the log writes to stderr. */
const linesOf = (program: string): Record<string, unknown>[] => {
  const { stderr, stdout } = spawnSync(
    process.execPath,
    [
      '-e',
      `const { createLog } = await import(${JSON.stringify(join(import.meta.dir, 'log.ts'))}); const { systemClock } = await import(${JSON.stringify(join(import.meta.dir, '../lib/clock.ts'))}); ${program}`,
    ],
    {
      encoding: 'utf8',
    },
  )
  expect(stdout).toBe('')
  return stderr
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Record<string, unknown>)
}

test('a line is JSON on stderr with its level, its time and its fields', () => {
  const [line, ...more] = linesOf(
    "const { log, flush } = createLog('info', systemClock); log.debug('not'); log.info({ a: 1 }, 'said'); await flush()",
  )
  expect(more).toEqual([])
  expect(line).toEqual({ level: 'info', time: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/), a: 1, msg: 'said' })
})

test('silent is silent', () => {
  expect(linesOf("const { log, flush } = createLog('silent', systemClock); log.error('not'); await flush()")).toEqual([])
})

test('an error is its name, text, stack and causes, and nothing that a library hung on it', () => {
  const program =
    "const { log, flush } = createLog('info', systemClock); const cause = Object.assign(new TypeError('inner'), { config: { headers: { authorization: 'hunter2' } } });" +
    "log.error({ error: Object.assign(new Error('outer', { cause }), { request: 'hunter2' }), cause }, 'failed'); await flush()"
  const [line] = linesOf(program)
  expect(line).toMatchObject({
    error: { name: 'Error', message: 'outer', cause: { name: 'TypeError', message: 'inner' } },
    cause: { name: 'TypeError', message: 'inner' },
  })
  expect(JSON.stringify(line)).not.toContain('hunter2')
})

test('a thrown value that is not an error is logged as text', () => {
  const [line] = linesOf(
    "const { log, flush } = createLog('info', systemClock); log.error({ error: 'just text' }, 'failed'); await flush()",
  )
  expect(line?.['error']).toBe('just text')
})
