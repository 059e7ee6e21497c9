import { describe, expect, test } from 'bun:test'

import * as fc from 'fast-check'

import { anthropic, finish, frames, HEAD, openAi, payloads, streamed, TAIL, text } from '../../test/support/answers.ts'
import type { ModelEvent } from '../canonical/event.ts'
import { SERVER_TOOLS, type ServerCall, type ServerOutcome } from '../canonical/server-tools.ts'
import { JsonBody } from '../lib/json/json-body.ts'
import type { JsonObject } from '../lib/json/json.ts'
import { messagesFormat } from './anthropic-messages/anthropic-messages.ts'
import type { AnswerHead } from './format.ts'
import { chatFormat } from './openai-chat/openai-chat.ts'
import { responsesFormat } from './openai-responses/openai-responses.ts'
import { atOnce } from '../lib/steps.ts'

const callOf = (index: number, askedAs: string, tool: ServerCall['tool'], input: JsonObject): ServerCall => ({
  tool,
  askedAs,
  id: `srv_${index}`,
  callId: `call_${index}`,
  name: `service_${tool}`,
  arguments: JSON.stringify(input),
  input,
})

const outcomeOf = (value: JsonObject, more: Partial<ServerOutcome> = {}): ServerOutcome => ({
  fault: null,
  value,
  text: JSON.stringify(value),
  sources: [],
  ...more,
})

const started = (call: ServerCall): ModelEvent => ({ type: 'server-tool-start', call })
const ended = (call: ServerCall, outcome: ServerOutcome): ModelEvent => ({ type: 'server-tool-end', call, outcome })

const search = (index: number, askedAs = 'service:web_search'): ServerCall => callOf(index, askedAs, 'web_search', { query: 'bun' })
const HITS = outcomeOf(
  { query: 'bun', results: [{ title: 'Bun', url: 'https://bun.sh/', content: 'Fast.', published: null }] },
  { sealed: 'sealed' },
)
const clock = callOf(1, 'openrouter:datetime', 'datetime', {})
const TIME = outcomeOf({ datetime: '2026-01-01T00:00:00.000Z', timezone: 'UTC' })

/** Two calls of one turn; the second ends first. */
const EVENTS: readonly ModelEvent[] = [
  text('Let me look.'),
  started(search(0)),
  started(clock),
  ended(clock, TIME),
  ended(search(0), HITS),
  text('Bun is fast.'),
  finish('stop'),
]

