/** The older fields of Chat Completions for tools, from clients and from upstreams: translated to the present ones, and back. */
import { describe, expect, test } from 'bun:test'

import { streamEvents } from '../support/client-stream.ts'
import { at } from '../support/json-at.ts'
import { UPSTREAM_DIALECTS, type UpstreamDialect } from '../support/recordings.ts'
import { MODEL, replay, type Replayed, replayReply } from '../support/replay.ts'
import { reportedBytes } from '../support/reported-answers.ts'
import { chunk, reported, USAGE, whole } from '../support/upstream-replies.ts'
import { readAnswer } from '../support/read-answer.ts'

const FUNCTIONS = [{ name: 'run', description: 'Runs.', parameters: { type: 'object', properties: { n: { type: 'integer' } } } }]

const BODY = {
  model: MODEL,
  functions: FUNCTIONS,
  messages: [
    { role: 'user', content: 'Hi' },
    { role: 'assistant', content: null, function_call: { name: 'run', arguments: '{"n":1}' } },
    { role: 'function', name: 'run', content: 'done' },
  ],
}

const ask = (
  dialect: UpstreamDialect,
  body: object = {},
  headers: Readonly<Record<string, string>> = {},
  made: readonly number[] = [0, 1],
): Promise<Replayed> => {
  const calls = made.map((index) => ({ id: `call_${index}`, name: 'run', args: { n: index } }))
  const answer = { text: ['Well.'], thinking: [], calls, stop: 'end', input: 1, output: 1, cut: 2 } as const
  const reply = { type: 'text/event-stream', pieces: [reportedBytes(dialect, answer)] } as const
  return replay({ client: 'chat', upstreams: [{ dialect, reply }], headers, body: { ...BODY, ...body } })
}

describe('a client that asks in the older words', () => {
  for (const dialect of UPSTREAM_DIALECTS) {
    test(`${dialect}: its functions are tools, its history calls and results`, async () => {
      const { sent } = await ask(dialect, { stream: true })
      const text = sent[0]?.body ?? ''
      expect(text).toContain('Runs.')
      expect(text).toContain('done')
      expect(text).not.toMatch(/"functions"|"function_call"\s*:|"role":"function"/)
    })

    test(`${dialect}: the answer is in them too, streamed`, async () => {
      const { text } = await ask(dialect, { stream: true })
      expect(text).not.toContain('"tool_calls":[')
      const choices = streamEvents(text).flatMap(({ data }) => (at(data, 'choices') as unknown[] | undefined) ?? [])
      const calls = choices.flatMap(
        (choice) => (at(choice, 'delta', 'function_call') as { name?: string; arguments?: string } | undefined) ?? [],
      )
      expect(calls.map(({ name = '' }) => name).join('')).toBe('run')
      expect(JSON.parse(calls.map((call) => call.arguments ?? '').join(''))).toEqual({ n: 0 })
      expect(choices.map((choice) => at(choice, 'finish_reason')).filter((reason) => reason !== null)).toEqual(['function_call'])
      const { text: asked } = await ask(dialect, { stream: true }, { 'x-service-metadata': 'enabled' })
      expect(asked).toContain('the others were left out')
    })

    test(`${dialect}: the answer is in them too, whole`, async () => {
      const { text, headers } = await ask(dialect, {}, { 'x-service-metadata': 'enabled' })
      expect(headers.get('x-service-warnings')).toBe('1')
      expect(text).toContain('The model made several calls at once.')
      expect(JSON.parse(text)).toMatchObject({
        choices: [{ finish_reason: 'function_call', message: { function_call: { name: 'run', arguments: expect.any(String) } } }],
      })
      expect(text).not.toContain('"tool_calls":[')
    })
  }

  test('one call is all that was said: no warning', async () => {
    expect((await ask('anthropic', {}, {}, [0])).headers.get('x-service-warnings')).toBeNull()
  })

  test('its wish for a function, or for none, is heeded', async () => {
    const choice = async (asked: unknown): Promise<unknown> =>
      at(JSON.parse((await ask('openai-chat', { function_call: asked })).sent[0]?.body ?? '{}'), 'tool_choice')
    expect(await choice({ name: 'run' })).toEqual({ type: 'function', function: { name: 'run' } })
    expect(await choice('none')).toBe('none')
    expect(await choice(null)).toBeUndefined()
  })

  test('a result of no call is text of the user, with a warning', async () => {
    const { sent, headers } = await ask('openai-chat', { messages: [{ role: 'function', name: 'other', content: 'so' }] }, {}, [0])
    expect(at(JSON.parse(sent[0]?.body ?? '{}'), 'messages')).toEqual([{ role: 'user', content: 'so' }])
    expect(headers.get('x-service-warnings')).toBe('1')
  })

  test('a member that is null is no older word: the request stays byte for byte', async () => {
    const messages =
      '[ {"role":"user","content":"Hi"},{"role":"assistant", "content":"So","function_call":null},{"role":"user","content":"x"}]'
    const reply = whole({
      id: 'c',
      model: 'm',
      choices: [{ index: 0, message: { role: 'assistant', content: 'Hi' }, finish_reason: 'stop' }],
    })
    const body = `{"model":"${MODEL}","messages":${messages}}`
    const { sent } = await replay({ client: 'chat', upstreams: [{ dialect: 'openai-chat', reply }], body })
    expect(sent[0]?.body).toContain(messages)
  })
})

describe('an upstream that answers in the older words', () => {
  const called = { name: 'run', arguments: '{"n":1}' }
  const message = { role: 'assistant', content: null, function_call: called }
  const body = { id: 'c', model: 'm', choices: [{ index: 0, message, finish_reason: 'function_call' }], usage: USAGE }
  const stream = reported(
    'openai-chat',
    chunk({ role: 'assistant', content: null, function_call: { name: 'run', arguments: '' } }),
    chunk({ function_call: { arguments: '{"n"' } }),
    chunk({ function_call: { arguments: ':1}' } }),
    chunk({}, 'function_call'),
  )

  for (const [client, own] of [
    ['chat', 'openai-chat'],
    ['responses', 'openai-responses'],
    ['messages', 'anthropic'],
  ] as const) {
    test(`${client}: one call of a tool, whole and streamed`, async () => {
      for (const streamed of [false, true]) {
        const { text } = await replayReply(client, 'openai-chat', streamed ? stream : whole(body))
        const { calls, stop } = await readAnswer(own, streamed, text)
        expect(calls).toMatchObject([{ name: 'run', arguments: { n: 1 } }])
        expect(calls[0]?.id).not.toBe('')
        expect(stop).toBe('tool_calls')
      }
    })
  }
})
