import { describe, expect, test } from 'bun:test'

import { createFakeClock, turn } from '../../test/support/fake-clock.ts'
import { GatewayError } from '../errors.ts'
import { createAdmission, type Limits, type Permit } from './admission.ts'
import { createLoopLag } from './loop-lag.ts'
import { ownMeter } from './shared-meter.test-kit.ts'

const NONE: Limits = { keyConcurrency: 0, requestsPerMinute: 0, tokensPerMinute: 0, most: 0, line: 0, waitMs: 0, loopLagMs: 0, keyShare: 0 }
const key = (hash: string, own: { rpmLimit?: number; tpmLimit?: number } = {}) => ({ hash, rpmLimit: null, tpmLimit: null, ...own })

const open = (given: Partial<Limits>) => {
  const clock = createFakeClock()
  const lag = { p99Ms: 0 }
  const admission = createAdmission({ clock, meter: ownMeter(clock), lag, limits: () => ({ ...NONE, ...given }) })
  return { clock, lag, admission }
}

const enter = async (admission: ReturnType<typeof open>['admission'], caller = key('a')): Promise<Permit | GatewayError> => {
  try {
    return await admission.enter(caller)
  } catch (thrown) {
    if (thrown instanceof GatewayError) return thrown
    throw thrown
  }
}
const refused = async (...given: Parameters<typeof enter>): Promise<GatewayError> => {
  const outcome = await enter(...given)
  if (outcome instanceof GatewayError) return outcome
  throw new Error('it was let in')
}
const admitted = async (...given: Parameters<typeof enter>): Promise<Permit> => {
  const outcome = await enter(...given)
  if (outcome instanceof GatewayError) throw outcome
  return outcome
}

test('without limits every request is admitted at once', () => {
  const { admission } = open({})
  for (let request = 0; request < 1000; request += 1) expect(admission.enter(key('a'))).not.toBeInstanceOf(Promise)
  expect(admission.inside).toBe(1000)
})

describe('requests and tokens a minute', () => {
  test('429 with Retry-After and what is left, by the bound of the key or of the file; another key goes on', async () => {
    const { admission, clock } = open({ requestsPerMinute: 2 })
    await admitted(admission)
    await admitted(admission)
    const error = await refused(admission)
    expect(error).toMatchObject({ type: 'rate_limit_exceeded', status: 429, retryAfterSeconds: 30 })
    expect(error.metadata).toEqual({ reason: 'requests_per_minute', rate_limit: { limit: 2, remaining: 0, reset: clock.now() + 60_000 } })
    await admitted(admission, key('b'))
    for (let request = 0; request < 5; request += 1) await admitted(admission, key('c', { rpmLimit: 5 }))
    await refused(admission, key('c', { rpmLimit: 5 }))
    ;(await admitted(admission, key('d', { tpmLimit: 5 }))).end(5)
    expect(await refused(admission, key('d', { tpmLimit: 5 }))).toMatchObject({ metadata: { reason: 'tokens_per_minute' } })
    clock.advance(30_000)
    await admitted(admission)
  })

  test('tokens are charged when they were counted, and a request that has none left waits', async () => {
    const { admission, clock } = open({ tokensPerMinute: 1000 })
    const permit = await admitted(admission)
    permit.end(3000)
    permit.end(3000)
    expect(await refused(admission)).toMatchObject({
      retryAfterSeconds: 121,
      metadata: { reason: 'tokens_per_minute', rate_limit: { limit: 1000, remaining: 0 } },
    })
    clock.advance(121_000)
    await admitted(admission)
  })
})

test('a request that is refused for its number takes none of the tokens of its key, and gives it none', async () => {
  const { admission } = open({ tokensPerMinute: 100 })
  const permit = await admitted(admission, key('a', { rpmLimit: 1 }))
  permit.end(99)
  for (let request = 0; request < 5; request += 1)
    expect(await refused(admission, key('a', { rpmLimit: 1 }))).toMatchObject({ metadata: { reason: 'requests_per_minute' } })
  await admitted(admission)
  expect(await refused(admission)).toMatchObject({ metadata: { reason: 'tokens_per_minute' } })
})

test('a permit says if it was handed over, and reports its end once', async () => {
  const { admission } = open({})
  let ends = 0
  const permit = await admission.enter(key('a'), () => (ends += 1))
  expect(permit.handedOver).toBe(false)
  permit.handOver()
  expect(permit.handedOver).toBe(true)
  permit.end(1)
  permit.end(1)
  expect(ends).toBe(1)
})

test('429: as many at once as a key may have, until one ends; however it ends, once', async () => {
  const { admission } = open({ keyConcurrency: 2 })
  const [first] = [await admitted(admission), await admitted(admission)]
  expect(await refused(admission)).toMatchObject({ status: 429, retryAfterSeconds: 1, metadata: { reason: 'key_concurrency', limit: 2 } })
  await admitted(admission, key('b'))
  first.end(0)
  first.end(0)
  await admitted(admission)
  await refused(admission)
})

