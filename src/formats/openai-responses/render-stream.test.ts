import { describe, expect, test } from 'bun:test'

import { StreamEvents$inboundSchema } from '@openrouter/sdk/models/streamevents.js'
import * as fc from 'fast-check'
import type OpenAI from 'openai'

import {
  answerEvents,
  args,
  call,
  decoded,
  finish,
  frames,
  HEAD,
  METADATA,
  emptyContents,
  openAi,
  payloads,
  proofData,
  refusal,
  contentsOf,
  TAIL,
  text,
  used,
} from '../../../test/support/answers.ts'
import type { AnswerContents } from '../../../test/support/answers.ts'
import { GatewayError } from '../../errors.ts'
import { renderAnswer as rendering } from './render.ts'
import {
  USAGE,
  type State,
  response,
  stream,
  render,
  message,
  textPart,
  callItem,
  textItem,
  callEvents,
  completed,
  openStream,
} from './render-stream.test-kit.ts'
import { atOnce } from '../../lib/steps.ts'

const renderAnswer = (...given: Parameters<typeof rendering>): string => atOnce(rendering(...given))

describe('the bytes of a stream', () => {
  test('text', () => {
    expect(render({ type: 'start', upstreamId: 'u' }, text('Hi'), text(''), text(' you'), finish('stop'), used)).toBe(
      stream(...textItem(0, ['Hi', ' you']), completed(message('msg_abc123_0', 'completed', textPart('Hi you')))),
    )
  })

  test('two parallel tool calls, woven into each other, become two items, one after the other', () => {
    expect(render(call(0, 'a'), args(0, '{"x"'), call(1, 'b'), args(1, '{"y"'), args(0, ':1}'), args(1, ':2}'), finish('tool_calls'))).toBe(
      stream(
        ...callEvents(0, 0, 'a', ['{\\"x\\"', ':1}']),
        ...callEvents(1, 1, 'b', ['{\\"y\\"', ':2}']),
        completed(callItem('fc_abc123_0', 'completed', 0, 'a', '{\\"x\\":1}'), callItem('fc_abc123_1', 'completed', 1, 'b', '{\\"y\\":2}')),
      ),
    )
  })

  test('a call that waited for another one delivers what it has in one piece', () => {
    expect(render(call(0, 'a'), call(1, 'b'), args(1, '{'), args(1, '}'), args(0, '{'), args(0, '}'), finish('tool_calls'))).toBe(
      stream(
        ...callEvents(0, 0, 'a', ['{', '}']),
        ...callEvents(1, 1, 'b', ['{}']),
        completed(callItem('fc_abc123_0', 'completed', 0, 'a', '{}'), callItem('fc_abc123_1', 'completed', 1, 'b', '{}')),
      ),
    )
  })

  test('a call without arguments has an empty object', () => {
    expect(render(call(0, 'a'), finish('tool_calls'))).toBe(
      stream(...callEvents(0, 0, 'a', ['{}']), completed(callItem('fc_abc123_0', 'completed', 0, 'a', '{}'))),
    )
  })

  test('text and a tool call in one frame', () => {
    const renderer = openStream(HEAD)
    expect(renderer.frames([{ events: [text('Hi'), call(0, 'a'), args(0, '{}')] }]) + renderer.finish(TAIL)).toBe(
      stream(
        ...textItem(0, ['Hi']),
        ...callEvents(1, 0, 'a', ['{}']),
        completed(message('msg_abc123_0', 'completed', textPart('Hi')), callItem('fc_abc123_1', 'completed', 0, 'a', '{}')),
      ),
    )
  })

  test('a refusal is a part of a message that is complete; text before it is another part', () => {
    const place = (content: number) => `"item_id":"msg_abc123_0","output_index":0,"content_index":${content}`
    const part = '{"type":"refusal","refusal":"No."}'
    const item = message('msg_abc123_0', 'completed', textPart('Hm.'), part)
    expect(render(text('Hm.'), refusal('No.'), finish('content_filter'))).toBe(
      stream(
        ...textItem(0, ['Hm.']).slice(0, -1),
        ['response.content_part.added', `${place(1)},"part":{"type":"refusal","refusal":""}`],
        ['response.refusal.delta', `${place(1)},"delta":"No."`],
        ['response.refusal.done', `${place(1)},"refusal":"No."`],
        ['response.content_part.done', `${place(1)},"part":${part}`],
        ['response.output_item.done', `"output_index":0,"item":${item}`],
        completed(item),
      ),
    )
  })

  test('length makes the response, and the item that it cut, incomplete', () => {
    expect(render(text('Hi'), finish('length'))).toBe(
      stream(...textItem(0, ['Hi'], 'incomplete'), [
        'response.incomplete',
        response('incomplete', {
          details: '{"reason":"max_output_tokens"}',
          output: [message('msg_abc123_0', 'incomplete', textPart('Hi'))],
        }),
      ]),
    )
  })

  test('a filter that cut the answer makes it incomplete', () => {
    expect(payloads(render(text('Hi'), finish('content_filter'))).at(-1)).toMatchObject({
      type: 'response.incomplete',
      response: { status: 'incomplete', incomplete_details: { reason: 'content_filter' } },
    })
  })

  test('an answer that says nothing, with and without its end, is complete', () => {
    expect(render(finish('stop'))).toBe(stream(completed()))
    expect(render()).toBe(stream(completed()))
  })

  test('the routing metadata rides on the final response', () => {
    expect(openStream(HEAD).finish({ ...TAIL, metadata: METADATA })).toContain(`"usage":${USAGE},"service_metadata":{"strategy":"direct"}}`)
  })
})

