import { expect, test } from 'bun:test'

import { emailGuardrail } from '../../test/support/guardrail.ts'
import type { Clock } from '../lib/clock.ts'
import { effectiveOf } from './effective.ts'
import { tryInput } from './trial.ts'

const messagesOf = (count: number, text: string) => Array.from({ length: count }, () => ({ role: 'user', content: text }))

/** Counts every point at which the work may yield, because time advances with each read of the clock. */
const turnsOf = async (count: number, text: string) => {
  let now = 0
  let turns = 0
  const clock: Clock = {
    now: () => 0,
    monotonicMs: () => (now += 10),
    after(_, task) {
      turns += 1
      setImmediate(task)
      return () => undefined
    },
  }
  const messages = messagesOf(count, text)
  const trial = await tryInput(messages, effectiveOf([emailGuardrail('redact')]), { clock, screenMs: Number.POSITIVE_INFINITY })
  return { turns, messages, trial }
}

test('a trial of four times as many messages takes a step for each of them at least, whatever filters find there', async () => {
  for (const text of ['', 'a', 'Write to jane@example.com.']) {
    const { turns } = await turnsOf(50, text)
    expect((await turnsOf(200, text)).turns).toBeGreaterThan(turns + 149)
  }
})

test('the body of a longer trial is written and read in more steps', async () => {
  const quarter = await turnsOf(1, '\n'.repeat(200_000))
  const pieces = (200_000 * 3) / 512
  expect((await turnsOf(1, '\n'.repeat(800_000))).turns).toBeGreaterThan(quarter.turns + pieces + 3)
})

test('messages without a find go on as they came, and others with what stands in its place', async () => {
  const plain = await turnsOf(2, 'Hello.')
  expect([plain.trial.outcome, plain.trial.messages]).toEqual(['passed', plain.messages])
  const found = await turnsOf(2, 'Write to jane@example.com.')
  expect([found.trial.outcome, found.trial.messages]).toEqual(['redacted', messagesOf(2, 'Write to [EMAIL].')])
})
