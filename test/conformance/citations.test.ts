/** A source is attached to the text that it supports, in UTF-16 units of the whole answer. */
import { describe, expect, test } from 'bun:test'

import { at } from '../support/json-at.ts'
import { streamEvents } from '../support/client-stream.ts'
import { readAnswer } from '../support/read-answer.ts'
import { recording, streamBytes } from '../support/recordings.ts'
import { emailGuardrail } from '../support/guardrail.ts'
import { MODEL, OWN_DIALECT, replay, replayReply, typeOf } from '../support/replay.ts'

interface Place {
  readonly url: string
  readonly text: string
}

/** Anthropic sends a block's sources before its text: each applies to the whole block. */
const reported = (): Place[] => {
  const blocks = new Map<number, { text: string; urls: string[] }>()
  for (const payload of recording('anthropic', 'anthropic-web-search-tool.1', true).payloads) {
    const { type, index, delta } = JSON.parse(payload) as {
      type: string
      index: number
      delta: { text?: string; citation?: { url: string } }
    }
    if (type !== 'content_block_delta') continue
    const block = blocks.get(index) ?? { text: '', urls: [] }
    blocks.set(index, block)
    block.text += delta.text ?? ''
    if (delta.citation !== undefined) block.urls.push(delta.citation.url)
  }
  return [...blocks.values()].flatMap(({ text, urls }) => urls.map((url) => ({ url, text })))
}

interface Cited {
  readonly url: string
  readonly start_index: number
  readonly end_index: number
}
interface Delta {
  readonly content?: string
  readonly annotations?: readonly { readonly url_citation: Cited }[]
}
interface Item {
  readonly content?: readonly { readonly text: string; readonly annotations?: readonly Cited[] }[]
}

describe('sources told by Anthropic', () => {
  const reply = { type: 'text/event-stream', pieces: [recording('anthropic', 'anthropic-web-search-tool.1', true).bytes] } as const

  test('chat: each annotation covers the block that it was told for', async () => {
    let said = ''
    const found: { url: string; start_index: number; end_index: number }[] = []
    for (const { data } of streamEvents((await replayReply('chat', 'anthropic', reply)).text)) {
      const delta = at(data, 'choices', 0, 'delta') as Delta | undefined
      said += delta?.content ?? ''
      for (const { url_citation: citation } of delta?.annotations ?? []) found.push(citation)
    }
    expect(found.map(({ url, start_index: start, end_index: end }) => ({ url, text: said.slice(start, end) }))).toEqual(reported())
  })

  test('responses: the same, by the text of its part', async () => {
    const last = streamEvents((await replayReply('responses', 'anthropic', reply)).text).at(-1)?.data
    const found: Place[] = []
    for (const { content = [] } of at(last, 'response', 'output') as Item[])
      for (const { text, annotations = [] } of content)
        for (const { url, start_index: start, end_index: end } of annotations) found.push({ url, text: text.slice(start, end) })
    expect(found).toEqual(reported())
  })
})

describe('sources that Gemini 3 tells beside the signature that ends the text', () => {
  const chunk = (parts: readonly object[], more: object = {}) => ({
    candidates: [{ content: { role: 'model', parts }, index: 0, ...more }],
  })
  const end = {
    finishReason: 'STOP',
    groundingMetadata: {
      groundingChunks: [{ web: { uri: 'https://a.example/', title: 'A' } }],
      groundingSupports: [{ segment: { startIndex: 3, endIndex: 7, text: 'rain' }, groundingChunkIndices: [0] }],
    },
  }
  const signature = { text: '', thoughtSignature: 'S' }
  const streamed = [chunk([{ text: 'It rains.' }]), chunk([signature], end)]
  const apart = [chunk([{ text: 'It rains.' }]), chunk([signature]), chunk([], end)]
  const whole = [chunk([{ text: 'It rains.', thoughtSignature: 'S' }], end)]

  describe.each(['chat', 'responses', 'messages'] as const)('%s', (client) => {
    test.each([
      ['in a stream', true, streamed],
      ['in a stream, in a chunk of their own', true, apart],
      ['whole', false, whole],
    ])('are those of the text: %s', async (_, stream, answer) => {
      const payloads = answer.map((one) => JSON.stringify(one))
      const bytes = stream ? streamBytes('google', payloads) : new TextEncoder().encode(payloads.join(''))
      const { text } = await replayReply(client, 'google', { type: typeOf(stream), pieces: [bytes] }, stream)
      expect((await readAnswer(OWN_DIALECT[client], stream, text)).sources).toEqual(['https://a.example/'])
    })
  })
})