describe('the bound of the process', () => {
  const limits = { most: 2, line: 2, waitMs: 1000 }

  test('the first in the queue is admitted when a request ends; a full queue is 503 at once', async () => {
    const { admission } = open(limits)
    const first = await admitted(admission)
    await admitted(admission)
    const order: string[] = []
    const waiting = ['one', 'two'].map(async (name) => {
      const permit = await admitted(admission, key(name))
      order.push(name)
      return permit
    })
    expect([admission.inside, admission.waiting]).toEqual([2, 2])
    expect(await refused(admission, key('three'))).toMatchObject({ type: 'provider_overloaded', status: 503, retryAfterSeconds: 2 })
    first.end(0)
    const permit = await waiting[0]
    expect(order).toEqual(['one'])
    permit?.end(0)
    await Promise.all(waiting)
    expect([order, admission.inside, admission.waiting]).toEqual([['one', 'two'], 2, 0])
  })

  test('503 after a second in line, and what it took of its key is given back', async () => {
    const { admission, clock } = open({ ...limits, keyConcurrency: 1, requestsPerMinute: 1, tokensPerMinute: 1 })
    const inside = [await admitted(admission, key('a')), await admitted(admission, key('b'))]
    const late = enter(admission, key('c'))
    clock.advance(1000)
    await turn()
    expect(await late).toMatchObject({ status: 503 })
    for (const permit of inside) permit.end(0)
    expect(admission.inside).toBe(0)
    await admitted(admission, key('c'))
  })

  test('a queue that was left has all its places again, and all those of a key', async () => {
    const { admission, clock } = open({ ...limits, keyShare: 0.5 })
    await admitted(admission, key('a'))
    await admitted(admission, key('b'))
    for (let round = 0; round < 3; round += 1) {
      const late = ['c', 'd'].map((name) => enter(admission, key(name)))
      await turn()
      expect(admission.waiting).toBe(2)
      clock.advance(1000)
      for (const outcome of await Promise.all(late)) expect(outcome).toMatchObject({ status: 503 })
    }
  })

  test('a key always gets one place that is free, whatever its share, and one in the queue', async () => {
    const { admission } = open({ most: 3, line: 3, waitMs: 1000, keyShare: 0.1 })
    await admitted(admission)
    void enter(admission)
    await turn()
    expect([admission.inside, admission.waiting]).toEqual([1, 1])
    expect(await refused(admission)).toMatchObject({ metadata: { reason: 'key_share' } })
    await admitted(admission, key('b'))
    await admitted(admission, key('c'))
  })

  test('a request whose wait ends when there is room is admitted, although nobody left', async () => {
    const settings = { ...limits }
    const { admission, clock } = open(settings)
    await admitted(admission)
    await admitted(admission)
    const late = enter(admission)
    settings.most = 3
    clock.advance(1000)
    expect(await late).not.toBeInstanceOf(GatewayError)
    expect(admission.inside).toBe(3)
  })

  test('one key cannot take every place: others are admitted at once, and that key gets 429 after its wait', async () => {
    const { admission, clock } = open({ most: 40, line: 256, waitMs: 1000, keyShare: 0.8 })
    const hostile = Array.from({ length: 120 }, () => enter(admission, key('hostile')))
    await turn()
    expect([admission.inside, admission.waiting]).toEqual([32, 88])
    for (let request = 0; request < 4; request += 1) await admitted(admission, key('b'))
    await admitted(admission, key('c'))
    clock.advance(1000)
    await turn()
    const late = (await Promise.all(hostile)).filter((outcome) => outcome instanceof GatewayError)
    expect(late).toHaveLength(88)
    expect(late[0]).toMatchObject({ type: 'rate_limit_exceeded', status: 429, retryAfterSeconds: 1, metadata: { reason: 'key_share' } })
    expect(admission.inside).toBe(37)
  })

  test('one key cannot fill the queue: others wait in it, and are admitted before earlier requests of that key', async () => {
    const { admission } = open({ most: 5, line: 10, waitMs: 1000, keyShare: 0.8 })
    const inside = await Promise.all(['a', 'a', 'a', 'a', 'b'].map((name) => admitted(admission, key(name))))
    const hostile = Array.from({ length: 20 }, () => enter(admission, key('a')))
    await turn()
    expect(admission.waiting).toBe(8)
    const other = admitted(admission, key('c'))
    inside[4]?.end(0)
    ;(await other).end(0)
    for (const permit of inside) permit.end(0)
    const outcomes = await Promise.all(hostile.slice(0, 4))
    for (const outcome of outcomes) if (!(outcome instanceof GatewayError)) outcome.end(0)
    for (const outcome of await Promise.all(hostile)) if (!(outcome instanceof GatewayError)) outcome.end(0)
    expect([admission.inside, admission.waiting]).toEqual([0, 0])
  })

  test('under any order of comings, goings and waits it never holds more than it may, and ends empty', async () => {
    const { admission, clock } = open({ most: 3, line: 4, waitMs: 100, keyShare: 0.5 })
    const permits: Permit[] = []
    const pending: Promise<unknown>[] = []
    for (let step = 0; step < 500; step += 1) {
      if (step % 3 !== 2)
        pending.push(enter(admission, key(`k${step % 7}`)).then((outcome) => outcome instanceof GatewayError || permits.push(outcome)))
      if (step % 5 === 0) permits.shift()?.end(0)
      if (step % 11 === 0) clock.advance(37)
      await turn()
      expect(admission.inside).toBeLessThanOrEqual(3)
      expect(admission.waiting).toBeLessThanOrEqual(4)
    }
    clock.advance(1000)
    await Promise.all(pending)
    for (const permit of permits) permit.end(0)
    expect([admission.inside, admission.waiting]).toEqual([0, 0])
  })
})

