/** Further answers (`n`) of a vendor whose content is a list of parts: each reaches the client as text. */
import { describe, expect, test } from 'bun:test'

import { streamEvents } from '../support/client-stream.ts'
import { at } from '../support/json-at.ts'
import { question, replay, type Reply } from '../support/replay.ts'
import { reported, whole } from '../support/upstream-replies.ts'

const ask = async (stream: boolean, reply: Reply, n = 2): Promise<string> =>
  (await replay({ client: 'chat', upstreams: [{ dialect: 'openai-chat', reply }], body: { ...question('chat', stream), n } })).text

const thinking = (text: string): object => ({ type: 'thinking', thinking: [{ type: 'text', text }] })
const text = (said: string): object => ({ type: 'text', text: said })
const USAGE = { prompt_tokens: 3, completion_tokens: 9, total_tokens: 12 }

test('whole', async () => {
  const choice = (index: number) => ({
    index,
    finish_reason: 'stop',
    message: { role: 'assistant', content: [thinking(`Hm ${index}.`), text(`It is `), text(`${index}.`)] },
  })
  const answer: unknown = JSON.parse(await ask(false, whole({ id: 'u', model: 'm', choices: [choice(0), choice(1)], usage: USAGE })))
  expect(at(answer, 'choices')).toMatchObject([
    { index: 0, finish_reason: 'stop', message: { content: 'It is 0.', reasoning: 'Hm 0.' } },
    { index: 1, finish_reason: 'stop', message: { content: 'It is 1.', reasoning: 'Hm 1.' } },
  ])
})

test('streamed', async () => {
  const chunk = (index: number, content: unknown, finish: string | null = null): object => ({
    id: 'u',
    object: 'chat.completion.chunk',
    created: 1_760_000_000,
    model: 'm',
    choices: [{ index, delta: { role: 'assistant', content }, finish_reason: finish }],
  })
  const reply = reported(
    'openai-chat',
    ...[0, 1].map((index) => chunk(index, [thinking(`Hm ${index}.`)])),
    ...[0, 1].map((index) => chunk(index, [text('It is ')])),
    ...[0, 1].map((index) => chunk(index, [text(`${index}.`)])),
    ...[0, 1].map((index) => chunk(index, '', 'stop')),
  )
  const choices = streamEvents(await ask(true, reply)).flatMap(({ data }) => at(data, 'choices') as readonly Choice[])
  for (const index of [0, 1]) {
    const own = choices.filter((choice) => choice.index === index)
    expect(own.map(({ delta }) => delta.content ?? '').join('')).toBe(`It is ${index}.`)
    expect(own.map(({ delta }) => delta.reasoning ?? '').join('')).toBe(`Hm ${index}.`)
    expect(own.filter(({ finish_reason: finish }) => finish === 'stop')).toHaveLength(1)
  }
})

interface Choice {
  readonly index: number
  readonly delta: { readonly content?: string | null; readonly reasoning?: string }
  readonly finish_reason: string | null
  readonly native_finish_reason?: string
}

describe("the word of a vendor's own with which an answer beyond the first ends", () => {
  const call = { id: 'a', type: 'function', function: { name: 'get_weather', arguments: '{}' } }
  const ends = [
    { said: { content: 'One.' }, finish: 'eos', reason: 'stop' },
    { said: { content: 'Two.' }, finish: 'max_tokens', reason: 'length' },
    { said: { content: 'Three.' }, finish: { type: 'length', length: 9 }, reason: 'length' },
    { said: { content: '', tool_calls: [{ index: 0, ...call }] }, finish: 'stop', reason: 'tool_calls' },
    { said: { content: 'Five.' }, finish: 'stop', reason: 'stop' },
  ]
  const native = ends.map(({ finish }) => (typeof finish === 'string' ? finish : finish.type))
  const envelope = { id: 'u', object: 'chat.completion', created: 1_760_000_000, model: 'm' }

  test('is the reason of the dialect, with the word beside it: whole', async () => {
    const choices = ends.map(({ finish, said }, index) => ({
      index,
      message: { role: 'assistant', ...said },
      finish_reason: finish,
    }))
    const answer = at(JSON.parse(await ask(false, whole({ ...envelope, choices, usage: USAGE }), ends.length)), 'choices') as Choice[]
    expect(answer.map(({ finish_reason: finish }) => finish)).toEqual(ends.map(({ reason }) => reason))
    expect(answer.flatMap(({ native_finish_reason: own }) => own ?? 'stop')).toEqual(native)
  })

  test('is the reason of the dialect: streamed', async () => {
    const chunks = [false, true].flatMap((over) =>
      ends.map(({ finish, said }, index) => ({
        ...envelope,
        object: 'chat.completion.chunk',
        choices: [{ index, delta: over ? {} : { role: 'assistant', ...said }, finish_reason: over ? finish : null }],
      })),
    )
    const text = await ask(true, reported('openai-chat', ...chunks), ends.length)
    const choices = streamEvents(text).flatMap(({ data }) => at(data, 'choices') as readonly Choice[])
    expect(choices.flatMap(({ finish_reason: finish }) => finish ?? [])).toEqual(ends.map(({ reason }) => reason))
  })
})