describe('a failure', () => {
  const error = new GatewayError('timeout', 'Acme is silent.')
  const failed = (state: State): [string, string] => [
    'response.failed',
    response('failed', {
      error: '{"code":"server_error","message":"Acme is silent.","metadata":{"error_type":"timeout"}}',
      more: ',"error_type":"timeout"',
      ...state,
    }),
  ]

  test('before anything still has the whole lifecycle', () => {
    expect(openStream(HEAD).fail(error, null)).toBe(stream(failed({ usage: 'null' })))
  })

  test('after text keeps what was said, as an item that is not done', () => {
    const renderer = openStream(HEAD)
    const sent = renderer.frames(frames(text('Hi'))) + renderer.fail(error, TAIL)
    expect(sent).toBe(
      stream(...textItem(0, ['Hi']).slice(0, 3), failed({ output: [message('msg_abc123_0', 'incomplete', textPart('Hi'))] })),
    )
  })

  test('within a tool call does not hand the call out as done', () => {
    const renderer = openStream(HEAD)
    const sent = renderer.frames(frames(call(0, 'a'), args(0, '{"x'))) + renderer.fail(error, TAIL)
    expect(sent).not.toContain('output_item.done')
    expect(payloads(sent).at(-1)).toMatchObject({ response: { output: [{ arguments: '{"x', status: 'incomplete' }] } })
  })

  test('of length is an incomplete response, with what was said', () => {
    const renderer = openStream(HEAD)
    const sent = renderer.frames(frames(text('Hi'))) + renderer.fail(new GatewayError('context_length_exceeded'), TAIL)
    expect(sent).toBe(render(text('Hi'), finish('length')))
  })

  test('tells its facts, except those of a 500, which is masked', () => {
    const facts = { metadata: { provider_code: 'x' } }
    expect(payloads(openStream(HEAD).fail(new GatewayError('rate_limit_exceeded', 'Wait.', facts), null)).at(-1)).toMatchObject({
      response: { error: { code: 'rate_limit_exceeded', message: 'Wait.', metadata: { provider_code: 'x' } } },
    })
    const masked = openStream(HEAD).fail(new GatewayError('server', 'secret', facts), { ...TAIL, metadata: METADATA })
    expect(masked).toContain('"error":{"code":"server_error","message":"Internal Server Error","metadata":{"error_type":"server"}}')
    expect(masked).not.toContain('service_metadata')
  })

  test('is read by the official client as a failed response', async () => {
    const renderer = openStream(HEAD)
    const sent = renderer.frames(frames(text('Hi'))) + renderer.fail(error, TAIL)
    const read = await openAi(sent).responses.stream({ model: 'm', input: 'x' }).finalResponse()
    expect(read).toMatchObject({ status: 'failed', error: { code: 'server_error' }, output_text: 'Hi' })
  })
})

