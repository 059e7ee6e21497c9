import { describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'

import { anthropic, decoded, finish, HEAD, METADATA, payloads, TAIL, text } from '../../../test/support/answers.ts'
import type { Frame, ModelEvent } from '../../canonical/event.ts'
import { GatewayError } from '../../errors.ts'
import { openStream } from './render-stream.test-kit.ts'

const frame = (native: string, ...events: ModelEvent[]): Frame => ({ native: { dialect: 'messages', json: native }, events })
const named = (type: string, data: string): string => `event: ${type}\ndata: ${data}\n\n`

/** The text sent before the end for these events, each in a frame of its own. */
const relayed = (...natives: readonly string[]): string => {
  const stream = openStream(HEAD)
  return natives.map((native) => stream.frames([frame(native)])).join('')
}

/** Members that strict clients need, besides those under test. */
const REST = '"stop_sequence":null,"stop_details":null,"container":null'
const COUNTED = '"output_tokens_details":null,"server_tool_use":null,"service_tier":"standard","inference_geo":null,"speed":null'
const USED = `"usage":{"input_tokens":9,"output_tokens":1,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"cache_creation":null,${COUNTED}}`
const START = `{"type":"message_start","message":{"model":"m","id":"msg_up","type":"message","role":"assistant","content":[],"stop_reason":null,${REST},${USED},"x":1.0}}`
const OUR_START = `{"type":"message_start","message":{"model":"acme/one","id":"msg_abc123","type":"message","role":"assistant","content":[],"stop_reason":null,${REST},${USED},"x":1.0,"provider":"Acme"}}`
const DELTA = `{"type":"message_delta","delta":{"stop_reason":"end_turn",${REST},"x":1.0},"usage":{"output_tokens":1,${COUNTED},"vendor":1.0},"context_management":{"applied_edits":[]}}`
const COUNTS =
  '"input_tokens":10,"cache_creation_input_tokens":3,"cache_read_input_tokens":4,"cache_creation":{"ephemeral_5m_input_tokens":2,"ephemeral_1h_input_tokens":1}'
const COSTS =
  '"cost":0.0015,"is_byok":false,"cost_details":{"upstream_inference_cost":0.0012,"upstream_inference_prompt_cost":0.0002,"upstream_inference_completions_cost":0.001}'
const OUR_DELTA =
  `{"type":"message_delta","delta":{"stop_reason":"end_turn",${REST},"x":1.0},"usage":{"output_tokens":8,${COUNTED},"vendor":1.0,${COUNTS},${COSTS}},` +
  '"context_management":{"applied_edits":[]}}'

test('blocks that a server never ends are ended before the message is, each once', () => {
  const begun = (index: number): string => `{"type":"content_block_start","index":${index},"content_block":{"type":"text","text":""}}`
  const stop = (index: number): string => named('content_block_stop', `{"type":"content_block_stop","index":${index}}`)
  const sent = relayed(START, begun(0), begun(1), '{"type":"content_block_stop","index":0}', begun(2), DELTA, DELTA)
  expect(sent.slice(sent.indexOf('{"type":"content_block_start","index":2'))).toBe(
    `${begun(2)}\n\n${stop(1)}${stop(2)}${named('message_delta', DELTA)}`,
  )
  expect(sent.split(stop(0)).length).toBe(2)
  const ended = openStream(HEAD)
  expect(ended.frames([frame(START), frame(begun(0))]) + ended.finish(TAIL)).toContain(`${stop(0)}event: message_delta`)
})

describe('an event of the same dialect', () => {
  test.each([
    '{"type":"content_block_delta","index":0,"delta":{"type":"new_delta","y":1.0,"text":"\\u00e9"}}',
    '{ "index":0, "type":"content_block_start", "content_block":{"type":"server_tool_use","input":{}} }',
    '{"type":"content_block_stop","index":0}',
    '{"type":"message_new","index":0}',
  ])('is passed on to the byte, under its own name: %s', (native) => {
    expect(relayed(START, native)).toBe(named('message_start', OUR_START) + named(JSON.parse(native).type, native))
  })

  test('the start has our id, model and provider in it, and comes once', () => {
    expect(relayed(START, START)).toBe(named('message_start', OUR_START))
  })

  test('the start gets the members that strict clients need and the upstream left out', () => {
    const [start] = payloads(relayed('{"type":"message_start","message":{"id":"u","usage":{"input_tokens":9}}}'))
    expect(start).toMatchObject({
      type: 'message_start',
      message: {
        id: 'msg_abc123',
        model: 'acme/one',
        provider: 'Acme',
        type: 'message',
        role: 'assistant',
        content: [],
        stop_reason: null,
        stop_sequence: null,
        stop_details: null,
        container: null,
        usage: {
          input_tokens: 9,
          output_tokens: 0,
          cache_creation_input_tokens: null,
          cache_read_input_tokens: null,
          cache_creation: null,
          output_tokens_details: null,
          server_tool_use: null,
          service_tier: null,
          inference_geo: null,
          speed: null,
        },
      },
    })
  })

  test('cannot end its data early by a line end between tokens', () => {
    expect(relayed('{"type":"content_block_stop",\n"index":0}')).toBe(
      named('content_block_stop', '{"type":"content_block_stop", "index":0}'),
    )
  })

  test.each(['{"type":"ping"}', '{"type":"vendor_event"}', '{"index":0}', '{"type":"content_block_\\n"}'])(
    'that clients need not know is not sent: %s',
    (native) => expect(relayed(START, native)).toBe(relayed(START)),
  )
})

describe('the end', () => {
  test('is held back until the cost is known, and is the upstream’s own but for what is ours', () => {
    const stream = openStream(HEAD)
    stream.frames([frame(START), frame('{"type":"content_block_stop","index":0}')])
    expect(stream.frames([frame(DELTA, finish('stop'))]) + stream.frames([frame('{"type":"message_stop","amazon":{"x":1.0}}')])).toBe('')
    expect(stream.finish({ ...TAIL, metadata: METADATA })).toBe(
      named('message_delta', OUR_DELTA) +
        named('message_stop', '{"type":"message_stop","amazon":{"x":1.0},"service_metadata":{"strategy":"direct"}}') +
        'data: [DONE]\n\n',
    )
  })

  test('an upstream may tell it in several steps: the last one has the usage', () => {
    const stream = openStream(HEAD)
    const step = '{"type":"message_delta","delta":{},"usage":{"output_tokens":1}}'
    expect(stream.frames([frame(START), frame(step), frame(DELTA)])).toBe(named('message_start', OUR_START) + named('message_delta', step))
    expect(stream.finish(TAIL)).toStartWith(named('message_delta', OUR_DELTA) + named('message_stop', '{"type":"message_stop"}'))
  })

  test('that the upstream does not tell is ours, as is a start', () => {
    const stream = openStream(HEAD)
    stream.frames([frame('{"type":"content_block_stop","index":0}', text('Hi'), finish('length'))])
    const sent = payloads(stream.finish(TAIL))
    expect(sent.map(({ type }) => type)).toEqual(['message_start', 'message_delta', 'message_stop'])
    expect(sent[1]).toMatchObject({ delta: { stop_reason: 'max_tokens' }, usage: { output_tokens: 8, cost: 0.0015 } })
  })
})

test('a failure is the error event', () => {
  const stream = openStream(HEAD)
  stream.frames([frame(START), frame(DELTA)])
  expect(stream.fail(new GatewayError('timeout', 'Acme is silent.'), TAIL)).toBe(
    named('error', '{"type":"error","error":{"type":"overloaded_error","message":"Acme is silent.","error_type":"timeout"}}') +
      'data: [DONE]\n\n',
  )
})

const recordings = [
  'anthropic-clear-thinking.1',
  'anthropic-json-tool.1',
  'anthropic-refusal',
  'anthropic-text',
  'anthropic-tool-no-args',
  'anthropic-web-search-tool.1',
]

for (const name of recordings) {
  describe(`the recorded stream ${name}`, () => {
    const recorded = readFileSync(`${import.meta.dir}/../../../test/fixtures/recorded/anthropic/${name}.chunks.txt`, 'utf8')
      .split('\n')
      .filter((line) => line !== '')
    const stream = openStream(HEAD)
    const sent = recorded.map((native) => stream.frames([frame(native)])).join('') + stream.finish(TAIL)
    const reported = recorded.map((native) => JSON.parse(native)).filter(({ type }) => type !== 'ping')

    test('is the upstream’s but for the members that are ours and its pings', () => {
      expect(payloads(sent) as unknown[]).toMatchObject(
        reported.map((event) => {
          if (event.type === 'message_start')
            return { ...event, message: { ...event.message, id: 'msg_abc123', model: 'acme/one', provider: 'Acme' } }
          if (event.type !== 'message_delta') return event
          return { ...event, usage: { ...event.usage, ...JSON.parse(`{"output_tokens":8,${COUNTS},${COSTS}}`) } }
        }),
      )
      for (const native of recorded) if (native.includes('"content_block_')) expect(sent).toContain(`\ndata: ${native}\n\n`)
    })

    test('names every event, begins and ends once, and is read by the official client', async () => {
      expect(decoded(sent).map(({ event }) => event)).toEqual([...reported.map(({ type }) => type), null])
      expect(reported.filter(({ type }) => type === 'message_start' || type === 'message_stop')).toHaveLength(2)
      const read = await anthropic(sent).messages.stream({ model: 'm', max_tokens: 1, messages: [] }).finalMessage()
      const blocks = reported.filter(({ type }) => type === 'content_block_start')
      expect(read.content.map(({ type }) => type)).toEqual(blocks.map((block) => block.content_block.type))
      expect(read).toMatchObject({ id: 'msg_abc123', model: 'acme/one', usage: { output_tokens: 8 } })
    })
  })
}
