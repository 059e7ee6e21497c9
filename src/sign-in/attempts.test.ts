import { expect, test } from 'bun:test'

import { createFakeClock } from '../../test/support/fake-clock.ts'
import { GatewayError } from '../errors.ts'
import { createAttempts } from './attempts.ts'

const open = () => {
  const clock = createFakeClock()
  const attempts = createAttempts(clock)
  const refuse = async (): Promise<never> => {
    throw new GatewayError('authentication')
  }
  const fail = async (address: string, times: number): Promise<void> => {
    for (let time = 0; time < times; time += 1) await attempts.run(address, refuse, () => true).catch(() => undefined)
  }
  /** The seconds after which the address may try again; 0 if it may now. */
  const waitOf = async (address: string): Promise<number> => {
    try {
      await attempts.run(
        address,
        async () => undefined,
        () => true,
      )
      return 0
    } catch (thrown) {
      if (!(thrown instanceof GatewayError) || thrown.type !== 'rate_limit_exceeded') throw thrown
      return thrown.retryAfterSeconds ?? Number.NaN
    }
  }
  return { clock, attempts, refuse, fail, waitOf }
}

test('an address may fail ten times within a minute, and again a minute after the first of them', async () => {
  const { clock, fail, waitOf } = open()
  await fail('a', 1)
  clock.advance(20_000)
  await fail('a', 8)
  expect(await waitOf('a')).toBe(0)
  await fail('a', 1)
  expect([await waitOf('a'), await waitOf('b')]).toEqual([40, 0])
  clock.advance(39_999)
  expect(await waitOf('a')).toBe(1)
  clock.advance(1)
  expect(await waitOf('a')).toBe(0)
})

test('ten thousand addresses are remembered, and those that failed last among them', async () => {
  const { fail, waitOf } = open()
  await fail('old', 10)
  await fail('busy', 9)
  for (let number = 0; number < 9998; number += 1) await fail(`other-${number}`, 1)
  await fail('busy', 1)
  expect([await waitOf('old'), await waitOf('busy')]).toEqual([60, 60])
  await fail('one more', 1)
  await fail('another', 1)
  expect([await waitOf('old'), await waitOf('busy')]).toEqual([0, 60])
})

test('attempts that run count, until they succeed or end in what is no failure', async () => {
  const { attempts, refuse, fail, waitOf } = open()
  const { promise, resolve } = Promise.withResolvers<undefined>()
  await fail('a', 8)
  const succeeding = attempts.run(
    'a',
    () => promise,
    () => true,
  )
  const excused = attempts.run(
    'a',
    () => promise.then(refuse),
    ({ type }) => type !== 'authentication',
  )
  expect([await waitOf('a'), await waitOf('b')]).toEqual([1, 0])
  resolve(undefined)
  await succeeding
  expect(excused).rejects.toMatchObject({ type: 'authentication' })
  await excused.catch(() => undefined)
  expect(await waitOf('a')).toBe(0)
  await fail('a', 2)
  expect(await waitOf('a')).toBe(60)
})

test('a refusal that says nothing about a secret counts only while its attempt runs', async () => {
  const { attempts, refuse, waitOf } = open()
  for (let time = 0; time < 20; time += 1) await attempts.run('a', refuse, () => false).catch(() => undefined)
  expect(await waitOf('a')).toBe(0)
})