test('503 while the process is behind, before anything is counted', async () => {
  const { admission, lag } = open({ loopLagMs: 200, requestsPerMinute: 1 })
  lag.p99Ms = 201
  expect(await refused(admission)).toMatchObject({ type: 'provider_overloaded', status: 503, retryAfterSeconds: 2 })
  lag.p99Ms = 200
  await admitted(admission)
})

test('however far the process is behind, nothing is refused where no bound is set for that', async () => {
  const { admission, lag } = open({ loopLagMs: 0 })
  lag.p99Ms = 10_000
  await admitted(admission)
})

describe('how far behind the process is', () => {
  /**
   * A clock whose timers fire late by the given milliseconds, of which this thread computes `share`. Returns what was last measured, and
   * the most that ever was.
   */
  const run = (lateness: readonly number[], share = 1): { last: number; most: number } => {
    let nowMs = 5_000_000
    let cpuMs = 700
    let task: () => void = () => undefined
    let dueMs = 0
    const lag = createLoopLag(
      {
        now: () => nowMs,
        monotonicMs: () => nowMs,
        after(delayMs, next) {
          dueMs = nowMs + delayMs
          task = next
          return () => undefined
        },
      },
      () => cpuMs,
    )
    lag.start()
    let most = lag.p99Ms
    for (const late of lateness) {
      nowMs = dueMs + late
      cpuMs += late * share
      task()
      most = Math.max(most, lag.p99Ms)
    }
    return { last: lag.p99Ms, most }
  }

  test('is not measured while nobody asks: an idle service has no timer for it, and the next question begins anew', () => {
    const clock = createFakeClock()
    const lag = createLoopLag(clock, () => 0)
    const stop = lag.start()
    expect(clock.waiting).toBe(0)
    for (let time = 0; time < 2; time += 1) {
      expect([lag.p99Ms, clock.waiting]).toEqual([0, 1])
      clock.advance(9000)
      expect(clock.waiting).toBe(1)
      clock.advance(3000)
      expect(clock.waiting).toBe(0)
    }
    expect([lag.p99Ms, clock.waiting]).toEqual([0, 1])
    stop()
    expect([lag.p99Ms, clock.waiting]).toEqual([0, 0])
  })

  test('nothing where timers fire in time, nor for a pause or a second of them', () => {
    const calm = Array.from({ length: 60 }, () => 1)
    expect(run([])).toEqual({ last: 0, most: 0 })
    expect(run([...calm, ...calm])).toEqual({ last: 1, most: 1 })
    expect(run([...calm, 400, ...calm])).toEqual({ last: 1, most: 1 })
    expect(run([...calm, 400, 400, 400, ...calm])).toEqual({ last: 1, most: 1 })
  })

  test('no more for a single long pause in each second, but for two of them', () => {
    const second = [200, ...Array.from({ length: 37 }, () => 1)]
    expect(run([...second, ...second, ...second])).toEqual({ last: 1, most: 1 })
    const worse = [200, ...second]
    expect(run([...worse, ...worse, ...worse])).toEqual({ last: 200, most: 200 })
  })

  test('what they are late by where it is lasting, and nothing again a second after', () => {
    const busy = Array.from({ length: 10 }, () => 300)
    expect(run(busy)).toEqual({ last: 300, most: 300 })
    expect(run([...busy, ...Array.from({ length: 120 }, () => 0)])).toEqual({ last: 0, most: 300 })
  })

  test('only as much as it computed itself, however long others had the processor', () => {
    const starved = Array.from({ length: 10 }, () => 4000)
    expect(run(starved, 0.2)).toEqual({ last: 800, most: 800 })
    expect(run(starved, 0)).toEqual({ last: 0, most: 0 })
  })

  test('no more than its timers are late, however much it computes between them', () => {
    const full = Array.from({ length: 120 }, () => 15)
    expect(run(full, 3)).toEqual({ last: 15, most: 15 })
  })
})
