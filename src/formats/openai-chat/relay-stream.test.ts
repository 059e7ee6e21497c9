import { describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'

import { ChatStreamChunk$inboundSchema } from '@openrouter/sdk/models/chatstreamchunk.js'

import { HEAD, openAi, payloads, TAIL, text } from '../../../test/support/answers.ts'
import type { Frame, ModelEvent } from '../../canonical/event.ts'
import { openStream } from './render-stream.test-kit.ts'

const frame = (native: string, ...events: ModelEvent[]): Frame => ({ native: { dialect: 'chat', json: native }, events })
const stop: ModelEvent = { type: 'finish', reason: 'stop', native: 'stop' }

/** The relayed form of one chunk that follows other frames. */
const relayed = (native: string, events: readonly ModelEvent[] = [], before: readonly Frame[] = []): string => {
  const stream = openStream(HEAD)
  stream.frames(before)
  return stream.frames([{ native: { dialect: 'chat', json: native }, events }])
}

const upstream = (choices: string, more = ''): string =>
  `{"id":"u1","object":"chat.completion.chunk","created":5,"model":"m","choices":${choices}${more}}`
const ours = (choices: string, more = ''): string =>
  `data: {"id":"gen-abc123","object":"chat.completion.chunk","created":5,"model":"acme/one","choices":${choices}${more},"provider":"Acme"}\n\n`

const SAYS = '[{"index":0,"delta":{"role":"assistant","content":"Hi"},"logprobs":null,"finish_reason":null}]'
const ENDS = '[{"index":0,"delta":{"role":"assistant"},"finish_reason":"stop"}]'

describe('an upstream chunk of the same dialect', () => {
  test('keeps unknown members, number forms, white space, escapes and key order; id, model and provider are ours', () => {
    const native =
      '{ "x_first" : 1.0, "model":"m","choices": [ {"delta":{"content":"\\u00e9","vendor":1E2},"index":0 ,"finish_reason" : null}],"provider":"theirs","id":"u","object":"chat.completion.chunk","created":5.0e0,"x":{"z":1,"a":-0.0}}'
    expect(relayed(native, [text('é')], [frame(upstream(SAYS), text('Hi'))])).toBe(
      'data: { "x_first" : 1.0, "model":"acme/one","choices": [ {"delta":{"content":"\\u00e9","vendor":1E2},"index":0 ,"finish_reason" : null}],"provider":"Acme","id":"gen-abc123","object":"chat.completion.chunk","created":5.0e0,"x":{"z":1,"a":-0.0}}\n\n',
    )
  })

  test('loses its usage, null or not; the last chunk carries it once, with what only the vendor knows', () => {
    const stream = openStream(HEAD)
    const usage =
      '{"queue_time":0.0410,"prompt_tokens":1,"prompt_tokens_details":{"cached_tokens":9,"vendor":2.0},"completion_tokens_details":null}'
    expect(stream.frames([frame(upstream(SAYS, ',"usage":null,"x":1'), text('Hi'))])).toBe(ours(SAYS, ',"x":1'))
    expect(stream.frames([frame(upstream(SAYS, `,"usage":${usage}`), text('Hi'))])).toBe(ours(SAYS))
    expect(stream.finish(TAIL)).toContain(
      '"choices":[],"usage":{"queue_time":0.0410,"prompt_tokens":17,' +
        '"prompt_tokens_details":{"cached_tokens":4,"vendor":2.0,"cache_write_tokens":3,"audio_tokens":0},' +
        '"completion_tokens_details":{"reasoning_tokens":3,"audio_tokens":0,"image_tokens":0},"completion_tokens":8,"total_tokens":25,"cost":0.0015,',
    )
  })

  test('that has nothing left to say is not sent', () => {
    expect(
      relayed(upstream('[]', ',"system_fingerprint":"f","service_tier":"default","usage":{"prompt_tokens":1},"obfuscation":"xx"')),
    ).toBe('')
    expect(relayed('{"id":"u","usage":null}')).toBe('')
    expect(relayed(upstream('[]', ',"prompt_filter_results":[]'))).toBe(ours('[]', ',"prompt_filter_results":[]'))
  })

  test('is made fit for strict clients: object, created, fingerprint, error and finish_reason', () => {
    const native = '{"choices":[{"index":0,"delta":{"role":"assistant","content":"a"}}],"object":"","system_fingerprint":null,"error":null}'
    expect(relayed(native, [text('a')])).toBe(
      'data: {"choices":[{"index":0,"delta":{"role":"assistant","content":"a"},"finish_reason":null}],"object":"chat.completion.chunk","id":"gen-abc123","model":"acme/one","provider":"Acme","created":1700000000}\n\n',
    )
  })

  test("has the role if it is the first with a choice, whatever the upstream left out, and every later one is the upstream's", () => {
    const says = (delta: string): string => upstream(`[{"index":0,"delta":{${delta}},"finish_reason":null}]`)
    const stream = openStream(HEAD)
    expect(stream.frames([frame(upstream('[]', ',"prompt_filter_results":[]'))])).not.toContain('role')
    expect(stream.frames([frame(says('"content":"a"'), text('a'))])).toContain('"delta":{"content":"a","role":"assistant"}')
    expect(stream.frames([frame(says('"content":"b"'), text('b'))])).toContain('"delta":{"content":"b"}')
    for (const left of ['"role":null', '"role":""']) {
      expect(JSON.parse(relayed(says(`${left},"content":"a"`), [text('a')]).slice(6)).choices[0].delta).toEqual({
        content: 'a',
        role: 'assistant',
      })
    }
  })

  test('that names finish_reason only in its text is left alone', () => {
    const said = '[{"index":0,"delta":{"role":"assistant","content":"\\"finish_reason\\":\\"stop\\""},"finish_reason":null}]'
    expect(relayed(upstream(said), [text('"finish_reason":"stop"')])).toBe(ours(said))
  })

  test.each([
    '[{"index":0,"delta":{"content":"Hi"},"finish_reason":null}]',
    '[{"index":0,"delta":{"content":"Hi"}}]',
    '[{"delta":{"content":"Hi"},"finish_reason":null}]',
    '[{"index":0,"delta":{"role":"","content":"Hi"},"finish_reason":null}]',
    '[{"index":0,"delta":{"content":"Hi"},"finish_reason":"stop"}]',
    '[{"index":0,"message":{"content":"Hi"},"finish_reason":null}]',
    '[{"index":0,"delta":{"tool_calls":[{"id":"c","type":"function","function":{"name":"f","arguments":"Hi"}}]},"finish_reason":null}]',
    '[{"index":0,"delta":{"content":"Hi"},"finish_reason":null},{"index":1,"delta":{},"finish_reason":"length"}]',
  ])('of megabytes becomes what a short one becomes: %s', (choices) => {
    const events = [text('Hi'), ...(choices.includes('"stop"') ? [stop] : [])]
    const long = '\\"finish_reason\\":'.repeat(20_000)
    expect(relayed(upstream(choices.replace('Hi', long)), events) === relayed(upstream(choices), events).replaceAll('Hi', long)).toBe(true)
  })

  test('cannot end its data early by a line end between tokens', () => {
    expect(relayed('{"id":"u",\n"object":"chat.completion.chunk",\r\n"created":5,"model":"m","choices":[]\n,"x":1}')).toBe(
      'data: {"id":"gen-abc123", "object":"chat.completion.chunk",  "created":5,"model":"acme/one","choices":[] ,"x":1,"provider":"Acme"}\n\n',
    )
  })

  test('that is not one plain object is rendered from its meaning', () => {
    const twice = '{"id":"u","id":"v","choices":[]}'
    expect(relayed(twice, [text('Hi')])).toContain('"delta":{"role":"assistant","content":"Hi"}')
    expect(relayed('[]', [text('Hi')])).toContain('"content":"Hi"')
  })
})

describe('the end', () => {
  const finished = '[{"index":0,"delta":{"role":"assistant"},"finish_reason":"stop","native_finish_reason":"stop"}]'

  test('names the reason as we do, and the upstream word beside it', () => {
    expect(relayed(upstream(ENDS), [stop])).toBe(ours(finished))
    const own = '[{"index":0,"delta":{"role":"assistant"},"logprobs":{"p":1.0},"finish_reason":"model_length"}]'
    expect(relayed(upstream(own), [{ type: 'finish', reason: 'length', native: 'model_length' }])).toBe(
      ours(
        '[{"index":0,"delta":{"role":"assistant"},"logprobs":{"p":1.0},"finish_reason":"length","native_finish_reason":"model_length"}]',
      ),
    )
  })

  test('keeps the native reason of an upstream that is a router itself', () => {
    const own = '[{"index":0,"delta":{"role":"assistant"},"finish_reason":"stop","native_finish_reason":"end_turn"}]'
    expect(relayed(upstream(own), [stop])).toBe(ours(own))
  })

  test('is sent once: a repeated end, and an empty chunk after it, are dropped; a chunk with content is not', () => {
    const before = [frame(upstream(ENDS), stop)]
    expect(relayed(upstream(ENDS, ',"usage":{"prompt_tokens":1}'), [stop], before)).toBe('')
    expect(relayed(upstream('[{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":"stop"}]'), [], before)).toBe('')
    expect(relayed(upstream('[]'), [], before)).toBe('')
    expect(relayed(upstream('[{"index":0,"delta":{"content":"more"},"finish_reason":"stop"}]'), [text('more')], before)).toBe(
      ours('[{"index":0,"delta":{"content":"more"},"finish_reason":null}]'),
    )
  })

  test('is not an empty reason, which some servers write in every chunk before it', () => {
    const going = '[{"index":0,"delta":{"role":"assistant","content":"Hi"},"finish_reason":""}]'
    const before = frame(upstream(going), text('Hi'))
    expect(relayed(upstream(going), [text('Hi')])).toBe(ours(going.replace('""', 'null')))
    expect(relayed(upstream(ENDS), [stop], [before, before])).toBe(ours(finished))
  })

  test('is sent for each of several choices', () => {
    const two =
      '[{"index":0,"delta":{"role":"assistant"},"finish_reason":"stop"},{"index":1,"delta":{"role":"assistant","content":"b"},"finish_reason":null}]'
    expect(relayed(upstream(two), [stop])).toBe(
      ours(
        '[{"index":0,"delta":{"role":"assistant"},"finish_reason":"stop","native_finish_reason":"stop"},{"index":1,"delta":{"role":"assistant","content":"b"},"finish_reason":null}]',
      ),
    )
    expect(relayed(upstream('[{"index":1,"delta":{},"finish_reason":"length"}]'), [], [frame(upstream(two), stop)])).toBe(
      ours('[{"index":1,"delta":{},"finish_reason":"length","native_finish_reason":"length"}]'),
    )
  })

  test('is ours if the upstream never sent it, at the time that its chunks had', () => {
    const stream = openStream(HEAD)
    stream.frames([frame(upstream(SAYS), text('Hi'))])
    expect(stream.finish(TAIL)).toStartWith(
      'data: {"id":"gen-abc123","object":"chat.completion.chunk","created":5,"model":"acme/one","provider":"Acme",' +
        '"choices":[{"index":0,"delta":{},"finish_reason":"stop","native_finish_reason":null}]}\n\n',
    )
  })
})

/** The events that an adapter would read from a chunk, as far as these recordings need them. */
const eventsOf = (native: string): ModelEvent[] => {
  const { delta, finish_reason: reason } = JSON.parse(native).choices[0] ?? {}
  const named = (delta?.tool_calls ?? []).filter((call: { function: { name?: string } }) => call.function.name !== undefined)
  const called: ModelEvent[] = named.map(({ index, id }: { index: number; id: string }) => ({ type: 'tool-call', index, id, name: 'f' }))
  return typeof reason === 'string'
    ? [...called, { type: 'finish', reason: reason === 'tool_calls' ? 'tool_calls' : 'stop', native: reason }]
    : called
}

describe('recorded streams', () => {
  for (const name of ['openai-text', 'deepseek-tool-call', 'groq-tool-call', 'azure-model-router.1']) {
    const recorded = readFileSync(`${import.meta.dir}/../../../test/fixtures/recorded/openai-chat/${name}.chunks.txt`, 'utf8')
      .split('\n')
      .filter(Boolean)
    const stream = openStream(HEAD)
    const sent = recorded.map((native) => stream.frames([frame(native, ...eventsOf(native))])).join('') + stream.finish(TAIL)

    test(`${name}: strict clients take every chunk, and the official one reads what the upstream said`, async () => {
      for (const chunk of payloads(sent)) ChatStreamChunk$inboundSchema.parse(chunk)
      const said = { content: '', args: '' }
      for await (const chunk of await openAi(sent).chat.completions.create({ model: 'm', messages: [], stream: true })) {
        said.content += chunk.choices[0]?.delta.content ?? ''
        for (const call of chunk.choices[0]?.delta.tool_calls ?? []) said.args += call.function?.arguments ?? ''
      }
      const deltas = recorded.map((native) => JSON.parse(native).choices[0]?.delta ?? {})
      expect(said.content).toBe(deltas.map((delta) => delta.content ?? '').join(''))
      expect(said.args).toBe(
        deltas
          .flatMap((delta) => delta.tool_calls ?? [])
          .map((call) => call.function.arguments)
          .join(''),
      )
    })

    test(`${name}: every chunk is the upstream's but for the members that are ours`, () => {
      const chunks = payloads(sent).slice(0, -1)
      const reported = recorded
        .map((native) => JSON.parse(native))
        .filter((chunk) => chunk.choices.length > 0 || 'prompt_filter_results' in chunk)
      expect(chunks).toHaveLength(reported.length)
      for (const [at, chunk] of chunks.entries()) {
        const { usage: _, system_fingerprint: fingerprint, ...kept } = reported[at]
        expect(chunk).toMatchObject({
          ...kept,
          // All chunks state one time: ours if the first one states none.
          ...(reported[0].created > 0 ? {} : { created: HEAD.createdSeconds }),
          ...(fingerprint === null || fingerprint === undefined ? {} : { system_fingerprint: fingerprint }),
          id: 'gen-abc123',
          object: 'chat.completion.chunk',
          model: 'acme/one',
          provider: 'Acme',
        })
        expect(Object.hasOwn(chunk, 'usage')).toBe(false)
      }
    })
  }
})
