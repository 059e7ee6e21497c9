import { describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'

import { StreamEvents$inboundSchema } from '@openrouter/sdk/models/streamevents.js'

import {
  args,
  call,
  decoded,
  finish,
  HEAD,
  METADATA,
  openAi,
  payloads,
  reasoning,
  summary,
  TAIL,
  text,
} from '../../../test/support/answers.ts'
import type { Frame, ModelEvent } from '../../canonical/event.ts'
import { GatewayError } from '../../errors.ts'
import { isObject } from '../../lib/json/json.ts'
import { openStream as openWritten } from './render-stream.ts'
import { openStream } from './render-stream.test-kit.ts'
import { responsesUsage } from './usage.ts'

const frame = (native: string, ...events: ModelEvent[]): Frame => ({ native: { dialect: 'responses', json: native }, events })

/** The text sent before the end for these events, each in a frame of its own. */
const relayed = (...natives: readonly string[]): string => {
  const stream = openStream(HEAD)
  return natives.map((native) => stream.frames([frame(native)])).join('')
}

/** Members that strict clients need, besides those under test. */
const REST =
  '"object":"response","completed_at":null,"status":"completed","error":null,"incomplete_details":null,"instructions":null,"metadata":null,' +
  '"parallel_tool_calls":true,"temperature":null,"top_p":null,"presence_penalty":null,"frequency_penalty":null,"tool_choice":"auto","tools":[]'
const CREATED = `{"type":"response.created","sequence_number":0,"response":{"id":"resp_up","created_at":5,"model":"m",${REST},"output":[],"usage":null,"x":1.0}}`
const COMPLETED = `{"type":"response.completed","sequence_number":1,"response":{"id":"resp_up","created_at":5,"model":"m",${REST},"output":[ ],"usage":{"x":1.0,"input_tokens":1}}}`

describe('an event of the same dialect', () => {
  test.each([
    '{"type":"response.output_text.delta","sequence_number":0,"delta":"\\u00e9","logprobs":[],"obfuscation":"x","x":1.0}',
    '{ "sequence_number" : 0.0 , "type" : "response.some_new_tool_call.in_progress" }',
    '{"type":"response.some_delta","type":"response.some_delta","sequence_number":0}',
  ])('is passed on to the byte, named by its type: %s', (native) => {
    const type = JSON.parse(native).type
    expect(relayed(native)).toBe(`event: ${type}\ndata: ${native}\n\n`)
  })

  test('that carries the response has our id, model and provider in it, and all else of its own', () => {
    const ours = `"response":{"id":"resp_abc123","created_at":5,"model":"acme/one",${REST},"output":[],"usage":null,"x":1.0,"provider":"Acme"}`
    expect(relayed(CREATED)).toBe(`event: response.created\ndata: {"type":"response.created","sequence_number":0,${ours}}\n\n`)
  })

  test('cannot end its data early by a line end between tokens', () => {
    expect(relayed('{"type":"response.refusal.delta",\r\n"delta":"a","sequence_number":0}')).toBe(
      'event: response.refusal.delta\ndata: {"type":"response.refusal.delta",  "delta":"a","sequence_number":0}\n\n',
    )
  })

  test.each([
    '{"type":"keepalive","sequence_number":3}',
    '{"type":"codex.rate_limits"}',
    '{"sequence_number":3}',
    '{"type":"response.\\n"}',
  ])('that no client of the dialect knows is not sent: %s', (native) => expect(relayed(CREATED, native)).toBe(relayed(CREATED)))
})

test('a large item is relayed in steps, the same as a small one, and what comes with it stays in order', () => {
  const item = (said: string, more: string) =>
    `{"type":"response.output_item.done","sequence_number":1,"output_index":0,"item":{"type":"message","id":"m","content":[{"type":"output_text","text":${JSON.stringify(said)}${more}}]${more === '' ? '' : ',"role":"assistant","status":"completed"'}}}`
  const delta = (number: number) => `{"type":"response.output_text.delta","sequence_number":${number},"delta":"a","logprobs":[]}`
  const long = '"'.repeat(300_000)
  const written = openWritten(HEAD).frames([frame(delta(0)), frame(item(long, '')), frame(delta(2))])
  const pieces = typeof written === 'string' ? [] : [...written]
  expect(pieces.length).toBeGreaterThan(4)
  const one = (number: number) => `event: response.output_text.delta\ndata: ${delta(number)}\n\n`
  const completed = `event: response.output_item.done\ndata: ${item(long, ',"annotations":[]')}\n\n`
  expect(pieces.join('') === one(0) + completed + one(2)).toBe(true)
})

describe('the end', () => {
  test('is held back until the cost is known, and is the upstream’s own but for what is ours', () => {
    const stream = openStream(HEAD)
    stream.frames([frame(CREATED)])
    expect(stream.frames([frame(COMPLETED, finish('stop')), frame('{"type":"response.output_text.delta"}')])).toBe('')
    const { input_tokens: input, ...usage } = responsesUsage(TAIL)
    expect(stream.finish({ ...TAIL, metadata: METADATA })).toBe(
      `event: response.completed\ndata: {"type":"response.completed","sequence_number":1,"response":{"id":"resp_abc123","created_at":5,"model":"acme/one",${REST},"output":[ ],` +
        `"usage":{"x":1.0,"input_tokens":${JSON.stringify(input)},${JSON.stringify(usage).slice(1)},"provider":"Acme","service_metadata":{"strategy":"direct"}}}\n\n` +
        'data: [DONE]\n\n',
    )
  })

  test('that the upstream does not tell is ours, at its time and with its items', () => {
    const stream = openStream(HEAD)
    stream.frames([frame(CREATED), frame('{"type":"response.output_item.done","sequence_number":1,"item":{"type":"custom","x":1.0}}')])
    const sent = stream.finish(TAIL)
    expect(sent).toContain('"output":[{"type":"custom","x":1.0}]')
    expect(payloads(sent)).toMatchObject([
      { type: 'response.completed', sequence_number: 2, response: { id: 'resp_abc123', created_at: 5, completed_at: TAIL.endedSeconds } },
    ])
  })
})

describe('a failure', () => {
  const error = new GatewayError('timeout', 'Acme is silent.')
  const added = (item: string, number = 3) => `{"type":"response.output_item.added","sequence_number":${number},"item":${item}}`

  const failed = (...frames: readonly Frame[]) => {
    const stream = openStream(HEAD)
    stream.frames(frames)
    return payloads(stream.fail(error, TAIL))
  }

  test('after the start continues the numbers of what was sent, even if the upstream skipped some or has none', () => {
    expect(failed(frame(CREATED), frame('{"type":"response.in_progress","sequence_number":9,"response":{}}'))).toMatchObject([
      { type: 'response.failed', sequence_number: 2, response: { status: 'failed', created_at: 5, error_type: 'timeout', output: [] } },
    ])
    expect(failed(frame('{"type":"response.created","response":{}}'), frame('{"type":"response.x"}'))[0]?.sequence_number).toBe(2)
  })

  test.each<[string, readonly ModelEvent[], object]>([
    [
      '{"type":"message","id":"m1","role":"assistant","status":"in_progress","content":[],"phase":"commentary"}',
      [text('H'), text('i'), { type: 'refusal', text: 'No.' }],
      { id: 'm1', phase: 'commentary', status: 'incomplete', content: [{ text: 'Hi' }, { refusal: 'No.' }] },
    ],
    [
      '{"type":"reasoning","id":"r1","summary":[],"encrypted_content":"g"}',
      [summary('a'), summary('b'), reasoning('c')],
      { id: 'r1', status: 'incomplete', summary: [{ type: 'summary_text', text: 'ab' }], content: [{ text: 'c' }], encrypted_content: 'g' },
    ],
    [
      '{"type":"function_call","id":"f1","call_id":"c","name":"a","arguments":"","status":"in_progress"}',
      [call(0, 'a'), args(0, '{"x"'), args(0, ':')],
      { id: 'f1', arguments: '{"x":', status: 'incomplete' },
    ],
    ['{"type":"web_search_call","id":"w1","status":"searching"}', [], { id: 'w1', status: 'incomplete' }],
  ])('keeps what was done, and what was said of an item that is not: %s', (item, said, left) => {
    const done = '{"type":"response.output_item.done","sequence_number":2,"item":{"type":"reasoning","id":"r0"}}'
    const [event] = failed(frame(CREATED), frame(done), frame(added(item)), ...said.map((each) => frame('{"type":"response.delta"}', each)))
    expect(event?.response.output as unknown).toMatchObject([{ type: 'reasoning', id: 'r0' }, left])
  })

  test('before anything is that of a stream of our own', () => {
    expect(payloads(openStream(HEAD).fail(error, null)).map((each) => each.type)).toEqual([
      'response.created',
      'response.in_progress',
      'response.failed',
    ])
  })
})

/** A recording may hold the streams of several answers. */
const recordedStreams = (name: string): string[][] => {
  const streams: string[][] = []
  for (const line of readFileSync(`${import.meta.dir}/../../../test/fixtures/recorded/openai-responses/${name}.chunks.txt`, 'utf8').split(
    '\n',
  )) {
    if (line.includes('"type":"response.created"')) streams.push([])
    if (line !== '') streams.at(-1)?.push(line)
  }
  return streams
}

for (const name of ['openai-custom-tool.1', 'openai-phase.1', 'openai-reasoning-encrypted-content.1']) {
  for (const [number, recorded] of recordedStreams(name).entries()) {
    describe(`the recorded stream ${name}, answer ${number}`, () => {
      const stream = openStream(HEAD)
      const before = recorded.map((native) => stream.frames([frame(native)])).join('')
      const sent = before + stream.finish(TAIL)

      test('is the upstream’s but for the members that are ours', () => {
        const owned = { id: 'resp_abc123', model: 'acme/one', provider: 'Acme' }
        const reported = recorded.map((native) => JSON.parse(native))
        // Missing keys are added after the upstream's own.
        expect(payloads(sent) as unknown[]).toMatchObject(
          reported.map((event, at) => {
            const numbered = { ...event, sequence_number: at }
            if (!isObject(event.response)) return numbered
            const usage = at < reported.length - 1 ? {} : { usage: merged(event.response['usage'], responsesUsage(TAIL)) }
            return { ...numbered, response: { ...event.response, ...owned, ...usage } }
          }),
        )
        for (const [at, native] of recorded.entries()) {
          const isOwn = native.includes('"response":{') || JSON.parse(native).sequence_number !== at
          if (!isOwn) expect(sent).toContain(`\ndata: ${native.slice(0, -1)}`)
        }
      })

      test('names every event, and ends once', () => {
        const all = decoded(sent)
        expect(all.map(({ event }) => event)).toEqual([...payloads(sent).map(({ type }) => type), null])
        expect(sent).toEndWith('data: [DONE]\n\n')
        expect(sent.split('"type":"response.completed"')).toHaveLength(2)
      })

      // One recording lacks events, and another one lacks their numbers, so no strict parser would accept the original.
      if (name !== 'openai-phase.1') {
        test('is read by the official client', async () => {
          const read = await openAi(sent).responses.stream({ model: 'm', input: 'x' }).finalResponse()
          expect(read).toMatchObject({ id: 'resp_abc123', status: 'completed' })
          expect(read.output).toHaveLength(JSON.parse(recorded.at(-1)!).response.output.length)
        })
      }

      if (name !== 'openai-custom-tool.1') {
        test('is taken by strict clients', () => {
          for (const event of payloads(sent)) {
            StreamEvents$inboundSchema.parse({ logprobs: [], name: '', ...event, response: strict(event.response) })
          }
        })
      }
    })
  }
}

/** Adds keys of the response object that the strict schemas require but their own vendor omits. */
const strict = (response: unknown): unknown =>
  isObject(response) ? { completed_at: null, presence_penalty: null, frequency_penalty: null, ...response } : response

const merged = (theirs: unknown, ours: unknown): unknown =>
  isObject(theirs) && isObject(ours)
    ? { ...theirs, ...Object.fromEntries(Object.entries(ours).map(([key, value]) => [key, merged(theirs[key], value)])) }
    : ours

test('the recorded failure ends with a failure of our own that continues its numbers', async () => {
  const [recorded = []] = recordedStreams('openai-error.1')
  const stream = openStream(HEAD)
  const error = new GatewayError('provider_unavailable', 'OpenAI: no quota.')
  const sent =
    recorded
      .slice(0, 2)
      .map((native) => stream.frames([frame(native)]))
      .join('') + stream.fail(error, TAIL)
  expect(payloads(sent).map((event) => [event.type, event.sequence_number])).toEqual([
    ['response.created', 0],
    ['response.in_progress', 1],
    ['response.failed', 2],
  ])
  const read = await openAi(sent).responses.stream({ model: 'm', input: 'x' }).finalResponse()
  expect(read).toMatchObject({ status: 'failed', error: { message: 'OpenAI: no quota.' } })
})