describe('Responses', () => {
  const whole = (events: readonly ModelEvent[], head: AnswerHead = HEAD) =>
    JSON.parse(atOnce(responsesFormat.renderAnswer(head, { events }, TAIL, null))) as { output: JsonObject[] }
  const stream = (events: readonly ModelEvent[]): string => streamed(responsesFormat.openStream(HEAD), frames(...events))

  test('items keep the places of their calls, whichever ends first, and the messages around them say what they are', () => {
    const { output } = whole(EVENTS)
    expect(output.map(({ type, status, phase }) => [type, status, phase])).toEqual([
      ['message', 'completed', 'commentary'],
      ['service:web_search', 'completed', undefined],
      ['openrouter:datetime', 'completed', undefined],
      ['message', 'completed', 'final_answer'],
    ])
    expect(output[1]).toEqual({
      type: 'service:web_search',
      id: 'srv_0',
      status: 'completed',
      action: { type: 'search', query: 'bun', sources: [{ type: 'url', url: 'https://bun.sh/' }] },
      call_id: 'call_0',
      encrypted_content: 'sealed',
    })
    expect(output[2]).toEqual({
      type: 'openrouter:datetime',
      id: 'srv_1',
      status: 'completed',
      datetime: '2026-01-01T00:00:00.000Z',
      timezone: 'UTC',
      call_id: 'call_1',
    })
  })

  test('a stream announces the calls in their order, ends them as they end, and numbers every event', () => {
    const events = payloads(stream(EVENTS))
    expect(events.map(({ sequence_number: number }) => number)).toEqual(events.map((_, index) => index))
    const items = events.filter(({ type }) => type.startsWith('response.output_item'))
    expect(items.map(({ type, output_index: index }) => [type.slice('response.output_item.'.length), index])).toEqual([
      ['added', 0],
      ['done', 0],
      ['added', 1],
      ['added', 2],
      ['done', 2],
      ['done', 1],
      ['added', 3],
      ['done', 3],
    ])
    expect(events.at(-1)?.response.output).toEqual(whole(EVENTS).output as never)
  })

  test("a search asked for under OpenAI's name is OpenAI's item, with its steps", () => {
    const call = search(0, 'web_search_preview')
    const types = payloads(stream([started(call), ended(call, HITS), text('Done.'), finish('stop')])).map(({ type }) => type)
    expect(types.filter((type) => type.includes('web_search'))).toEqual([
      'response.web_search_call.in_progress',
      'response.web_search_call.searching',
      'response.web_search_call.completed',
    ])
  })

  test('a failed call says why, in the word for it that its type has', () => {
    const fault = { code: 'unavailable', message: 'No engine answered.' } as const
    const failed = outcomeOf({ error: 'No engine answered.' }, { fault })
    const advisor = callOf(0, 'service:advisor', 'advisor', { prompt: 'Well?' })
    const { output } = whole([started(search(1)), started(advisor), ended(search(1), failed), ended(advisor, failed), finish('stop')])
    expect(output.map(({ status, error }) => [status, error])).toEqual([
      ['incomplete', 'No engine answered.'],
      ['failed', 'No engine answered.'],
    ])
  })

  test('the text of a page is shown to who asks for it', () => {
    const fetched = callOf(0, 'service:web_fetch', 'web_fetch', { url: 'https://bun.sh/' })
    const page = outcomeOf({ url: 'https://bun.sh/', title: 'Bun', content: 'Fast.', status: 'completed' })
    const events = [started(fetched), ended(fetched, page), finish('stop')]
    expect(whole(events).output[0]).not.toHaveProperty('content')
    const asking = { ...HEAD, request: JsonBody.read('{"model":"acme/one","include":["service:web_fetch.content"]}') }
    expect(whole(events, asking).output[0]).toMatchObject({ content: 'Fast.' })
  })

  test("OpenAI's own stream helper takes every kind of call", async () => {
    const events = SERVER_TOOLS.flatMap((tool, index) => {
      const call = callOf(index, `service:${tool}`, tool, {})
      return [started(call), ended(call, outcomeOf({}))]
    })
    const native = [
      search(50, 'web_search'),
      callOf(51, 'shell', 'shell', { commands: ['ls'] }),
      callOf(52, 'tool_search', 'tool_search', {}),
    ]
    const more = native.flatMap((call) => [started(call), ended(call, outcomeOf({}))])
    const body = stream([...events, ...more, text('Done.'), finish('stop')])
    const final = await openAi(body).responses.stream({ model: 'acme/one', input: 'Hi' }).finalResponse()
    expect(final.output.map(({ type }) => type as string).slice(0, SERVER_TOOLS.length)).toEqual(
      SERVER_TOOLS.map((tool) => `service:${tool}`),
    )
  })
})

describe('Messages', () => {
  const whole = (events: readonly ModelEvent[]) =>
    JSON.parse(atOnce(messagesFormat.renderAnswer(HEAD, { events }, TAIL, null))) as { content: JsonObject[] }
  const stream = (events: readonly ModelEvent[]): string => streamed(messagesFormat.openStream(HEAD), frames(...events))

  test("calls and results are blocks: Claude's own where Claude has the tool", () => {
    expect(whole(EVENTS).content).toEqual([
      { type: 'text', text: 'Let me look.', citations: [] },
      { type: 'server_tool_use', id: 'srv_0', name: 'web_search', input: { query: 'bun' }, call_id: 'call_0' },
      { type: 'server_tool_use', id: 'srv_1', name: 'openrouter:datetime', input: {}, call_id: 'call_1' },
      {
        type: 'service_tool_result',
        tool_use_id: 'srv_1',
        call_id: 'call_1',
        name: 'openrouter:datetime',
        content: [{ type: 'text', text: TIME.text }],
      },
      {
        type: 'web_search_tool_result',
        tool_use_id: 'srv_0',
        call_id: 'call_0',
        content: [{ type: 'web_search_result', url: 'https://bun.sh/', title: 'Bun', page_age: null, encrypted_content: 'sealed' }],
      },
      { type: 'text', text: 'Bun is fast.', citations: [] },
    ])
  })

  test("a fault has one of the codes that Claude's clients know", () => {
    const slow = outcomeOf({}, { fault: { code: 'execution_time_exceeded', message: 'Too slow.' } })
    expect(whole([started(search(0)), ended(search(0), slow), finish('stop')]).content[1]).toEqual({
      type: 'web_search_tool_result',
      tool_use_id: 'srv_0',
      call_id: 'call_0',
      content: { type: 'web_search_tool_result_error', error_code: 'unavailable' },
    })
  })

  test("the vendor's stream helper makes of a stream what the whole answer holds", async () => {
    const message = await anthropic(stream(EVENTS))
      .messages.stream({ model: 'acme/one', max_tokens: 9, messages: [{ role: 'user', content: 'Hi' }] })
      .finalMessage()
    const bare = message.content.map((block) => JSON.parse(JSON.stringify(block)) as JsonObject)
    expect(bare).toMatchObject(
      whole(EVENTS)
        .content.map((block) => ({ ...block, citations: undefined }))
        .map((block) => JSON.parse(JSON.stringify(block))),
    )
  })
})

