import { expect, test } from 'bun:test'

import { args, call, finish, frames, GEMINI, proven, reasoning, text, used } from '../../../test/support/answers.ts'
import type { ModelEvent } from '../../canonical/event.ts'
import { readModelTurn } from './model-turn.ts'

const isServerTool = (name: string): boolean => name.startsWith('service_')
const START: ModelEvent = { type: 'start', upstreamId: 'up_1' }

const passed = (events: readonly ModelEvent[], isFirst = true) => {
  const turn = readModelTurn(isServerTool, isFirst)
  return { turn, events: turn.take(frames(...events)).flatMap((frame) => frame.events) }
}

test('the client sees the text and only its own calls, numbered anew; those after a call of the service come later', () => {
  const { events, turn } = passed([
    START,
    text('Let me look.'),
    call(0, 'book_table'),
    args(0, '{"seats":1}'),
    call(1, 'service_web_search'),
    args(1, '{"query":'),
    call(2, 'book_table'),
    args(1, '"bun"}'),
    args(2, '{"seats":2}'),
    finish('tool_calls'),
    used,
  ])
  expect(events).toEqual([
    START,
    text('Let me look.'),
    { type: 'tool-call', index: 0, id: 'call_0', name: 'book_table' },
    args(0, '{"seats":1}'),
  ])
  expect(turn.held.flatMap((frame) => frame.events)).toEqual([
    { type: 'tool-call', index: 1, id: 'call_2', name: 'book_table' },
    args(1, '{"seats":2}'),
  ])
  expect(turn.serverCalls).toEqual([{ id: 'call_1', name: 'service_web_search', arguments: '{"query":"bun"}', position: 1 }])
  expect(turn.clientCalls).toBe(2)
  expect(turn.finish).toMatchObject({ reason: 'tool_calls' })
})

test('texts that the provider set apart go back to the model as texts of their own', () => {
  const { turn } = passed([text('One.'), { type: 'text-break' }, text('Two'), text('.')])
  expect(turn.parts()).toEqual([
    { type: 'text', text: 'One.' },
    { type: 'text', text: 'Two.' },
  ])
})

test('a later turn does not begin the answer again', () => {
  expect(passed([START, text('Hi')], false).events).toEqual([text('Hi')])
})

test('the whole turn goes back to the model: thinking with its proof, text, and every call with its arguments', () => {
  const { turn } = passed([
    reasoning('I should '),
    reasoning('search.'),
    proven(GEMINI),
    text('One '),
    text('moment.'),
    call(0, 'service_datetime'),
    call(1, 'book_table', GEMINI),
    args(1, '{"seats":2}'),
    finish('tool_calls'),
  ])
  expect(turn.parts()).toEqual([
    { type: 'reasoning', text: 'I should search.', proof: GEMINI },
    { type: 'text', text: 'One moment.' },
    { type: 'tool-call', id: 'call_0', name: 'service_datetime', arguments: '{}' },
    { type: 'tool-call', id: 'call_1', name: 'book_table', proof: GEMINI, arguments: '{"seats":2}' },
  ])
})
