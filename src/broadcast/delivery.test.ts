import { describe, expect, test } from 'bun:test'

import { createFakeClock, T0, turn } from '../../test/support/fake-clock.ts'
import { isoTimestamp } from '../lib/clock.ts'
import { type SafeFetch, type SafeRequest, UnsafeRequest } from '../providers/transport/safe-fetch.ts'
import { createDelivery, type KeptTraces, type Outcome } from './delivery.ts'
import type { Encoded } from './outgoing.ts'
import { otlpSender } from './senders.ts'

const VIEW = { content: true, cost: true, identity: true, requestContext: true }
const RESOURCE = { serviceName: 'patchbay', serviceVersion: '1', others: {} }

/** A delivery to a destination that answers as `answer` says; with `hang` it never answers. */
const start = (answer: () => number | Error | 'hang', kept: KeptTraces | null = null, retryAfterSeconds = 7) => {
  const clock = createFakeClock()
  const requests: SafeRequest[] = []
  const counts: Partial<Record<Outcome, number>> = {}
  const told: string[] = []
  const fetch: SafeFetch = async (request) => {
    requests.push(request)
    const status = answer()
    if (status === 'hang') return new Promise(() => undefined)
    if (status instanceof Error) throw status
    return {
      status,
      contentType: null,
      url: request.url,
      bytes: Buffer.alloc(0),
      text: '',
      ...(status === 429 ? { retryAfterSeconds } : {}),
    }
  }
  const delivery = createDelivery({
    sender: otlpSender('https://collector.example/v1/traces', {}, { view: VIEW, resource: RESOURCE }, { gzip: false }),
    clock,
    fetch: () => fetch,
    timeoutMs: 1000,
    count: (outcome, traces) => void (counts[outcome] = (counts[outcome] ?? 0) + traces),
    onFailure: (reason) => void told.push(reason),
    kept,
  })
  return {
    clock,
    delivery,
    requests,
    counts,
    told,
    add(count: number, text = 'x'): void {
      for (let at = 0; at < count; at += 1) delivery.add(trace(text))
    },
    async pass(ms: number): Promise<void> {
      clock.advance(ms)
      for (let turns = 0; turns < 20; turns += 1) await turn()
    },
  }
}

const trace = (text: string): Encoded => ({ text: JSON.stringify({ text }), path: '' })

const tracesIn = ({ body }: SafeRequest): number => (JSON.parse(String(body)) as { resourceSpans: unknown[] }).resourceSpans.length

test('traces wait a second for others, and a hundred of them wait no longer', async () => {
  const { delivery, requests, add, pass } = start(() => 200)
  add(3)
  await pass(999)
  expect(requests).toEqual([])
  await pass(1)
  expect(requests.map(tracesIn)).toEqual([3])
  add(250)
  await pass(0)
  expect(requests.map(tracesIn)).toEqual([3, 100, 100, 50])
  expect(delivery.health).toMatchObject({ queued: 0, dropped: 0 })
})

describe('a batch that is too large for the destination (413)', () => {
  const most = 20
  const limited = () => {
    const started = start(() => (tracesIn(started.requests.at(-1)!) > most ? 413 : 200))
    return started
  }

  test('is sent in smaller ones, and nothing of it is lost', async () => {
    const { delivery, requests, counts, add, pass } = limited()
    add(100)
    await pass(0)
    expect(requests.slice(0, 4).map(tracesIn)).toEqual([100, 50, 25, 13])
    expect(delivery.health).toMatchObject({ queued: 0, dropped: 0 })
    expect(counts).toMatchObject({ delivered: 100 })
  })

  test('is not met again by each later batch, whose size grows slowly', async () => {
    const { requests, counts, add, pass } = limited()
    add(1000)
    await pass(0)
    expect(counts.delivered).toBe(1000)
    expect(requests.length).toBeLessThan(100)
  })

  test('is dropped if it is a single trace, and the others are delivered', async () => {
    const { delivery, requests, counts, add, pass } = start(() => (String(requests.at(-1)!.body).includes('huge') ? 413 : 200))
    add(3)
    add(1, 'huge')
    add(3)
    await pass(1000)
    expect(counts).toMatchObject({ delivered: 6, refused: 1 })
    expect(delivery.health).toMatchObject({ queued: 0, dropped: 1 })
  })
})

test('failures are told at most once a minute', async () => {
  const { told, add, pass } = start(() => 401)
  for (let second = 0; second < 61; second += 1) {
    add(1)
    await pass(1000)
  }
  expect(told).toEqual(['It answered 401.', 'It answered 401.'])
})

