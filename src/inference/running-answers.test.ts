import { expect, test } from 'bun:test'

import { GatewayError } from '../errors.ts'
import { createRunningAnswers } from './running-answers.ts'

const REASON = new GatewayError('provider_unavailable', 'The service is restarting.')

const createStoppable = () => {
  const reasons: unknown[] = []
  return { reasons, stop: (reason: GatewayError) => void reasons.push(reason) }
}

test('a run counts from its beginning to its end', () => {
  const runs = createRunningAnswers()
  const [first, second] = [createStoppable(), createStoppable()]
  runs.began(first)
  runs.began(second)
  expect(runs.size).toBe(2)
  runs.ended(first)
  expect(runs.size).toBe(1)
})

test('stopping ends the runs that are being answered, and none that has ended', () => {
  const runs = createRunningAnswers()
  const [ended, running] = [createStoppable(), createStoppable()]
  runs.began(ended)
  runs.began(running)
  runs.ended(ended)
  runs.stop(REASON)
  expect([ended.reasons, running.reasons]).toEqual([[], [REASON]])
})

test('a run that was being admitted while all were stopped is ended when it begins', () => {
  const runs = createRunningAnswers()
  const late = createStoppable()
  runs.stop(REASON)
  runs.began(late)
  expect([late.reasons, runs.size]).toEqual([[REASON], 1])
})
