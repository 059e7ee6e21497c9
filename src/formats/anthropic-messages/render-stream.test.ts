import { describe, expect, test } from 'bun:test'

import type Anthropic from '@anthropic-ai/sdk'
import * as fc from 'fast-check'

import {
  answerEvents,
  anthropic,
  args,
  base64Of,
  call,
  decoded,
  finish,
  frames,
  HEAD,
  METADATA,
  emptyContents,
  payloads,
  proofData,
  refusal,
  contentsOf,
  TAIL,
  text,
  used,
} from '../../../test/support/answers.ts'
import type { AnswerContents } from '../../../test/support/answers.ts'
import type { ModelEvent } from '../../canonical/event.ts'
import { pictureIn } from './picture-text.ts'
import { UNSIGNED } from '../../canonical/reasoning.ts'
import { GatewayError } from '../../errors.ts'
import { renderAnswer as rendering } from './render.ts'
import { COUNTS, end, frame, openStream, render, start, textBlock, toolBlock } from './render-stream.test-kit.ts'
import { atOnce } from '../../lib/steps.ts'

const renderAnswer = (...given: Parameters<typeof rendering>): string => atOnce(rendering(...given))

describe('the bytes of a stream', () => {
  test('text: the input is estimated at the start, the usage is sent at the end', () => {
    expect(render({ type: 'start', upstreamId: 'u' }, text('Hi'), text(''), text(' you'), finish('stop', 'eos'), used)).toBe(
      start() + textBlock(0, 'Hi', ' you') + end('end_turn'),
    )
  })

  test('if the provider counted the input before the first content, its counts are sent at the start', () => {
    expect(render(used, text('Hi'), finish('stop'))).toBe(start(COUNTS) + textBlock(0, 'Hi') + end('end_turn'))
  })

  test('two parallel tool calls, woven into each other, become two blocks, one after the other', () => {
    expect(render(call(0, 'a'), args(0, '{"x"'), call(1, 'b'), args(1, '{"y"'), args(0, ':1}'), args(1, ':2}'), finish('tool_calls'))).toBe(
      start() + toolBlock(0, 0, 'a', '{\\"x\\"', ':1}') + toolBlock(1, 1, 'b', '{\\"y\\"', ':2}') + end('tool_use'),
    )
  })

  test('two tool calls one after the other are streamed as they come', () => {
    const stream = openStream(HEAD)
    stream.frames(frames(call(0, 'a'), args(0, '{}'), call(1, 'b')))
    expect(stream.frames(frames(args(1, '{"y":')))).toBe(
      frame('content_block_delta', ',"index":1,"delta":{"type":"input_json_delta","partial_json":"{\\"y\\":"}'),
    )
  })

  test('a call without arguments has an empty object and a closing event, and the reason says that a tool was called', () => {
    expect(render(call(0, 'a'), call(1, 'b'), args(1, '{}'), finish('stop'))).toBe(
      start() + toolBlock(0, 0, 'a', '{}') + toolBlock(1, 1, 'b', '{}') + end('tool_use'),
    )
  })

  test('text and a tool call with whole arguments in the very first frame', () => {
    const stream = openStream(HEAD)
    expect(stream.frames([{ events: [text('Hi'), call(0, 'a'), args(0, '{"x":1}')] }]) + stream.finish(TAIL)).toBe(
      start() + textBlock(0, 'Hi') + toolBlock(1, 0, 'a', '{\\"x\\":1}') + end('tool_use'),
    )
  })

  test('a refusal is sent as text and in the details of the end', () => {
    expect(render(refusal('No.'), finish('stop'))).toBe(
      start() + textBlock(0, 'No.') + end('refusal', '{"type":"refusal","category":null,"explanation":"No."}'),
    )
  })

  test('length', () => {
    expect(render(text('Hi'), finish('length'))).toBe(start() + textBlock(0, 'Hi') + end('max_tokens'))
  })

  test('an answer that says nothing, with and without its end, still has its start and its end', () => {
    expect(render(finish('stop'))).toBe(start() + end('end_turn'))
    expect(render()).toBe(start() + end('end_turn'))
  })

  test('the routing metadata rides on message_stop', () => {
    expect(openStream(HEAD).finish({ ...TAIL, metadata: METADATA })).toEndWith(
      frame('message_stop', ',"service_metadata":{"strategy":"direct"}') + 'data: [DONE]\n\n',
    )
  })
})

