import { expect, test } from 'bun:test'

import type { Frame, ModelEvent } from '../../canonical/event.ts'
import { createContentRoom } from '../tracing/content-room.ts'
import { KeptAnswer } from './kept-answer.ts'

const MIB = 1024 * 1024

const kept = (length: number): Frame | null => {
  const answer = new KeptAnswer(createContentRoom(64 * MIB))
  const native = { dialect: 'chat', json: JSON.stringify({ other: 'x'.repeat(length) }) } as const
  void answer.observing(() => undefined)([{ events: [{ type: 'text', text: 'Hi' }], native }])
  return answer.answer
}

test('an upstream’s own text is kept with an answer up to two megabytes, beyond them what it says', () => {
  expect(kept(MIB)?.native?.json).toHaveLength(MIB + 12)
  expect(kept(3 * MIB)).toEqual({ events: [{ type: 'text', text: 'Hi' }] })
})

test('of a streamed answer only what it says stays in memory, not the upstream’s own text of each piece', () => {
  const answer = new KeptAnswer(createContentRoom(64 * MIB))
  const take = answer.observing(() => undefined)
  const used = (): number => {
    Bun.gc(true)
    return process.memoryUsage().heapUsed
  }
  const before = used()
  for (let piece = 0; piece < 500; piece += 1) {
    const json = `{"piece":${piece},"other":"${'x'.repeat(MIB / 5)}"}`
    void take([{ events: [{ type: 'text', text: `${piece} ` }], native: { dialect: 'chat', json: Buffer.from(json).toString() } }])
  }
  expect(used() - before).toBeLessThan(20 * MIB)
  expect(answer.answer?.events).toHaveLength(500)
})

const KINDS: readonly ((text: string) => ModelEvent)[] = [
  (text) => ({ type: 'text', text }),
  (text) => ({ type: 'reasoning', text }),
  (text) => ({ type: 'refusal', text }),
  (text) => ({ type: 'tool-arguments', index: 0, json: text }),
  (url) => ({ type: 'image', url }),
]

test.each(KINDS.map((make) => [make('').type, make] as const))(
  'an answer is kept up to a megabyte, and says that its end is missing; nothing is kept from behind the gap: %s',
  (_, make) => {
    const room = createContentRoom(2 * MIB)
    const answer = new KeptAnswer(room)
    expect(answer.answer).toBeNull()
    const keep = (event: ModelEvent): void => void answer.observing(() => undefined)([{ events: [event] }])
    const fitting = [make('x'.repeat(MIB / 2)), make('x'.repeat(MIB / 2 - 1))]
    fitting.forEach(keep)
    expect(answer.isCut).toBe(false)
    keep(make('xx'))
    keep(make('x'))
    expect([answer.isCut, answer.answer]).toEqual([true, { events: fitting }])
    answer.free()
    answer.free()
    expect([room.take(2 * MIB), room.take(1)]).toEqual([true, false])
  },
)