test('a destination that is down for five minutes is asked ever less often, and gets everything afterwards', async () => {
  let isUp = false
  const { delivery, requests, counts, add, pass } = start(() => (isUp ? 200 : 503))
  for (let second = 0; second < 300; second += 1) {
    add(10)
    await pass(1000)
  }
  // 1 s, 2 s, 4 s … up to five minutes between two tries.
  expect(requests.length).toBeLessThan(12)
  expect(delivery.health).toMatchObject({ queued: 3000, dropped: 0, last_error: 'It answered 503.' })
  isUp = true
  await pass(5 * 60 * 1000)
  expect(counts.delivered).toBe(3000)
  expect(delivery.health.queued).toBe(0)
})

test.each([
  ['too large, although it is a single trace', 413, 1000],
  ['refused', 400, 1000],
  ['older than an hour', 503, 61 * 60_000],
])('a destination is asked again after a failure, also if the trace that had to wait is %s', async (_, then, ms) => {
  let status = 503
  const { delivery, counts, add, pass } = start(() => status)
  add(1)
  await pass(1000)
  status = then
  await pass(ms)
  await pass(5 * 60_000)
  expect(delivery.health).toMatchObject({ queued: 0, dropped: 1 })
  status = 200
  add(1)
  await pass(5 * 60_000)
  expect(counts).toMatchObject({ delivered: 1 })
})

test('what is tried again is the same request, to the byte', async () => {
  const answers = [503, 200]
  const { requests, add, pass } = start(() => answers.shift() ?? 200)
  add(2)
  await pass(1000)
  await pass(1000)
  expect(requests.map(({ body }) => body)).toEqual([requests[0]!.body, requests[0]!.body])
})

test('a wait that the destination asks for is kept', async () => {
  const answers = [429, 200]
  const { requests, add, pass } = start(() => answers.shift() ?? 200)
  add(1)
  await pass(1000)
  await pass(6999)
  expect(requests).toHaveLength(1)
  await pass(1)
  expect(requests).toHaveLength(2)
})

test('a wait that the destination asks for is at most five minutes, and none at all is the usual one', async () => {
  const patient = start(() => 429, null, 86_400)
  patient.add(1)
  await patient.pass(1000)
  await patient.pass(5 * 60_000)
  expect(patient.requests).toHaveLength(2)
  const hasty = start(() => 429, null, 0)
  hasty.add(1)
  for (let second = 0; second < 300; second += 1) await hasty.pass(1000)
  expect(hasty.requests.length).toBeLessThan(12)
})

test('a trace of more than a batch goes alone, and those behind it follow', async () => {
  const { requests, add, pass } = start(() => 200)
  add(1, 'x'.repeat(5 * 1024 * 1024))
  add(2)
  await pass(1000)
  expect(requests.map(tracesIn)).toEqual([1, 2])
})

describe('what is given up', () => {
  test.each<[string, number | Error]>([
    ['a refusal', 403],
    ['a status that is neither a success nor a failure', 304],
    ['a redirect', new UnsafeRequest('more than 0 redirects', 'redirects')],
    ['an address that is not allowed', new UnsafeRequest('not an https address')],
  ])('%s drops the batch at once', async (_, answer) => {
    const { delivery, requests, counts, add, pass } = start(() => answer)
    add(2)
    await pass(1000)
    await pass(60_000)
    expect(requests).toHaveLength(1)
    expect([counts.refused, delivery.health.dropped]).toEqual([2, 2])
  })

  test.each<[string, number | Error]>([
    ['a connection that fails', new UnsafeRequest('ECONNREFUSED', 'connection')],
    ['a request that came too late', 408],
  ])('%s is tried again', async (_, answer) => {
    const { requests, counts, add, pass } = start(() => answer)
    add(1)
    await pass(1000)
    await pass(1000)
    expect(requests).toHaveLength(2)
    expect(counts.refused).toBeUndefined()
  })

  test('more than ten thousand traces have no room', async () => {
    const { delivery, counts, add } = start(() => 'hang')
    add(10_050)
    expect([delivery.health.queued, counts.dropped_full]).toEqual([10_000, 50])
  })

  test('nor have more than 64 MiB', () => {
    const { delivery, counts, add } = start(() => 'hang')
    add(70, 'x'.repeat(1024 * 1024))
    expect(delivery.health.queued).toBe(63)
    expect(counts.dropped_full).toBe(7)
  })

  test('but what was sent makes room for others', async () => {
    const { delivery, counts, add, pass } = start(() => 200)
    for (let round = 0; round < 14; round += 1) {
      add(5, 'x'.repeat(1024 * 1024))
      await pass(1000)
    }
    expect([counts, delivery.health.queued]).toEqual([{ delivered: 70 }, 0])
  })

  test('nobody waits longer than an hour', async () => {
    const { delivery, counts, add, pass } = start(() => 503)
    add(5)
    for (let minute = 0; minute <= 70; minute += 1) await pass(60_000)
    expect([delivery.health.queued, counts.dropped_old]).toEqual([0, 5])
  })
})

