/** Two messages of one Responses answer, such as a comment and the final answer, stay two texts, and sources stay with their own text. */
import { describe, expect, test } from 'bun:test'

import type { ClientDialect } from '../../src/canonical/call.ts'
import { at as memberAt } from '../support/json-at.ts'
import { readStream, streamEvents } from '../support/client-stream.ts'
import { question, replay, replayReply } from '../support/replay.ts'
import { reported, whole } from '../support/upstream-replies.ts'

interface Delta {
  readonly content?: string
  readonly annotations?: readonly { readonly url_citation: typeof PLACE }[]
}

interface BlockEvent {
  readonly type: string
  readonly index: number
  readonly delta: { readonly text?: string }
}

const TEXTS = ['I look it up 🦊.', 'It is 7 °C in Oslo.']
const URL = 'https://weather.example'
const PLACE = { start_index: 8, end_index: 12 }

const annotation = { type: 'url_citation', url: URL, title: 'Weather', ...PLACE }
const items = TEXTS.map((text, index) => ({
  type: 'message',
  id: `msg_${index}`,
  role: 'assistant',
  status: 'completed',
  phase: index === 0 ? 'commentary' : 'final_answer',
  content: [{ type: 'output_text', text, annotations: index === 0 ? [] : [annotation], logprobs: [] }],
}))
const response = { id: 'resp_1', object: 'response', created_at: 1, model: 'm', status: 'completed', output: items, usage: null }
const streamed = reported(
  'openai-responses',
  ...[
    { type: 'response.created', response: { ...response, status: 'in_progress', output: [] } },
    ...items.flatMap((item, output_index) => {
      const at = { item_id: item.id, output_index, content_index: 0 }
      const [part] = item.content
      return [
        { type: 'response.output_item.added', output_index, item: { ...item, status: 'in_progress', content: [] } },
        { type: 'response.content_part.added', ...at, part: { ...part, text: '', annotations: [] } },
        { type: 'response.output_text.delta', ...at, delta: part?.text.slice(0, 5), logprobs: [] },
        { type: 'response.output_text.delta', ...at, delta: part?.text.slice(5), logprobs: [] },
        ...(part?.annotations ?? []).map((annotation) => ({
          type: 'response.output_text.annotation.added',
          ...at,
          annotation_index: 0,
          annotation,
        })),
        { type: 'response.output_text.done', ...at, text: part?.text, logprobs: [] },
        { type: 'response.content_part.done', ...at, part },
        { type: 'response.output_item.done', output_index, item },
      ]
    }),
    { type: 'response.completed', response },
  ].map((event, sequence_number) => ({ ...event, sequence_number })),
)

const replies = { true: streamed, false: whole(response) }

const read = async (client: ClientDialect, stream: boolean): Promise<string> => {
  const { text } = await replayReply(client, 'openai-responses', replies[`${stream}`], stream)
  if (stream) expect(readStream(client, text)).toEqual({ end: 'normal', faults: [] })
  return text
}

const CITED = '°C i'

describe('two messages in one answer', () => {
  test('chat, whole: a blank line between them, and the source at its words', async () => {
    const { choices } = JSON.parse(await read('chat', false))
    const { content, annotations } = choices[0].message
    expect(content).toBe(TEXTS.join('\n\n'))
    const [{ url_citation: source }] = annotations
    expect(content.slice(source.start_index, source.end_index)).toBe(CITED)
  })

  test('chat, streamed: the same', async () => {
    const deltas = streamEvents(await read('chat', true)).flatMap(({ data }) => (memberAt(data, 'choices', 0, 'delta') ?? []) as Delta[])
    const content = deltas.map((delta) => delta.content ?? '').join('')
    expect(content).toBe(TEXTS.join('\n\n'))
    const [{ url_citation: source } = { url_citation: { start_index: 0, end_index: 0 } }] = deltas.flatMap(
      (delta) => delta.annotations ?? [],
    )
    expect(content.slice(source.start_index, source.end_index)).toBe(CITED)
  })

  test('messages, whole: a block each, the second with its source', async () => {
    const { content } = JSON.parse(await read('messages', false))
    expect(content.map(({ type, text }: { type: string; text: string }) => ({ type, text }))).toEqual(
      TEXTS.map((text) => ({ type: 'text', text })),
    )
    expect(content.map(({ citations }: { citations: unknown[] | null }) => citations?.length ?? 0)).toEqual([0, 1])
  })

  test('messages, streamed: the same', async () => {
    const events = streamEvents(await read('messages', true)).map(({ data }) => data as BlockEvent)
    const texts: string[] = []
    for (const { type, index, delta } of events) {
      if (type === 'content_block_delta' && delta.text !== undefined) texts[index] = (texts[index] ?? '') + delta.text
    }
    expect(texts).toEqual(TEXTS)
  })

  test('responses, where the upstream streams a whole answer: a part each, the source within its own', async () => {
    const upstreams = [{ dialect: 'openai-responses', reply: streamed }] as const
    const { text } = await replay({ client: 'responses', upstreams, body: question('responses', false) })
    const parts = JSON.parse(text).output.flatMap(({ content }: { content: unknown[] }) => content)
    expect(parts.map((part: { text: string }) => part.text)).toEqual(TEXTS)
    expect(parts[1].annotations).toMatchObject([{ url: URL, ...PLACE }])
  })
})