describe('sources that Perplexity tells beside the choices', () => {
  const RESULTS = [
    { title: 'A', url: 'https://a.example/', date: '2026-01-01', snippet: 'All of A.' },
    { title: 'B', url: 'https://b.example/', date: null },
  ]
  const SOURCES = { citations: ['https://a.example/', 'https://b.example/', 'https://c.example/'], search_results: RESULTS }
  const TEXT = 'One [1]. Two [2][3].'
  const ANSWER = { id: 'p', object: 'chat.completion', created: 1, model: 'sonar', ...SOURCES }
  const chunk = (content: string, more: object = {}) => ({
    ...ANSWER,
    object: 'chat.completion.chunk',
    choices: [{ index: 0, delta: { role: 'assistant', content }, finish_reason: null, ...more }],
  })
  // The sources are in each chunk, also before the first text.
  const chunks = [chunk(''), chunk('One [1].'), chunk(' Two [2][3].'), chunk('', { finish_reason: 'stop' })]
  const encode = (text: string) => [new TextEncoder().encode(text)]
  const streamed = {
    type: 'text/event-stream',
    pieces: encode(`${chunks.map((each) => `data: ${JSON.stringify(each)}\n\n`).join('')}data: [DONE]\n\n`),
  } as const
  const cutShort = {
    type: 'text/event-stream',
    pieces: encode(
      `${chunks
        .slice(0, -1)
        .map((each) => `data: ${JSON.stringify(each)}\n\n`)
        .join('')}data: [DONE]\n\n`,
    ),
  } as const
  const whole = {
    type: 'application/json',
    pieces: encode(
      JSON.stringify({ ...ANSWER, choices: [{ index: 0, message: { role: 'assistant', content: TEXT }, finish_reason: 'stop' }] }),
    ),
  } as const

  const ask = async (client: 'chat' | 'responses' | 'messages', stream: boolean, more: object = {}, reply = stream ? streamed : whole) => {
    const messages = [{ role: 'user', content: 'Hi' }]
    const body = client === 'responses' ? { input: 'Hi' } : { messages, ...(client === 'messages' ? { max_tokens: 99 } : {}) }
    const upstreams = [{ dialect: 'openai-chat', slug: 'perplexity', reply }] as const
    const { text } = await replay({ client, upstreams, body: { model: MODEL, stream, ...body }, ...more })
    return text
  }

  const URLS = SOURCES.citations
  const PLACES = [
    { url: URLS[0], title: 'A', start_index: 0, end_index: TEXT.length },
    { url: URLS[1], title: 'B', start_index: 0, end_index: TEXT.length },
    { url: URLS[2], title: '', start_index: 0, end_index: TEXT.length },
  ]

  test('chat: they stand where Perplexity put them, whole and in a stream', async () => {
    expect(JSON.parse(await ask('chat', false))).toMatchObject(SOURCES)
    for (const { data } of streamEvents(await ask('chat', true)).slice(0, 3)) expect(data).toMatchObject(SOURCES)
  })

  test('chat, where a guardrail reads the answer: annotations', async () => {
    const places = PLACES.map(({ url, title, start_index }) => ({ url, title, start_index }))
    const guardrails = { guardrails: [emailGuardrail('redact', 'output')] }
    const { annotations } = at(JSON.parse(await ask('chat', false, guardrails)), 'choices', 0, 'message') as Delta
    expect(annotations?.map(({ url_citation }) => url_citation)).toMatchObject(places)
    const reported = streamEvents(await ask('chat', true, guardrails)).flatMap(
      ({ data }) => (at(data, 'choices', 0, 'delta') as Delta | undefined)?.annotations ?? [],
    )
    expect(reported.map(({ url_citation }) => url_citation)).toMatchObject(places)
  })

  test('responses: annotations of all of the text, whole, in a stream, and in one that does not say how it ended', async () => {
    const annotations = (response: unknown): unknown => at(response, 'output', 0, 'content', 0, 'annotations')
    expect(annotations(JSON.parse(await ask('responses', false)))).toMatchObject(PLACES)
    for (const reply of [streamed, cutShort]) {
      const events = streamEvents(await ask('responses', true, {}, reply))
      expect(annotations(at(events.at(-1)?.data, 'response'))).toMatchObject(PLACES)
      expect(events.filter(({ name }) => name === 'response.output_text.annotation.added')).toHaveLength(3)
    }
  })

  test('messages: citations of the block, whole and in a stream', async () => {
    const locations = URLS.map((url) => ({ type: 'web_search_result_location', url }))
    expect(at(JSON.parse(await ask('messages', false)), 'content', 0, 'citations')).toMatchObject(locations)
    const reported = streamEvents(await ask('messages', true)).flatMap(({ data }) =>
      at(data, 'delta', 'type') === 'citations_delta' ? [at(data, 'delta', 'citation')] : [],
    )
    expect(reported).toMatchObject(locations)
  })
})