describe('a failure', () => {
  const error = new GatewayError('provider_overloaded', 'Acme is busy.')
  const failed =
    frame('error', ',"error":{"type":"overloaded_error","message":"Acme is busy.","error_type":"provider_overloaded"}') + 'data: [DONE]\n\n'

  test('before anything is the error event alone, after text it follows the open block', () => {
    expect(openStream(HEAD).fail(error, null)).toBe(failed)
    const stream = openStream(HEAD)
    stream.frames(frames(text('Hi')))
    expect(stream.fail(error, TAIL)).toBe(failed)
  })

  test('tells its facts beside the error, except those of a 500, which is masked', () => {
    const facts = { metadata: { provider_code: 'x' } }
    const tail = { ...TAIL, metadata: METADATA }
    expect(openStream(HEAD).fail(new GatewayError('rate_limit_exceeded', 'Wait.', facts), tail)).toBe(
      frame(
        'error',
        ',"error":{"type":"rate_limit_error","message":"Wait.","error_type":"rate_limit_exceeded"},' +
          '"metadata":{"provider_code":"x"},"service_metadata":{"strategy":"direct"}',
      ) + 'data: [DONE]\n\n',
    )
    expect(openStream(HEAD).fail(new GatewayError('server', 'secret', facts), tail)).toBe(
      frame('error', ',"error":{"type":"api_error","message":"Internal Server Error","error_type":"server"}') + 'data: [DONE]\n\n',
    )
  })

  test('is thrown by the official client, also as the first event', async () => {
    const request = { model: 'm', max_tokens: 1, messages: [] }
    expect(anthropic(failed).messages.stream(request).finalMessage()).rejects.toThrow('Acme is busy.')
  })
})

test('nothing can be written after the end', () => {
  const finished = openStream(HEAD)
  finished.finish(TAIL)
  expect(() => finished.frames([])).toThrow()
  expect(() => finished.fail(new GatewayError('server'), null)).toThrow()
})

const said = (content: readonly Anthropic.ContentBlock[]): AnswerContents => {
  const all = emptyContents()
  for (const each of content) {
    const picture = each.type === 'text' ? pictureIn(each.text) : null
    if (picture !== null) all.images.push(base64Of(picture))
    else if (each.type === 'text') {
      all.text += each.text
      for (const citation of each.citations ?? []) if (citation.type === 'web_search_result_location') all.sources.push(citation.url)
    } else if (each.type === 'thinking') {
      all.reasoning += each.thinking
      if (each.signature !== UNSIGNED) all.proofs.push(proofData(each.signature))
    } else if (each.type === 'redacted_thinking') all.proofs.push(proofData(each.data))
    else if (each.type === 'tool_use') all.calls.push({ id: each.id, name: each.name, arguments: JSON.stringify(each.input) })
  }
  return all
}

/** Refusals are rendered as text in this dialect, in their place among the text. */
const expected = (events: readonly ModelEvent[]): AnswerContents =>
  contentsOf(events.map((event) => (event.type === 'refusal' ? { ...event, type: 'text' } : event)))

test('property: the official client reads what the model said; one block is open at a time; indices are dense; one end', async () => {
  await fc.assert(
    fc.asyncProperty(answerEvents, async (events) => {
      const sent = render(...events)
      const all = payloads(sent)
      expect(decoded(sent).map((event) => event.event)).toEqual([...all.map((event) => event.type), null])

      let open: number | null = null
      let next = 0
      for (const event of all.slice(1, -2)) {
        if (event.type === 'content_block_start') {
          expect([open, event.index]).toEqual([null, next++])
          open = event.index
        } else expect<number | null>(event.index).toBe(open)
        if (event.type === 'content_block_stop') open = null
      }
      expect(open).toBeNull()
      expect(all.slice(-2).map((event) => event.type)).toEqual(['message_delta', 'message_stop'])
      expect(sent).toEndWith('data: [DONE]\n\n')

      const read = await anthropic(sent).messages.stream({ model: 'm', max_tokens: 1, messages: [] }).finalMessage()
      const normal = expected(events)
      for (const each of normal.calls) each.arguments = JSON.stringify(JSON.parse(each.arguments))
      expect(said(read.content)).toEqual(normal)
      expect(read.usage).toMatchObject({ input_tokens: 10, output_tokens: 8, cache_read_input_tokens: 4 })
      expect(said(JSON.parse(renderAnswer(HEAD, { events }, TAIL)).content)).toEqual(normal)
    }),
  )
})
