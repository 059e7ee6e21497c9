import { expect, test } from 'bun:test'

import type { Frame } from '../../canonical/event.ts'
import { atOnce } from '../../lib/steps.ts'
import { AnswerCapture } from './answer-capture.ts'

const LONG = 3 * 1024 * 1024

const MIB = 1024 * 1024

const captured = (...frames: readonly Frame[]): readonly string[] | null => {
  const capture = new AnswerCapture()
  const take = capture.observing(() => undefined)
  for (const frame of frames) void take([frame])
  return atOnce(capture.writing())
}

const said = (length: number): Frame => ({ events: [{ type: 'text', text: 'x'.repeat(length) }] })

/** The end of a call of a tool. */
const called = (fault: string | null, pictureBytes: number): Frame => {
  const outcome = { text: '', fault, pictures: ['x'.repeat(pictureBytes)] }
  return { events: [{ type: 'server-tool-end', call: { id: 'c', name: 'n', arguments: '{}' }, outcome }] } as unknown as Frame
}

test('an answer that is too large to be kept is given up without a look at its text', () => {
  const unread = { dialect: 'chat', json: `{"usage":${'x'.repeat(LONG)}` } as const
  expect(captured({ events: [], native: unread })).toBeNull()
  expect(captured({ events: [{ type: 'text', text: 'x'.repeat(LONG) }] })).toBeNull()
})

test('a small one is kept', () => {
  expect(captured({ events: [{ type: 'text', text: 'Hi' }] })).toEqual(['{"events":[{"type":"text","text":"Hi"}]}'])
})

test('an answer is kept up to two megabytes in all, in whichever pieces it comes', () => {
  expect(captured(said(MIB), said(MIB - 1000))).toHaveLength(2)
  expect(captured(said(MIB), said(MIB))).toBeNull()
  expect(captured(said(LONG), said(1))).toBeNull()
  // Each of its units takes three bytes.
  expect(captured({ events: [{ type: 'text', text: '€'.repeat(MIB) }] })).toBeNull()
  const native = { dialect: 'chat', json: `{"id":"${'x'.repeat(MIB)}"}` } as const
  expect(captured({ events: [], native }, { events: [], native })).toBeNull()
})

test('an answer with a failed call of a tool, or more than a megabyte of pictures of tools, is not kept', () => {
  expect(captured(called(null, 10), said(1))).toHaveLength(2)
  expect(captured(called('timeout', 10), said(1))).toBeNull()
  expect(captured(called(null, MIB))).toHaveLength(1)
  expect(captured(called(null, MIB), called(null, 1))).toBeNull()
})

test('its counts are not kept: whoever gets it again uses nothing', () => {
  const usage = { type: 'usage', usage: { inputFresh: 12_345 } } as unknown as Frame['events'][number]
  const native = { dialect: 'chat', json: '{"id":"a","usage":{"prompt_tokens":12345}}' } as const
  expect(captured({ events: [{ type: 'text', text: 'Hi' }, usage] })).toEqual(['{"events":[{"type":"text","text":"Hi"}]}'])
  expect(captured({ events: [usage], native })?.join()).not.toContain('12345')
})