describe('Chat Completions', () => {
  const whole = (events: readonly ModelEvent[]) =>
    JSON.parse(atOnce(chatFormat.renderAnswer(HEAD, { events }, TAIL, null))) as { choices: { message: JsonObject }[] }

  test('a call is an entry of the reasoning details, with its result, and no call of the client', () => {
    const message = whole(EVENTS).choices[0]?.message
    expect(message).not.toHaveProperty('tool_calls')
    expect(message?.['reasoning_details']).toEqual([
      {
        type: 'reasoning.server_tool_call',
        tool_name: 'openrouter:datetime',
        arguments: '{}',
        result: TIME.text,
        tool_call_id: 'call_1',
        // The place is after twelve characters of text.
        id: 'srv_1_pbt0t12c0',
        format: 'unknown',
        index: 0,
      },
      {
        type: 'reasoning.server_tool_call',
        tool_name: 'service:web_search',
        arguments: '{"query":"bun"}',
        result: HITS.text,
        tool_call_id: 'call_0',
        id: 'srv_0_pbt1t12c0',
        format: 'unknown',
        index: 1,
      },
    ])
  })

  test('a long result is cut, and says so', () => {
    const long = outcomeOf({}, { text: 'x'.repeat(40_000) })
    const details = whole([started(clock), ended(clock, long), finish('stop')]).choices[0]?.message['reasoning_details'] as JsonObject[]
    expect(details[0]?.['result']).toBe(`${'x'.repeat(32_768)}…[truncated]`)
  })

  test('pictures of a tool are the pictures of the message', () => {
    const drawn = outcomeOf({}, { pictures: ['data:image/png;base64,AAAA'] })
    const events = [started(clock), ended(clock, drawn), finish('stop')]
    const images = [{ type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' }, index: 0 }]
    expect(whole(events).choices[0]?.message['images']).toEqual(images)
    expect(streamed(chatFormat.openStream(HEAD), frames(...events))).toContain(JSON.stringify(images))
  })
})

test('property: a stream on every interface is well formed, whatever tools run between what is said', () => {
  const step = fc.record({
    said: fc.string({ maxLength: 5 }),
    tools: fc.array(fc.constantFrom(...SERVER_TOOLS), { maxLength: 4 }),
    reversed: fc.boolean(),
  })
  fc.assert(
    fc.property(fc.array(step, { maxLength: 5 }), fc.boolean(), (steps, native) => {
      let count = 0
      const events: ModelEvent[] = steps.flatMap(({ said, tools, reversed }) => {
        const calls = tools.map((tool) => callOf(count++, native ? tool : `service:${tool}`, tool, { query: said }))
        const done = calls.map((call) => ended(call, outcomeOf({ said })))
        return [text(said), ...calls.map(started), ...(reversed ? done.toReversed() : done)]
      })
      const all = [...events, finish('stop')]
      const responses = payloads(streamed(responsesFormat.openStream(HEAD), frames(...all)))
      const added = responses.filter(({ type }) => type === 'response.output_item.added').map(({ output_index: index }) => index)
      expect(added).toEqual(added.map((_, index) => index))
      const done = responses.filter(({ type }) => type === 'response.output_item.done').map(({ output_index: index }) => index)
      expect(done.toSorted((a, b) => a - b)).toEqual(added)
      const blocks = payloads(streamed(messagesFormat.openStream(HEAD), frames(...all)))
      const opened = blocks.filter(({ type }) => type === 'content_block_start').map(({ index }) => index)
      expect(opened).toEqual(opened.map((_, index) => index))
      expect(blocks.filter(({ type }) => type === 'content_block_stop').map(({ index }) => index)).toEqual(opened)
    }),
  )
})
