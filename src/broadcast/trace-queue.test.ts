import { expect, test } from 'bun:test'

import { createFakeClock, turn } from '../../test/support/fake-clock.ts'
import { systemIds } from '../lib/id.ts'
import type { WaitingTrace, WaitingTraceStore } from '../storage/broadcast/waiting-trace-store.ts'
import { createTraceQueue, type Taker } from './trace-queue.ts'

/** A queue over a table that can be unavailable. */
const start = () => {
  const clock = createFakeClock()
  const rows = new Map<string, WaitingTrace & { readonly holder: string }>()
  const holders = new Map<string, string>()
  const writes: number[] = []
  const faults: string[] = []
  const table: { isAway: boolean; answers: Promise<void> | null } = { isAway: false, answers: null }
  const store: WaitingTraceStore = {
    async write(keep, remove, { holder, until }) {
      await table.answers
      if (table.isAway) throw new Error('away')
      if (keep.length > 0) writes.push(keep.length)
      holders.set(holder, until)
      for (const trace of keep) rows.set(trace.id, { ...trace, holder })
      for (const id of remove) rows.delete(id)
    },
    async read(ids) {
      if (table.isAway) throw new Error('away')
      return { read: ids.flatMap((id) => rows.get(id) ?? []), damaged: [] }
    },
    async take(destinationIds, now, limit, { holder }) {
      const free = [...rows.values()].filter((row) => (holders.get(row.holder) ?? '') < now && destinationIds.includes(row.destinationId))
      for (const trace of free.slice(0, limit)) rows.set(trace.id, { ...trace, holder })
      return { read: free.slice(0, limit), damaged: [] }
    },
    async release(holder) {
      if (holder !== null) holders.set(holder, '')
    },
    deleteOlderThan: async () => 0,
  }
  const open = () => createTraceQueue({ store, clock, ids: systemIds, onError: (_, doing) => void faults.push(doing) })
  const pass = async (ms: number): Promise<void> => {
    clock.advance(ms)
    for (let turns = 0; turns < 20; turns += 1) await turn()
  }
  return { open, rows, holders, writes, faults, table, pass }
}

const encoded = (text: string) => ({ text, path: '' })

test('what waits is written within a tenth of a second, in portions, and what was taken by then never', async () => {
  const { open, rows, writes, pass } = start()
  const queue = open()
  const ids = Array.from({ length: 150 }, (_, at) => queue.add('d', encoded(`${at}`)))
  queue.remove(ids.slice(0, 10))
  await pass(99)
  expect(rows.size).toBe(0)
  await pass(1)
  expect([rows.size, writes]).toEqual([140, [64, 64, 12]])
  queue.remove(ids.slice(10))
  await pass(100)
  expect(rows.size).toBe(0)
})

test('of large ones a mebibyte is written at once, and storage that was away is tried again after five seconds', async () => {
  const { open, writes, faults, table, pass } = start()
  const queue = open()
  table.isAway = true
  for (let count = 0; count < 5; count += 1) queue.add('d', encoded('x'.repeat(600 * 1024)))
  for (let step = 0; step < 51; step += 1) await pass(100)
  expect(faults).toHaveLength(2)
  table.isAway = false
  await pass(4999)
  expect(writes).toEqual([])
  await pass(1)
  expect(writes).toEqual([2, 2, 1])
})

test('while storage is away nothing is lost, and what was sent meanwhile is not written later', async () => {
  const { open, rows, faults, table, pass } = start()
  const queue = open()
  table.isAway = true
  const first = queue.add('d', encoded('sent'))
  queue.add('d', encoded('waits'))
  await pass(100)
  queue.remove([first])
  table.isAway = false
  await pass(5000)
  expect([...rows.values()].map(({ text }) => text)).toEqual(['waits'])
  expect(faults).toEqual(['traces that wait were not written'])
})

test('what is being written is read from memory, and is not written again if it was sent before the write failed', async () => {
  const { open, rows, table, pass } = start()
  const queue = open()
  const [sent, waits] = [queue.add('d', encoded('sent')), queue.add('d', encoded('waits'))]
  const answered = Promise.withResolvers<void>()
  table.answers = answered.promise
  await pass(100)
  expect([...(await queue.read([sent, waits])).keys()]).toEqual([sent, waits])
  queue.remove([sent])
  table.isAway = true
  answered.resolve()
  await pass(0)
  table.isAway = false
  await pass(5000)
  expect([...rows.values()].map(({ text }) => text)).toEqual(['waits'])
})

