import { describe, expect, test } from 'bun:test'

import { joinCohort, nextStage } from './cohort.ts'

/** Runs this many requests; resolves with their steps in the order in which they happened. */
const stages = async (requests: number): Promise<readonly string[]> => {
  const done: string[] = []
  const request = async (name: number): Promise<void> => {
    await joinCohort()
    done.push(`${name} reads`)
    await nextStage
    done.push(`${name} plans`)
    await nextStage
    done.push(`${name} sends`)
  }
  await Promise.all(Array.from({ length: requests }, (_, index) => request(index)))
  return done
}

describe('requests of one round of the event loop', () => {
  test('end a stage, in the order in which they came, before one of them begins the next', async () => {
    expect(await stages(3)).toEqual(['reads', 'plans', 'sends'].flatMap((stage) => [0, 1, 2].map((name) => `${name} ${stage}`)))
  })

  test('wait for each other sixteen at a time: the first sixteen are through before the seventeenth begins', async () => {
    const done = await stages(20)
    expect(done.slice(0, 48).every((step) => Number.parseInt(step, 10) < 16)).toBe(true)
    expect(done.slice(48).every((step) => Number.parseInt(step, 10) >= 16)).toBe(true)
  })

  test('that come later do not join a cohort that has begun', async () => {
    const order: string[] = []
    const first = joinCohort().then(() => {
      order.push('first')
      return joinCohort().then(() => order.push('second'))
    })
    await Promise.all([first, joinCohort().then(() => order.push('beside the first'))])
    expect(order).toEqual(['first', 'beside the first', 'second'])
  })

  test('are admitted after the events that are ready', async () => {
    const order: string[] = []
    const ready = new Promise<void>((resolve) => {
      setImmediate(() => {
        order.push('an event that was ready')
        resolve()
      })
    })
    await Promise.all([ready, joinCohort().then(() => order.push('the cohort'))])
    expect(order).toEqual(['an event that was ready', 'the cohort'])
  })
})