test('once a destination has another address, what waits goes there, and at once', async () => {
  const { delivery, requests, add, pass } = start(() => 503)
  add(3)
  for (let second = 0; second < 120; second += 1) await pass(1000)
  const before = requests.length
  delivery.use(otlpSender('https://elsewhere.example/v1/traces', {}, { view: VIEW, resource: RESOURCE }, { gzip: false }))
  await pass(0)
  expect(requests.slice(before).map((request) => [request.url, tracesIn(request)])).toEqual([['https://elsewhere.example/v1/traces', 3]])
  // The failures of the old address do not count for the new one.
  await pass(1000)
  expect(requests).toHaveLength(before + 2)
})

test('once a destination is gone, nothing is sent to it any more, and it takes nothing up', async () => {
  const { delivery, requests, counts, add, pass } = start(() => 200)
  add(1)
  delivery.stop()
  expect(delivery.hasRoom).toBe(false)
  delivery.resume({ id: 'left', destinationId: 'd', createdAt: isoTimestamp(T0), ...trace('left') }, 0)
  add(1)
  await pass(60_000)
  expect([requests, counts, delivery.health.queued]).toEqual([[], { dropped_full: 1 }, 0])
})

test('traces that an earlier process left are sent, but for those that waited an hour', async () => {
  const { delivery, counts, pass } = start(() => 200)
  const left = { destinationId: 'd', createdAt: isoTimestamp(T0), ...trace('left') }
  delivery.resume({ id: 'old', ...left }, 3_599_000)
  delivery.resume({ id: 'new', ...left }, 3_598_999)
  await pass(1000)
  expect([counts, delivery.health]).toMatchObject([
    { delivered: 1, dropped_old: 1 },
    { queued: 0, last_success_at: isoTimestamp(T0 + 1000) },
  ])
})

test('at the end what waits goes out, and what is not taken is counted', async () => {
  const taken = start(() => 200)
  taken.add(150)
  await taken.delivery.close()
  expect(taken.requests.map(tracesIn)).toEqual([100, 50])
  const refused = start(() => 503)
  refused.add(150)
  await refused.delivery.close()
  expect([refused.requests.length, refused.counts.dropped_at_end]).toEqual([1, 150])
})

test('at the end a batch that is being sent is not sent again', async () => {
  const sent = Promise.withResolvers<void>()
  const clock = createFakeClock()
  let requests = 0
  const fetch: SafeFetch = async ({ url }) => {
    requests += 1
    await sent.promise
    return { status: 200, contentType: null, url, bytes: Buffer.alloc(0), text: '' }
  }
  const sender = otlpSender('https://collector.example/v1/traces', {}, { view: VIEW, resource: RESOURCE }, { gzip: false })
  const delivery = createDelivery({ sender, clock, fetch: () => fetch, timeoutMs: 1000, count: () => undefined, kept: null })
  delivery.add(trace('x'))
  clock.advance(1000)
  await turn()
  const closed = delivery.close()
  await turn()
  sent.resolve()
  await closed
  expect(requests).toBe(1)
})

test('a destination that does not answer keeps the process from its end for five seconds', async () => {
  const { delivery, counts, add, pass } = start(() => 'hang')
  add(1)
  let isClosed = false
  const closed = delivery.close().then(() => (isClosed = true))
  await pass(4999)
  expect(isClosed).toBe(false)
  await pass(1)
  await closed
  expect(counts.dropped_at_end).toBe(1)
})

