import { expect, test } from 'bun:test'

import type { Frame } from '../../canonical/event.ts'
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
