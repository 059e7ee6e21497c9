import { describe, expect, test } from 'bun:test'

import { ChatStreamChunk$inboundSchema } from '@openrouter/sdk/models/chatstreamchunk.js'
import * as fc from 'fast-check'

import {
  answerEvents,
  args,
  base64Of,
  call,
  decoded,
  finish,
  frames,
  HEAD,
  METADATA,
  emptyContents,
  openAi,
  payloads,
  refusal,
  contentsOf,
  TAIL,
  text,
  used,
} from '../../../test/support/answers.ts'
import type { AnswerContents } from '../../../test/support/answers.ts'
import { GatewayError } from '../../errors.ts'
import { ENVELOPE, LAST, USAGE, delta, ended, openStream, render } from './render-stream.test-kit.ts'

describe('the bytes of a stream', () => {
  test('text: the role comes with the first delta, the reason of the end once, the usage last', () => {
    expect(render({ type: 'start', upstreamId: 'u' }, text('Hi'), text(''), text(' "there"\n'), finish('stop', 'eos'), used)).toBe(
      delta('"role":"assistant","content":"Hi"') + delta('"content":" \\"there\\"\\n"') + ended('stop', '"eos"') + LAST,
    )
  })

  test('two parallel tool calls, woven into each other, keep their order', () => {
    expect(render(call(0, 'a'), args(0, '{"x"'), call(1, 'b'), args(1, '{}'), args(0, ':1}'), finish('tool_calls'))).toBe(
      delta('"role":"assistant","tool_calls":[{"index":0,"id":"call_0","type":"function","function":{"name":"a","arguments":""}}]') +
        delta('"tool_calls":[{"index":0,"function":{"arguments":"{\\"x\\""}}]') +
        delta('"tool_calls":[{"index":1,"id":"call_1","type":"function","function":{"name":"b","arguments":""}}]') +
        delta('"tool_calls":[{"index":1,"function":{"arguments":"{}"}}]') +
        delta('"tool_calls":[{"index":0,"function":{"arguments":":1}"}}]') +
        ended('tool_calls') +
        LAST,
    )
  })

  test('a call without arguments gets an empty object, and the reason says that a tool was called', () => {
    expect(render(call(0, 'a'), args(0, ''), finish('stop', 'STOP'))).toBe(
      delta('"role":"assistant","tool_calls":[{"index":0,"id":"call_0","type":"function","function":{"name":"a","arguments":""}}]') +
        delta('"tool_calls":[{"index":0,"function":{"arguments":"{}"}}]') +
        ended('tool_calls', '"STOP"') +
        LAST,
    )
  })

  test('text and a tool call in one frame both arrive', () => {
    const stream = openStream(HEAD)
    expect(stream.frames([{ events: [text('Hi'), call(0, 'a'), args(0, '{}')] }])).toBe(
      delta('"role":"assistant","content":"Hi"') +
        delta('"tool_calls":[{"index":0,"id":"call_0","type":"function","function":{"name":"a","arguments":""}}]') +
        delta('"tool_calls":[{"index":0,"function":{"arguments":"{}"}}]'),
    )
  })

  test('a refusal ends with content_filter', () => {
    expect(render(refusal('No.'), finish('stop', 'stop'))).toBe(
      delta('"role":"assistant","refusal":"No."') + ended('content_filter', '"stop"') + LAST,
    )
  })

  test('length', () => {
    expect(render(text('Hi'), finish('length', 'max_tokens'))).toBe(
      delta('"role":"assistant","content":"Hi"') + ended('length', '"max_tokens"') + LAST,
    )
  })

  test('an answer that says nothing, with and without its end, still has a role and a reason', () => {
    const empty = ended('stop', 'null', '"role":"assistant","content":""') + LAST
    expect(render(finish('stop'))).toBe(empty)
    expect(render()).toBe(empty)
  })

  test('a second end is not told', () => {
    expect(render(text('Hi'), finish('stop'), used, finish('stop'))).toBe(delta('"role":"assistant","content":"Hi"') + ended('stop') + LAST)
  })

  test('the routing metadata rides on the last chunk, under the name that was asked for', () => {
    const stream = openStream(HEAD)
    expect(stream.finish({ ...TAIL, metadata: METADATA })).toEndWith(
      `"choices":[],"usage":${USAGE},"service_metadata":{"strategy":"direct"}}\n\ndata: [DONE]\n\n`,
    )
  })
})