describe('what waits in storage', () => {
  const MIB = 1024 * 1024
  /** Storage that can lose traces and be unavailable. */
  const startKept = (answer: () => number) => {
    const rows = new Map<string, Encoded | null>()
    const reads: number[] = []
    const table = { isAway: false }
    const started = start(answer, {
      add(encoded) {
        const id = `trace-${rows.size}`
        rows.set(id, encoded)
        return id
      },
      remove: (ids) => ids.forEach((id) => rows.delete(id)),
      async read(ids) {
        if (table.isAway) throw new Error('storage is away')
        reads.push(ids.length)
        return new Map(ids.flatMap((id) => (rows.has(id) ? [[id, rows.get(id)!]] : [])))
      },
    })
    return { ...started, rows, reads, table }
  }
  const sizesIn = ({ body }: SafeRequest): readonly number[] =>
    (JSON.parse(String(body)) as { resourceSpans: { text: string }[] }).resourceSpans.map(({ text }) => text.length)

  test('is moved out of memory beyond the first 4 MiB, and is sent in its turn', async () => {
    let isUp = false
    const { delivery, requests, rows, reads, counts, add, pass } = startKept(() => (isUp ? 200 : 503))
    const sizes = Array.from({ length: 20 }, (_, at) => MIB - 1000 + at)
    for (const size of sizes) add(1, 'x'.repeat(size))
    await pass(1000)
    expect([requests.length, reads]).toEqual([1, []])
    isUp = true
    await pass(1000)
    expect(requests.slice(1).flatMap(sizesIn)).toEqual(sizes)
    expect(reads).toEqual([4, 4, 4, 4])
    expect([delivery.health.queued, rows.size, counts.delivered]).toEqual([0, 0, 20])
    // There is room in memory again, so new traces are not read from storage.
    add(1, 'x'.repeat(MIB))
    await pass(1000)
    expect([counts.delivered, reads.length]).toEqual([21, 4])
  })

  test('is sent by nobody twice who knows that another process has it, and by somebody once storage is back', async () => {
    const { delivery, rows, table, requests, counts, add, pass } = startKept(() => 200)
    add(8, 'x'.repeat(MIB - 1000))
    add(4)
    rows.delete('trace-5')
    table.isAway = true
    await pass(1000)
    expect([counts.delivered, delivery.health.queued, delivery.health.last_error]).toEqual([4, 8, 'storage is away'])
    table.isAway = false
    await pass(1000)
    expect([counts.delivered, delivery.health.queued, delivery.health.dropped]).toEqual([11, 0, 0])
    expect(requests.map(tracesIn)).toEqual([4, 7])
  })

  test('stays there at the end where it is not taken, and counts as dropped by nobody', async () => {
    const { delivery, rows, counts, add } = startKept(() => 503)
    add(2)
    await delivery.close()
    expect([rows.size, counts, delivery.health.dropped]).toEqual([2, { retried: 1 }, 0])
  })

  test.each([200, 400])('and cannot be read is counted once as dropped: %i', async (status) => {
    const { delivery, rows, table, counts, add, pass } = startKept(() => status)
    add(4, 'x'.repeat(MIB - JSON.stringify({ text: '' }).length))
    add(3)
    table.isAway = true
    await pass(1000)
    rows.set('trace-5', null)
    table.isAway = false
    await pass(1000)
    const [outcome, others] = status === 200 ? (['delivered', 0] as const) : (['refused', 6] as const)
    expect([counts, delivery.health, rows.size]).toMatchObject([
      { [outcome]: 6, dropped_damaged: 1 },
      { queued: 0, dropped: 1 + others },
      0,
    ])
  })

  test('and that other processes have taken is no success of the destination', async () => {
    const { delivery, rows, table, counts, add, pass } = startKept(() => 200)
    add(4, 'x'.repeat(MIB - JSON.stringify({ text: '' }).length))
    add(3)
    table.isAway = true
    await pass(1000)
    for (const id of rows.keys()) rows.delete(id)
    table.isAway = false
    await pass(1000)
    expect([counts, delivery.health]).toMatchObject([
      { delivered: 4, retried: 1 },
      { queued: 0, last_success_at: isoTimestamp(T0 + 1000) },
    ])
  })

  test('of other processes is left to them where half of the queue, or of its bytes, is taken', () => {
    const many = startKept(() => 200)
    many.add(4999)
    expect(many.delivery.hasRoom).toBe(true)
    many.add(1)
    expect(many.delivery.hasRoom).toBe(false)
    const large = startKept(() => 200)
    large.add(31, 'x'.repeat(MIB))
    expect(large.delivery.hasRoom).toBe(true)
    large.add(1, 'x'.repeat(MIB))
    expect(large.delivery.hasRoom).toBe(false)
  })

  test('of other processes is left to them while the destination fails', async () => {
    let isUp = false
    const { delivery, add, pass } = startKept(() => (isUp ? 200 : 503))
    expect(delivery.hasRoom).toBe(true)
    add(1)
    await pass(1000)
    expect(delivery.hasRoom).toBe(false)
    isUp = true
    await pass(1000)
    expect(delivery.hasRoom).toBe(true)
  })
})

test.each([200, 503])(
  'nothing is planned any more by a delivery that was closed or stopped, also while its destination answers %i',
  async (status) => {
    const closing = start(() => status)
    closing.add(1)
    await closing.delivery.close()
    const stopping = start(() => status)
    stopping.add(1)
    stopping.delivery.stop()
    expect([closing.clock.waiting, stopping.clock.waiting]).toEqual([0, 0])
  },
)
