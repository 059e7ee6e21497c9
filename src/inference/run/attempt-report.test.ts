import { describe, expect, test } from 'bun:test'

import { endpoint, planOf } from '../../../test/support/plans.ts'
import { usageOf } from '../../canonical/usage.ts'
import { GatewayError, type ErrorType } from '../../errors.ts'
import { createAnswerRoom } from '../../providers/transport/answer-room.ts'
import { reportOf } from './attempt-report.ts'
import type { AttemptOutcome } from './attempt-outcome.ts'
import type { FailedAttempt } from './failover.ts'

interface Row {
  readonly failure?: Partial<FailedAttempt>
  readonly stopped?: boolean
  readonly spareKeys?: boolean
  readonly outcome?: Partial<AttemptOutcome>
}

/** The report of an attempt that began after a second, had its first content after two, and ended after four with 100 tokens. */
const reported = ({ failure, stopped = false, spareKeys = false, outcome = {} }: Row) => {
  const [planned] = planOf([endpoint('a')]).attempts
  if (planned === undefined) throw new Error('not planned')
  const credential = { apiKey: null, index: 0, isByok: false, rests: false }
  const whole: AttemptOutcome = {
    turn: 1,
    planned,
    credential,
    startedMs: 1000,
    contentMs: 2000,
    endedMs: 4000,
    error: null,
    usage: usageOf({ output: 90, outputReasoning: 10 }),
    asked: true,
    upstreamStatus: 200,
    upstreamId: null,
    ...outcome,
  }
  const failed = failure === undefined ? null : { error: FAILURE, zone: 'sent' as const, upstreamStatus: 500, ...failure }
  return reportOf(stopped, { planned, credential, retry: true, spareKeys }, whole, failed)
}

const FAILURE = new GatewayError('provider_unavailable', undefined, { retryAfterSeconds: 7 })
const of = (type: ErrorType, upstreamStatus = 400): Row => ({ failure: { error: new GatewayError(type), upstreamStatus } })
const lack = createAnswerRoom(() => 0)
  .enter('a')
  .take(2 * 1024 * 1024)

test('an attempt reports when it began, how long its first content took, how fast it was, and if it was a retry', () => {
  const times = { startedMs: 1000, firstTokenMs: 1000, retry: true }
  expect(reported({})).toEqual({ ...times, outcome: 'ok', tokensPerSecond: 50, retryAfterSeconds: null })
  expect(reported({ failure: {} })).toEqual({ ...times, outcome: 'failure', tokensPerSecond: null, retryAfterSeconds: 7 })
  expect(reported({ stopped: true })).toEqual({ ...times, outcome: 'cancelled', tokensPerSecond: null, retryAfterSeconds: null })
  expect(reported({ failure: { zone: 'not-asked' } })).toEqual({
    ...times,
    outcome: 'cancelled',
    tokensPerSecond: null,
    retryAfterSeconds: 7,
  })
})

test('no speed is reported for an answer of fewer than ten tokens, without content, or that came in one piece', () => {
  const speed = (outcome: Partial<AttemptOutcome>) => reported({ outcome }).tokensPerSecond
  expect([speed({ usage: usageOf({ output: 9 }) }), speed({ contentMs: null }), speed({ endedMs: 2000 })]).toEqual([null, null, null])
  expect(speed({ usage: usageOf({ output: 10 }) })).toBe(5)
  expect(reported({ outcome: { contentMs: null } }).firstTokenMs).toBeNull()
})

describe('what an attempt shows about its endpoint', () => {
  test.each<[string, Row, ReturnType<typeof reported>['outcome']]>([
    ['whose answer nobody waits for any more: nothing', { failure: {}, stopped: true }, 'cancelled'],
    ['that was not sent: nothing', { failure: { zone: 'not-asked' } }, 'cancelled'],
    ['for whose answer there was no room here: nothing', lack === null ? {} : { failure: { error: lack } }, 'cancelled'],
    [
      'whose answer a guardrail withholds: that it works',
      { failure: { error: new GatewayError('permission_denied', undefined, { metadata: { patterns: [] } }) } },
      'ok',
    ],
    ['whose key was refused, of several: nothing', { ...of('provider_unavailable', 401), spareKeys: true }, 'cancelled'],
    ['whose only key was refused: that it fails', of('provider_unavailable', 401), 'failure'],
    ['that failed with a key of several: that it fails', { ...of('provider_unavailable', 500), spareKeys: true }, 'failure'],
    ['whose key was limited, of several: nothing', { ...of('rate_limit_exceeded', 429), spareKeys: true }, 'cancelled'],
    ['whose only key was limited: that it has to rest', of('rate_limit_exceeded', 429), 'rate-limited'],
    ['that the request made fail: that it works', of('invalid_request'), 'fault-of-request'],
  ])('%s', (_, row, outcome) => {
    expect(reported(row).outcome).toBe(outcome)
  })
})