describe('a failure', () => {
  const error = new GatewayError('provider_overloaded', 'Acme is busy.', { metadata: { provider_code: '529' } })
  const chunk =
    'data: {"error":{"code":503,"message":"Acme is busy.","metadata":{"provider_code":"529","error_type":"provider_overloaded"}},' +
    `${ENVELOPE.slice(1)}"choices":[{"index":0,"delta":{"content":""},"finish_reason":"error"}]}\n\ndata: [DONE]\n\n`

  test('before anything and after text is one chunk that begins with the error, and the end marker', () => {
    expect(openStream(HEAD).fail(error, null)).toBe(chunk)
    const stream = openStream(HEAD)
    stream.frames(frames(text('Hi')))
    expect(stream.fail(error, TAIL)).toBe(chunk)
  })

  test('of status 500 is masked and says nothing of the routing', () => {
    const failed = openStream(HEAD).fail(new GatewayError('server', 'secret', { metadata: { provider_code: 'x' } }), {
      ...TAIL,
      metadata: METADATA,
    })
    expect(payloads(failed)[0]).toMatchObject({
      error: { code: 500, message: 'Internal Server Error', metadata: { error_type: 'server' } },
    })
    expect(failed).not.toContain('service_metadata')
    expect(openStream(HEAD).fail(error, { ...TAIL, metadata: METADATA })).toContain('"service_metadata":{"strategy":"direct"}')
  })

  test('is thrown by the official client', async () => {
    const stream = await openAi(chunk).chat.completions.create({ model: 'm', messages: [], stream: true })
    expect(Array.fromAsync(stream)).rejects.toThrow('Acme is busy.')
  })
})

test('nothing can be written after the end', () => {
  const finished = openStream(HEAD)
  finished.finish(TAIL)
  expect(() => finished.frames([])).toThrow()
  expect(() => finished.fail(new GatewayError('server'), null)).toThrow()
  const failed = openStream(HEAD)
  failed.fail(new GatewayError('server'), null)
  expect(() => failed.finish(TAIL)).toThrow()
})

/** Members of a delta that the official types lack. */
interface Beyond {
  readonly reasoning?: string
  readonly reasoning_details?: readonly Record<string, string | number>[]
  readonly annotations?: readonly { readonly url_citation: { readonly url: string } }[]
  readonly images?: readonly { readonly image_url: { readonly url: string } }[]
}

/** The answer that the official client assembles from a stream; the details are joined by index, as OpenRouter's clients do. */
const read = async (stream: string): Promise<AnswerContents> => {
  const said = emptyContents()
  const details: Record<string, string | number>[] = []
  for await (const chunk of await openAi(stream).chat.completions.create({ model: 'm', messages: [], stream: true })) {
    const piece = chunk.choices[0]?.delta as (typeof chunk.choices)[number]['delta'] & Beyond
    said.text += piece?.content ?? ''
    said.reasoning += piece?.reasoning ?? ''
    said.refusal += piece?.refusal ?? ''
    for (const detail of piece?.reasoning_details ?? []) {
      const open = details.find(({ type, index }) => type === detail['type'] && index === detail['index'])
      if (open === undefined) details.push({ ...detail })
      else
        Object.assign(open, {
          ...detail,
          text: `${open['text'] ?? ''}${detail['text'] ?? ''}`,
          summary: `${open['summary'] ?? ''}${detail['summary'] ?? ''}`,
        })
    }
    for (const each of piece?.annotations ?? []) said.sources.push(each.url_citation.url)
    for (const each of piece?.images ?? []) said.images.push(base64Of(each.image_url.url))
    for (const each of piece?.tool_calls ?? []) {
      if (each.id !== undefined) said.calls[each.index] = { id: each.id, name: each.function?.name ?? '', arguments: '' }
      said.calls[each.index]!.arguments += each.function?.arguments ?? ''
    }
  }
  said.proofs = details.flatMap(({ signature, data }) => (signature === undefined && data === undefined ? [] : [String(signature ?? data)]))
  expect(details.map(({ text, summary }) => `${text ?? ''}${summary ?? ''}`).join('')).toBe(said.reasoning)
  return said
}

test('property: the official client reads what the model said; strict clients take every chunk; one end; [DONE] last', async () => {
  await fc.assert(
    fc.asyncProperty(answerEvents, async (events) => {
      const stream = render(...events)
      expect(await read(stream)).toEqual(contentsOf(events))
      const chunks = payloads(stream)
      for (const chunk of chunks) expect(JSON.stringify(ChatStreamChunk$inboundSchema.parse(chunk))).not.toContain('"UNKNOWN"')
      expect(chunks.filter((chunk) => (chunk.choices[0]?.finish_reason ?? null) !== null)).toHaveLength(1)
      expect(chunks.filter((chunk) => 'usage' in chunk)).toEqual(chunks.slice(-1))
      expect(decoded(stream).findIndex((event) => event.data === '[DONE]')).toBe(chunks.length)
      expect(stream).toEndWith('data: [DONE]\n\n')
    }),
  )
})
