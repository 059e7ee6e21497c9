import { describe, expect, test } from 'bun:test'

import { call, finish, frames, HEAD, OPENAI, payloads, proven, reasoning, streamed, TAIL, text } from '../../../test/support/answers.ts'
import type { ModelEvent } from '../../canonical/event.ts'
import { JsonBody } from '../../lib/json/json-body.ts'
import type { AnswerHead } from '../format.ts'
import { parsePrompt } from './parse-prompt.ts'
import { renderAnswer as rendering } from './render.ts'
import { openStream } from './render-stream.test-kit.ts'
import { atOnce } from '../../lib/steps.ts'

const renderAnswer = (...given: Parameters<typeof rendering>): string => atOnce(rendering(...given))

const headOf = (body: object, model = 'openai/gpt-5'): AnswerHead => ({ ...HEAD, model, request: JsonBody.read(JSON.stringify(body)) })

const whole = (events: readonly ModelEvent[], head: AnswerHead): readonly { type: string }[] =>
  (JSON.parse(renderAnswer(head, { events }, TAIL)) as { content: { type: string }[] }).content

/** The types of the blocks, of the whole answer and of the stream. */
const typesOf = (events: readonly ModelEvent[], head: AnswerHead): readonly (readonly string[])[] => {
  const opened = payloads(streamed(openStream(head), frames(...events))).flatMap(({ content_block: given }) => {
    const block = given as { type: string } | undefined
    return block === undefined ? [] : [block.type]
  })
  return [whole(events, head).map(({ type }) => type), opened]
}

const both = (...types: readonly string[]) => [types, types]

describe('thinking that nobody asked for', () => {
  const quiet = headOf({ model: 'a/b' })
  const thought = [reasoning('Hm.'), proven(OPENAI)]

  test('does not come before the text, readable or not', () => {
    expect(typesOf([...thought, text('Yes.'), finish('stop')], quiet)).toEqual(both('text', 'thinking'))
    expect(typesOf([proven(OPENAI), text('Yes.'), finish('stop')], quiet)).toEqual(both('text', 'redacted_thinking'))
    expect(typesOf([...thought, text('Yes.'), finish('stop')], headOf({ thinking: { type: 'disabled' } }))).toEqual(
      both('text', 'thinking'),
    )
  })

  test('stands directly before the call that it led to', () => {
    const called = [...thought, text('Let me see.'), call(0, 'look'), finish('tool_calls')]
    expect(typesOf(called, quiet)).toEqual(both('text', 'thinking', 'tool_use'))
  })

  test('is all there is where nothing was said', () => {
    expect(typesOf([...thought, finish('length')], quiet)).toEqual(both('thinking'))
  })

  test('stays where it is where it was asked for, and where Claude put it', () => {
    const said = [...thought, text('Yes.'), finish('stop')]
    for (const type of ['enabled', 'adaptive']) expect(typesOf(said, headOf({ thinking: { type } }))).toEqual(both('thinking', 'text'))
    expect(typesOf(said, headOf({}, 'anthropic/claude-opus-5.5'))).toEqual(both('thinking', 'text'))
  })

  test('is before the text again when it comes back', () => {
    const content = whole([...thought, text('Yes.'), finish('stop')], quiet)
    const body = JSON.stringify({ model: 'a/b', max_tokens: 9, messages: [{ role: 'assistant', content }] })
    const [message] = atOnce(parsePrompt(JsonBody.read(body))).messages
    expect(message?.parts.map(({ type }) => type)).toEqual(['reasoning', 'text'])
  })
})