test('nothing can be written after the end', () => {
  const finished = openStream(HEAD)
  finished.finish(TAIL)
  expect(() => finished.frames([])).toThrow()
  expect(() => finished.fail(new GatewayError('server'), null)).toThrow()
})

test('arguments of a call that is not open fail the stream, which can then still end', () => {
  const renderer = openStream(HEAD)
  expect(() => renderer.frames(frames(args(3, '{')))).toThrow(GatewayError)
  expect(payloads(renderer.fail(new GatewayError('provider_unavailable'), null)).map((each) => each.sequence_number)).toEqual([0, 1, 2])
})

const said = (output: readonly OpenAI.Responses.ResponseOutputItem[]): AnswerContents => {
  const all = emptyContents()
  for (const item of output) {
    if (item.type === 'function_call') all.calls.push({ id: item.call_id, name: item.name, arguments: item.arguments })
    if (item.type === 'image_generation_call') all.images.push(item.result ?? '')
    if (item.type === 'reasoning') {
      for (const part of [...item.summary, ...(item.content ?? [])]) all.reasoning += part.text
      if (typeof item.encrypted_content === 'string') all.proofs.push(proofData(item.encrypted_content))
    }
    if (item.type !== 'message') continue
    for (const part of item.content) {
      if (part.type === 'refusal') all.refusal += part.refusal
      else {
        all.text += part.text
        for (const annotation of part.annotations) if (annotation.type === 'url_citation') all.sources.push(annotation.url)
      }
    }
  }
  return all
}

test('property: the official client reads what the model said; strict clients take every event; numbers and indices are dense', async () => {
  await fc.assert(
    fc.asyncProperty(answerEvents, async (events) => {
      const sent = render(...events)
      const all = payloads(sent)
      // The strict schemas mark an unknown value, at any depth, instead of refusing it.
      for (const event of all) expect(JSON.stringify(StreamEvents$inboundSchema.parse(event))).not.toContain('"UNKNOWN"')
      expect(decoded(sent).map((event) => event.event)).toEqual([...all.map((event) => event.type), null])
      expect(all.map((event) => event.sequence_number)).toEqual(all.map((_, at) => at))

      const lifecycle = all.filter((event) => event.type.startsWith('response.output_item.'))
      const items = all.at(-1)!.response.output
      expect(lifecycle.map((event) => [event.type.slice(21), event.output_index])).toEqual(
        items.flatMap((_: unknown, at: number) => [
          ['added', at],
          ['done', at],
        ]),
      )
      expect(all.filter((event) => /^response\.(completed|incomplete|failed)$/.test(event.type))).toEqual(all.slice(-1))
      expect(sent).toEndWith('data: [DONE]\n\n')

      const cut = all.at(-1)!.type === 'response.incomplete'
      const expected = contentsOf(events)
      const read = await openAi(sent).responses.stream({ model: 'm', input: 'x' }).finalResponse()
      expect(said(read.output)).toEqual(expected)
      if (!cut) expect(items.every((item) => 'status' in item && item.status === 'completed')).toBe(true)
      expect(JSON.parse(renderAnswer(HEAD, { events }, TAIL)).output).toEqual(items)
    }),
  )
})