test('at the end everything is written that waits, also behind a write that still runs, and left to the next process', async () => {
  const { open, rows, holders, table, pass } = start()
  const queue = open()
  queue.add('d', encoded('being written'))
  const answered = Promise.withResolvers<void>()
  table.answers = answered.promise
  await pass(100)
  table.answers = null
  queue.add('d', encoded('unwritten'))
  let isClosed = false
  const closed = queue.close().then(() => (isClosed = true))
  await pass(0)
  expect(isClosed).toBe(false)
  answered.resolve()
  await closed
  expect([...rows.values()].map(({ text, holder }) => [text, holders.get(holder)])).toEqual([
    ['being written', ''],
    ['unwritten', ''],
  ])
  const another = open()
  another.add('d', encoded('the last'))
  await another.close()
  expect([...rows.values()].at(-1)?.text).toBe('the last')
})

test('what was taken over is held like what a process added itself, and handed on at its end', async () => {
  const { open, rows, holders, pass } = start()
  const killed = open()
  killed.add('d', encoded('left behind'))
  await pass(100)
  const resumed: string[] = []
  const taker: Taker = { hasRoom: true, resume: ({ text }) => void resumed.push(text) }
  const [living, other] = [open(), open()]
  const stop = living.start(() => new Map([['d', taker]]))
  for (let second = 0; second < 40; second += 5) await pass(5000)
  other.start(() => new Map([['d', taker]]))
  for (let second = 0; second < 60; second += 5) await pass(5000)
  expect(resumed).toEqual(['left behind'])
  stop()
  await living.close()
  expect([...rows.values()].map(({ holder }) => holders.get(holder))).toEqual([''])
})

test('what was sent while storage is away is removed once it is back, and so sent by nobody again', async () => {
  const { open, rows, faults, table, pass } = start()
  const queue = open()
  const sent = queue.add('d', encoded('sent'))
  await pass(100)
  table.isAway = true
  queue.remove([sent])
  await pass(100)
  expect([rows.size, faults]).toEqual([1, ['traces that wait were not written']])
  table.isAway = false
  await pass(5000)
  expect(rows.size).toBe(0)
})

test('a process whose traces only wait keeps its hold on them, as long as one waits', async () => {
  const { open, holders, pass } = start()
  const [one, other] = [open(), open()]
  const waits = one.add('d', encoded('waits'))
  const resumed: string[] = []
  one.start(() => new Map())
  other.start(() => new Map([['d', { hasRoom: true, resume: ({ text }) => void resumed.push(text) }]]))
  await pass(100)
  for (let second = 0; second < 60; second += 5) await pass(5000)
  expect(resumed).toEqual([])
  one.remove([waits])
  await pass(100)
  const held = [...holders]
  for (let second = 0; second < 60; second += 5) await pass(5000)
  expect([...holders]).toEqual(held)
})

test('a process that is gone is followed by another, once its hold is over; one that runs keeps what it has', async () => {
  const { open, rows, holders, pass } = start()
  const [killed, living] = [open(), open()]
  killed.add('d', encoded('left behind'))
  await pass(100)
  const resumed: string[] = []
  const taker: Taker = { hasRoom: true, resume: ({ text }) => void resumed.push(text) }
  living.add('d', encoded('its own'))
  const stop = living.start(() => new Map([['d', taker]]))
  await pass(100)
  for (let second = 0; second < 25; second += 5) await pass(5000)
  expect(resumed).toEqual([])
  for (let second = 0; second < 40; second += 5) await pass(5000)
  expect(resumed).toEqual(['left behind'])
  stop()
  await living.close()
  // Neither trace has a holder any more, so the next process that looks can take both at once.
  expect([...rows.values()].map(({ holder }) => holders.get(holder))).toEqual(['', ''])
})

test('a destination without room takes nothing up', async () => {
  const { open, pass } = start()
  open().add('d', encoded('x'))
  await pass(100)
  const resumed: string[] = []
  open().start(() => new Map([['d', { hasRoom: false, resume: ({ text }) => void resumed.push(text) }]]))
  for (let second = 0; second < 60; second += 5) await pass(5000)
  expect(resumed).toEqual([])
})

test('what waits is read where it is: in memory before it is written, in storage behind it, nowhere once it is gone', async () => {
  const { open, rows, table, pass } = start()
  const queue = open()
  const [written, gone] = [queue.add('d', encoded('written')), queue.add('d', encoded('gone'))]
  await pass(100)
  rows.delete(gone)
  const unwritten = queue.add('d', encoded('unwritten'))
  const texts = async (...ids: string[]) => [...(await queue.read(ids)).values()].map((trace) => trace?.text ?? '').toSorted()
  expect(await texts(written, gone, unwritten)).toEqual(['unwritten', 'written'])
  // If storage is unavailable, traces that were written to it cannot be read; those that were not yet written can.
  table.isAway = true
  await pass(100)
  expect(await texts(unwritten)).toEqual(['unwritten'])
  expect(queue.read([written])).rejects.toThrow('away')
})
