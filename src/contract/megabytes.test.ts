/** A body that is too long, or has too many members, is refused before its contents are examined. */
import { expect, test } from 'bun:test'

import { z } from 'zod'

import { threadCpu } from '../../test/support/thread-cpu.ts'
import { DESTINATION_TYPES } from './destination.ts'
import { createCodeBody } from './oauth.ts'
import { createWorkspaceBody, updateMemberBody, updateWorkspaceBody } from './workspace.ts'

const MEGABYTES = 2 * 1024 * 1024

/** The least CPU time in microseconds of many interleaved runs, since other work on the machine only adds to each. */
const leastCpu = (tasks: readonly (() => unknown)[]): readonly number[] => {
  const runs = Array.from({ length: 90 }, () =>
    tasks.map((task) => {
      const before = threadCpu()
      task()
      return threadCpu() - before
    }),
  )
  return tasks.map((_, task) => Math.min(...runs.map((run) => run[task] ?? 0)))
}

test.each([
  ['an address of mail', updateMemberBody, { email: `${'a.'.repeat(MEGABYTES)}@b.example` }, 'email'],
  ['the address of an application', createCodeBody, { callback_url: `https://a.example/?${'a=b&'.repeat(MEGABYTES / 2)}` }, 'callback_url'],
  ['the slug of a workspace', createWorkspaceBody, { name: 'x', slug: 'a-'.repeat(MEGABYTES) }, 'slug'],
])('%s of 4 MB is refused for its length alone', (_, schema, body, member) => {
  const { error } = schema.safeParse(body)
  expect(error?.issues.map(({ code, path }) => [code, path])).toEqual([['too_big', [member]]])
  const measured = z.string().max(320)
  const text = Object.values(body).find((value) => value.length > MEGABYTES)
  const [whole = 0, length = 0] = leastCpu([() => schema.safeParse(body), () => measured.safeParse(text)])
  expect(whole).toBeLessThan(2 * length)
})

test('10,000 headers of a destination are counted, and not read', () => {
  const headers = Object.fromEntries(Array.from({ length: 9900 }, (_, at) => [`${at} is no name`, 'x']))
  const { error } = DESTINATION_TYPES.webhook.config.safeParse({ url: 'https://example.com', headers })
  expect(error?.issues.map(({ message, path }) => [message, path])).toEqual([['At most 20 headers.', ['headers']]])
})

test('the plugins of a workspace have a bound as a whole', () => {
  const plugins = [{ id: 'web', search_prompt: 'x'.repeat(200_000) }]
  expect(updateWorkspaceBody.safeParse({ plugins }).error?.issues[0]?.message).toContain('131072 characters')
  expect(updateWorkspaceBody.safeParse({ plugins: [{ id: 'web', search_prompt: 'x'.repeat(100_000) }] }).success).toBe(true)
})