describe('sources and findings that vendors of Chat Completions tell in places of their own', () => {
  const cited = [
    {
      start: 0,
      end: 3,
      text: 'One',
      sources: [{ type: 'document', id: 'd', document: { id: 'd', title: 'A', url: 'https://a.example/' } }],
    },
    { start: 4, end: 7, text: 'Two', sources: [{ type: 'tool', id: 't', tool_output: { text: 'x' } }] },
  ]
  const images = [{ image_url: 'https://a.example/a.png', origin_url: 'https://a.example/', height: 1, width: 1 }]
  const ANSWER = { id: 'c', object: 'chat.completion', created: 1, model: 'm', images, related_questions: ['Why?'] }
  const said = { role: 'assistant', content: 'One Two', citations: cited }
  const whole = JSON.stringify({ ...ANSWER, choices: [{ index: 0, message: said, finish_reason: 'stop' }] })
  const streamed = [said, {}].map((delta, index) =>
    JSON.stringify({
      ...ANSWER,
      object: 'chat.completion.chunk',
      choices: [{ index: 0, delta, finish_reason: index === 0 ? null : 'stop' }],
    }),
  )

  describe.each(['responses', 'messages'] as const)('%s', (client) => {
    test.each([true, false])('those with an address are sources, and there are warnings of the others; in a stream: %p', async (stream) => {
      const bytes = stream ? streamBytes('openai-chat', streamed) : new TextEncoder().encode(whole)
      const { text, headers } = await replayReply(client, 'openai-chat', { type: typeOf(stream), pieces: [bytes] }, stream)
      expect((await readAnswer(OWN_DIALECT[client], stream, text)).sources).toEqual(['https://a.example/'])
      expect(headers.get('x-service-warnings')).toBe('3')
    })
  })

  test.each([true, false])('chat: they stand where the vendor put them; in a stream: %p', async (stream) => {
    const bytes = stream ? streamBytes('openai-chat', streamed) : new TextEncoder().encode(whole)
    const { text, headers } = await replayReply('chat', 'openai-chat', { type: typeOf(stream), pieces: [bytes] }, stream)
    for (const part of ['"related_questions":["Why?"]', '"origin_url"', '"tool_output"']) expect(text).toContain(part)
    expect(headers.has('x-service-warnings')).toBe(false)
  })
})

describe('sources of a text that a call follows', () => {
  const sources = { citations: ['https://a.example/'] }
  const call = { id: 'c1', type: 'function', function: { name: 'get_weather', arguments: '{}' } }
  const choices = (delta: object, finish: string | null = null) => [{ index: 0, delta, finish_reason: finish }]
  const said = { role: 'assistant', content: 'It rains.' }
  const calls = { tool_calls: [{ index: 0, ...call }] }
  const annotations = [{ type: 'url_citation', url_citation: { url: 'https://a.example/', title: 'A', start_index: 0, end_index: 2 } }]
  const chunks = (early: object, late: object) =>
    [{ choices: choices(said), ...early }, { choices: choices(calls) }, { choices: choices(late, 'tool_calls') }].map((chunk) =>
      JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', ...chunk }),
    )
  const message = { ...said, tool_calls: [call] }
  const whole = JSON.stringify({ id: 'c', model: 'm', choices: [{ index: 0, message, finish_reason: 'tool_calls' }], ...sources })
  const ask = async (client: 'responses' | 'messages', stream: boolean, bytes: Uint8Array) => {
    const { text, headers } = await replayReply(client, 'openai-chat', { type: typeOf(stream), pieces: [bytes] }, stream)
    const reading = await readAnswer(OWN_DIALECT[client], stream, text)
    return [reading.text, reading.sources, reading.calls.length, headers.get('x-service-warnings')]
  }

  test.each(['responses', 'messages'] as const)(
    '%s: they stand with the text, or there is a warning if they come behind the call',
    async (client) => {
      const found = ['It rains.', ['https://a.example/'], 1, null]
      expect(await ask(client, false, new TextEncoder().encode(whole))).toEqual(found)
      expect(await ask(client, true, streamBytes('openai-chat', chunks(sources, {})))).toEqual(found)
      expect(await ask(client, true, streamBytes('openai-chat', chunks({}, { annotations })))).toEqual(['It rains.', [], 1, '1'])
    },
  )
})
