import { describe, expect, test } from 'bun:test'

import { createFakeClock } from '../../../test/support/fake-clock.ts'
import { callOf, endpoint, planOf } from '../../../test/support/plans.ts'
import { GatewayError } from '../../errors.ts'
import { AttemptLog } from './attempt-log.ts'
import { Connection } from './connection.ts'

const STOPPED = new GatewayError('provider_overloaded')

/** An inference whose first attempt is open, at a provider that bills an answer which the client left, or does not. */
const begin = (onCancel: 'drain' | 'abort') => {
  const clock = createFakeClock()
  const { provider, ...rest } = endpoint('a')
  const [planned] = planOf([{ ...rest, provider: { ...provider, onCancel } }]).attempts
  if (planned === undefined) throw new Error('not planned')
  const log = new AttemptLog({ call: callOf({}), apiType: 'completions', hidden: undefined, strict: false, echo: false }, clock, 0)
  const connection = new Connection(log, clock)
  log.begin({ planned, credential: { apiKey: null, index: 0, isByok: false, rests: false } })
  const { signal } = connection.open()
  return { clock, log, connection, signal }
}

describe('a client that leaves', () => {
  test('closes the upstream at once, unless the provider bills anyway', () => {
    const { connection, signal, clock } = begin('abort')
    connection.leave()
    expect([signal.aborted, connection.stopReason?.type, connection.stopped, clock.waiting]).toEqual([true, 'timeout', true, 0])
  })

  test('is followed by no other attempt, though the provider that bills anyway has 30 seconds for its usage', () => {
    const { connection, signal, clock } = begin('drain')
    connection.leave()
    clock.advance(29_999)
    expect([signal.aborted, connection.stopReason, connection.stopped]).toEqual([false, null, true])
    clock.advance(1)
    expect([signal.aborted, connection.stopReason?.type]).toEqual([true, 'timeout'])
  })

  test('ends what runs between two turns at once: no provider is at work', () => {
    const { connection, log } = begin('drain')
    log.succeed()
    const tools = connection.open()
    connection.leave()
    expect([tools.signal.aborted, log.abandoned]).toEqual([true, false])
  })

  test('leaves once: the time for the usage does not begin anew, and what was abandoned stays so', () => {
    const { connection, log, signal, clock } = begin('drain')
    connection.leave()
    log.succeed()
    clock.advance(20_000)
    connection.leave()
    expect([log.abandoned, clock.waiting]).toEqual([true, 1])
    clock.advance(10_000)
    expect(signal.aborted).toBe(true)
  })
})

describe('a run that is stopped', () => {
  test('keeps the first reason, whoever stops it or leaves later', () => {
    const { connection, signal } = begin('abort')
    expect(connection.stopped).toBe(false)
    connection.stop(STOPPED)
    expect(connection.stopped).toBe(true)
    connection.stop(new GatewayError('timeout'))
    connection.leave()
    expect([connection.stopReason, signal.reason]).toEqual([STOPPED, STOPPED])
  })

  test('opens no connection any more', () => {
    const { connection } = begin('abort')
    connection.stop(STOPPED)
    expect(connection.open().signal.reason).toBe(STOPPED)
  })

  test('by its limit says how long that was', () => {
    const { connection, clock } = begin('abort')
    connection.limit(1_500_400)
    clock.advance(1_500_400)
    expect(connection.stopReason?.message).toBe('The answer took longer than its limit of 1500 seconds.')
  })
})

describe('a run that has ended', () => {
  test('can be neither left nor stopped', () => {
    const { connection, log, signal } = begin('abort')
    log.end()
    connection.leave()
    connection.stop(STOPPED)
    expect([log.cancelled, signal.aborted, connection.stopReason]).toEqual([false, false, null])
  })

  test('leaves no deadline behind', () => {
    const { connection, log, clock } = begin('drain')
    connection.limit(60_000)
    connection.leave()
    log.end()
    connection.close()
    expect(clock.waiting).toBe(0)
  })
})
