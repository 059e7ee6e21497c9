import { describe, expect, test } from 'bun:test'

import { dataEvent, startFakeUpstream, type Script } from '../../../test/support/fake-upstream.ts'
import { usageOf } from '../../canonical/usage.ts'
import { asking, streaming, textOf, finishIn, argumentsIn, CREATED, ended, saying, item } from './ask.test-kit.ts'

const upstream = await startFakeUpstream()
const ask = asking(upstream)

describe('a stream', () => {
  const call = { type: 'function_call', id: 'fc_1', call_id: 'call_1', name: 'f' }
  const piece = (delta: string): object => ({ type: 'response.function_call_arguments.delta', output_index: 0, item_id: 'fc_1', delta })
  const allArguments = { type: 'response.function_call_arguments.done', output_index: 0, item_id: 'fc_1', arguments: '{"a":1}' }

  test.each<[string, object[]]>([
    [
      'in pieces',
      [
        item('added', 0, { ...call, arguments: '' }),
        piece('{"a"'),
        piece(':1}'),
        allArguments,
        item('done', 0, { ...call, arguments: '{"a":1}' }),
      ],
    ],
    ['whole at first', [item('added', 0, { ...call, arguments: '{"a":1}' })]],
    [
      'whole at first and at the end',
      [item('added', 0, { ...call, arguments: '{"a":1}' }), item('done', 0, { ...call, arguments: '{"a":1}' })],
    ],
    ['whole with the end of the arguments', [item('added', 0, { ...call, arguments: '' }), allArguments]],
    ['whole with the end of the item', [item('done', 0, { ...call, arguments: '{"a":1}' })]],
    [
      'in pieces whose end is missing',
      [item('added', 0, { ...call, arguments: '' }), piece('{"a":'), item('done', 0, { ...call, arguments: '{"a":1}' })],
    ],
    ['in the last event only', [item('added', 0, { ...call, arguments: '' }), ended({ output: [{ ...call, arguments: '{"a":1}' }] })]],
    [
      'with another id in each event',
      [
        item('added', 0, { ...call, arguments: '' }),
        { ...piece('{"a":1}'), item_id: 'x' },
        item('done', 0, { ...call, id: 'y', arguments: '{"a":1}' }),
      ],
    ],
  ])('tells arguments that come %s once', async (_, said) => {
    const { events } = await ask(streaming(CREATED, ...said, ended()))
    expect(argumentsIn(events)).toEqual({ 'call_1 f': '{"a":1}' })
    expect(finishIn(events)).toEqual(['tool_calls completed'])
  })

  test('keeps parallel calls apart, also an empty one', async () => {
    const { events } = await ask(
      streaming(
        CREATED,
        item('added', 0, { ...call, arguments: '' }),
        item('added', 1, { ...call, id: 'fc_2', call_id: 'call_2', arguments: '' }),
        { ...piece('{"b":2}'), output_index: 1, item_id: 'fc_2' },
        piece('{"a":1}'),
        item('done', 1, { ...call, id: 'fc_2', call_id: 'call_2', arguments: '{"b":2}' }),
        item('done', 2, { ...call, id: 'fc_3', call_id: 'call_3', arguments: '' }),
        ended(),
      ),
    )
    expect(argumentsIn(events)).toEqual({ 'call_1 f': '{"a":1}', 'call_2 f': '{"b":2}', 'call_3 f': '' })
  })

  const message = { type: 'message', id: 'msg_1', role: 'assistant', content: [{ type: 'output_text', text: 'Hello', annotations: [] }] }

  test.each<[string, object[]]>([
    ['in pieces', [saying('Hel'), saying('lo'), item('done', 0, message), ended({ output: [message] })]],
    ['with the item', [item('done', 0, message), ended({ output: [message] })]],
    ['with the last event', [ended({ output: [message] })]],
    ['in pieces of which the last is missing', [saying('Hel'), item('done', 0, message), ended({ output: [message] })]],
  ])('tells text that comes %s once', async (_, said) => {
    const { events } = await ask(streaming(CREATED, ...said))
    expect(textOf(events)).toBe('Hello')
    expect(events[0]).toEqual({ type: 'start', upstreamId: 'resp_1' })
  })

  test('that begins with content has a start all the same', async () => {
    const { events } = await ask(streaming(saying('a'), ended()))
    expect(events.map(({ type }) => type)).toEqual(['start', 'text', 'finish'])
  })

  test('separates the parts of a summary by a blank line, and closes thinking without a proof', async () => {
    const summary = (summary_index: number, delta: string): object => ({
      type: 'response.reasoning_summary_text.delta',
      output_index: 0,
      item_id: 'rs_1',
      summary_index,
      delta,
    })
    const done = {
      type: 'reasoning',
      id: 'rs_1',
      summary: [
        { type: 'summary_text', text: 'One.' },
        { type: 'summary_text', text: 'Two.' },
        { type: 'summary_text', text: 'Three.' },
      ],
    }
    const { events } = await ask(streaming(CREATED, summary(0, 'On'), summary(0, 'e.'), summary(1, 'Two.'), item('done', 0, done), ended()))
    expect(textOf(events, 'reasoning')).toBe('One.\n\nTwo.\n\nThree.')
    expect(events.at(-2)).toEqual({ type: 'reasoning-end', proof: null })
  })

  test('tells thinking in full as what it is', async () => {
    const { events } = await ask(
      streaming(CREATED, { type: 'response.reasoning_text.delta', output_index: 0, content_index: 0, delta: 'Hm.' }, ended()),
    )
    expect(events[1]).toEqual({ type: 'reasoning', text: 'Hm.' })
  })

  test('tells an encrypted block without readable text, and nothing of an empty one', async () => {
    const { events } = await ask(
      streaming(
        CREATED,
        item('done', 0, { type: 'reasoning', id: 'rs_0', summary: [] }),
        item('done', 1, { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'gA' }),
        ended(),
      ),
    )
    expect(events.slice(1, -1)).toEqual([
      { type: 'reasoning-end', proof: { format: 'openai-responses-v1', kind: 'encrypted', data: 'gA', id: 'rs_1' } },
    ])
  })

  test('counts searches alone: a page that was opened or looked through is none', async () => {
    const acted = (position: number, type: string) => [
      item('added', position, { type: 'web_search_call', id: `ws_${position}`, status: 'in_progress', action: { type: 'search' } }),
      item('done', position, { type: 'web_search_call', id: `ws_${position}`, status: 'completed', action: { type } }),
    ]
    const actions = ['search', 'open_page', 'find_in_page', 'search'].flatMap((type, position) => acted(position, type))
    const { events } = await ask(streaming(CREATED, ...actions, ended({ usage: { input_tokens: 10, output_tokens: 0 } })))
    expect(events.findLast((event) => event.type === 'usage')?.usage.webSearches).toBe(2)
  })

  test('tells refusals, sources, probabilities, pictures, and what only this dialect has', async () => {
    const source = { type: 'url_citation', url: 'https://a.example', title: 'A', start_index: 0, end_index: 1 }
    const token = { token: 'a', logprob: -0.5, top_logprobs: [{ token: 'b', logprob: -1 }] }
    const { events } = await ask(
      streaming(
        CREATED,
        item('added', 0, { type: 'web_search_call', id: 'ws_1', status: 'in_progress' }),
        item('done', 0, { type: 'web_search_call', id: 'ws_1', status: 'completed' }),
        { ...saying('a'), output_index: 1, logprobs: [token] },
        { type: 'response.output_text.annotation.added', output_index: 1, content_index: 0, annotation: source },
        item('done', 1, {
          type: 'message',
          content: [{ type: 'output_text', text: 'a', logprobs: [token], annotations: [source, { type: 'file_citation', file_id: 'f' }] }],
        }),
        { type: 'response.refusal.delta', output_index: 2, content_index: 0, delta: 'No.' },
        item('done', 3, { type: 'image_generation_call', id: 'ig_1', result: 'AA==', output_format: 'webp' }),
        ended({ usage: { input_tokens: 10, input_tokens_details: { cached_tokens: 0, cache_write_tokens: 4 }, output_tokens: 0 } }),
      ),
    )
    const soFar = { unreportedInput: true, unreportedOutput: true }
    const searched = { type: 'usage' as const, usage: usageOf({ webSearches: 1, ...soFar }) }
    expect(events.slice(1)).toEqual([
      { type: 'unknown', kind: 'web_search_call' },
      searched,
      { type: 'text', text: 'a' },
      { type: 'logprobs', content: [{ token: 'a', logprob: -0.5, bytes: null, top_logprobs: [{ token: 'b', logprob: -1, bytes: null }] }] },
      { type: 'citation', citation: { url: 'https://a.example', title: 'A', content: null, start: 0, end: 1 } },
      { type: 'unknown', kind: 'file_citation' },
      { type: 'refusal', text: 'No.' },
      { ...searched, underWay: usageOf({ webSearches: 1, drawn: 6240, ...soFar }) },
      { type: 'image', url: 'data:image/webp;base64,AA==' },
      { type: 'usage', usage: usageOf({ webSearches: 1, drawn: 6240, ...soFar }) },
      {
        type: 'usage',
        usage: usageOf({ inputFresh: 6, inputCacheWrite5m: 4, unsplitWrites: 4, webSearches: 1, drawn: 6240, estimated: true }),
      },
      { type: 'finish', reason: 'stop', native: 'completed' },
    ])
  })

  test.each<[object, string]>([
    [ended(), 'stop completed'],
    [ended({ incomplete_details: { reason: 'max_output_tokens' } }, 'incomplete'), 'length max_output_tokens'],
    [ended({ incomplete_details: { reason: 'content_filter' } }, 'incomplete'), 'content_filter content_filter'],
    [ended({ incomplete_details: null }, 'incomplete'), 'length incomplete'],
  ])('that ends with %j finishes: %s', async (last, finish) => {
    expect(finishIn((await ask(streaming(CREATED, saying('a'), last))).events)).toEqual([finish])
  })

  test('may name its events outside of their data', async () => {
    const { events } = await ask(async (exchange) => {
      await exchange.head(200)
      await exchange.piece('event: response.output_text.delta\ndata: {"delta":"a"}\n\nevent: response.completed\ndata: {"response":{}}\n\n')
    })
    expect([textOf(events), finishIn(events)]).toEqual(['a', ['stop completed']])
  })

  test('may end without the blank line of its last event', async () => {
    const { events, error } = await ask(async (exchange) => {
      await exchange.head(200)
      await exchange.piece(dataEvent(JSON.stringify(saying('a'))) + `data: ${JSON.stringify(ended())}`)
      await exchange.done()
    })
    expect([textOf(events), finishIn(events), error]).toEqual(['a', ['stop completed'], null])
  })

  const DONE = 'data: [DONE]\n\n'
  const begun = dataEvent(JSON.stringify(CREATED)) + dataEvent(JSON.stringify(saying('a')))

  test.each<[string, Script]>([
    ['ends cleanly', async (exchange) => (await exchange.head(200), await exchange.piece(begun), exchange.done())],
    ['ends with its end marker only', async (exchange) => (await exchange.head(200), await exchange.piece(begun + DONE), exchange.done())],
    [
      'ends within an event',
      async (exchange) => (await exchange.head(200), await exchange.piece(`${begun}data: {"type":"resp`), exchange.done()),
    ],
    ['sends what is not JSON', async (exchange) => (await exchange.head(200), await exchange.piece(`${begun}data: <html>\n\n`))],
    ['sends a list', async (exchange) => (await exchange.head(200), await exchange.piece(`${begun}data: []\n\n`))],
  ])('that %s before its terminal event is a failure of the provider', async (_, script) => {
    const { events, error } = await ask(script)
    expect(error?.type).toBe('provider_unavailable')
    expect([textOf(events), finishIn(events)]).toEqual(['a', []])
  })

  test('whose connection is cut is a failure of the provider', async () => {
    const { events, error } = await ask(async (exchange) => (await exchange.head(200), await exchange.piece(begun), exchange.end()))
    expect([error?.type, finishIn(events)]).toEqual(['provider_unavailable', []])
  })
})
