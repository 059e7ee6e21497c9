import { expect, test } from 'bun:test'

import type { Frame } from '../../canonical/event.ts'
import { atOnce } from '../../lib/steps.ts'
import { AnswerCapture } from './answer-capture.ts'

const LONG = 3 * 1024 * 1024

const captured = (frame: Frame): readonly string[] | null => {
  const capture = new AnswerCapture()
  void capture.observing(() => undefined)([frame])
  return atOnce(capture.writing())
}

test('an answer that is too large to be kept is given up without a look at its text', () => {
  const unread = { dialect: 'chat', json: `{"usage":${'x'.repeat(LONG)}` } as const
  expect(captured({ events: [], native: unread })).toBeNull()
  expect(captured({ events: [{ type: 'text', text: 'x'.repeat(LONG) }] })).toBeNull()
})

test('a small one is kept', () => {
  expect(captured({ events: [{ type: 'text', text: 'Hi' }] })).toEqual(['{"events":[{"type":"text","text":"Hi"}]}'])
})
