import { expect, test } from 'bun:test'

import { createFakeClock, turn } from '../../../test/support/fake-clock.ts'
import { createPacedReads } from '../paced-reads.ts'
import type { RouteRequest } from '../route.ts'
import { type GuardrailRecordedTestParts, guardrailRecordedTestsCreate, TRIAL_ANSWER_MS } from './guardrail-recorded-tests.ts'

const asking = (hash: string): RouteRequest =>
  ({
    caller: { kind: 'management', hash },
    reach: { workspaceId: 'w', isOperator: true, onlyUserId: null },
    signal: new AbortController().signal,
    text: () => Promise.resolve('{"guardrail":{}}'),
    startTurn: () => () => undefined,
  }) as unknown as RouteRequest

/** A route over one stored content, which storage returns when the test says so. */
const open = () => {
  const clock = createFakeClock()
  const reads: PromiseWithResolvers<null>[] = []
  const row = { id: 'gen-1', workspaceId: 'w', createdAt: '2026-11-20T00:00:00.000Z', hasContent: true }
  const { handle } = guardrailRecordedTestsCreate({
    guardrails: { tried: () => Promise.resolve(null) },
    screenLimits: { clock, screenMs: 1000 },
    generations: { list: { page: () => Promise.resolve({ rows: [row] }) }, flush: () => Promise.resolve() },
    contents: {
      store: {
        sizesOf: () => Promise.resolve(new Map([['gen-1', 100]])),
        get() {
          reads.push(Promise.withResolvers<null>())
          return reads.at(-1)?.promise
        },
      },
      flush: () => Promise.resolve(),
    },
    auditLog: { note: () => Promise.resolve() },
    reads: createPacedReads(clock, TRIAL_ANSWER_MS),
    largeStep: () => Promise.resolve(),
  } as unknown as GuardrailRecordedTestParts)
  return { clock, reads, ask: (hash: string) => handle(asking(hash)) }
}

test('a caller has one trial at a time, and others do not wait for it', async () => {
  const { reads, ask } = open()
  const first = ask('a')
  const second = ask('a')
  await turn()
  expect(reads).toHaveLength(1)
  const other = ask('b')
  await turn()
  expect(reads).toHaveLength(2)
  reads[0]?.resolve(null)
  expect((await first).status).toBe(200)
  await turn()
  expect(reads).toHaveLength(3)
  for (const { resolve } of reads) resolve(null)
  expect([(await second).status, (await other).status]).toEqual([200, 200])
})

test('a trial that takes all of its ten seconds is answered, and not refused as a read of storage would be', async () => {
  const { clock, reads, ask } = open()
  const answer = ask('a')
  await turn()
  clock.advance(10_000)
  reads[0]?.resolve(null)
  expect((await answer).status).toBe(200)
  expect(clock.waiting).toBe(0)
})
