/** Log probabilities that a request asks for, or refuses, with providers of the dialects that have them. */
import { expect, test } from 'bun:test'

import type { ClientDialect } from '../../src/canonical/call.ts'
import { recording, streamBytes, type UpstreamDialect } from '../support/recordings.ts'
import { question, replay, replayReply, typeOf } from '../support/replay.ts'

const ask = async (client: ClientDialect, dialect: UpstreamDialect, model: string, fields: object) => {
  const reply = { type: 'application/json', pieces: [recording(dialect, 'length', false).bytes] } as const
  const slug = dialect === 'google' ? 'google' : 'openai'
  const body = { ...question(client, false), tools: undefined, ...fields }
  const { sent, headers } = await replay({ client, upstreams: [{ dialect, reply, model, slug }], body })
  return { sent: sent[0]?.body ?? '', warnings: Number(headers.get('x-service-warnings') ?? 0) }
}

test.each<[UpstreamDialect, string]>([
  ['openai-chat', 'gpt-4.1'],
  ['openai-responses', 'gpt-4.1'],
  ['google', 'gemini-3-flash'],
])('%s: a number of them beside `logprobs: false` asks for none, with a warning', async (dialect, model) => {
  const { sent, warnings } = await ask('chat', dialect, model, { logprobs: false, top_logprobs: 3 })
  expect(sent).not.toMatch(/top_logprobs|output_text\.logprobs|responseLogprobs|"logprobs":(?:true|3)/)
  expect(warnings).toBe(1)
})

test.each<[ClientDialect, object]>([
  ['chat', { logprobs: true }],
  ['responses', { include: ['message.output_text.logprobs'] }],
])('%s: a model that reports none is not asked for them, with a warning', async (client, fields) => {
  const { sent, warnings } = await ask(client, 'openai-responses', 'gpt-5.4', fields)
  expect(sent).not.toContain('logprobs')
  expect(warnings).toBe(1)
})

test.each<[ClientDialect, object]>([
  ['chat', { logprobs: true }],
  ['responses', { include: ['message.output_text.logprobs'] }],
])('%s: a model that reports them is asked for them', async (client, fields) => {
  const { sent, warnings } = await ask(client, 'openai-responses', 'gpt-4.1', fields)
  expect(sent).toContain('"include":["message.output_text.logprobs"]')
  expect(warnings).toBe(0)
})

test('those of a text that a call follows stand with the text, or there is a warning if they come behind the call', async () => {
  const logprobs = { content: [{ token: 'Hi', logprob: -0.5, bytes: [72, 105], top_logprobs: [] }] }
  const said = { role: 'assistant', content: 'Hi' }
  const call = { index: 0, id: 'c1', type: 'function', function: { name: 'get_weather', arguments: '{}' } }
  const chunk = (choice: object) => JSON.stringify({ id: 'c', model: 'm', choices: [{ index: 0, finish_reason: null, ...choice }] })
  const whole = chunk({ message: { ...said, tool_calls: [call] }, logprobs, finish_reason: 'tool_calls' })
  const early = [chunk({ delta: { ...said, tool_calls: [call] }, logprobs }), chunk({ delta: {}, finish_reason: 'tool_calls' })]
  const late = [chunk({ delta: { ...said, tool_calls: [call] } }), chunk({ delta: {}, logprobs, finish_reason: 'tool_calls' })]
  const found = async (stream: boolean, bytes: Uint8Array) => {
    const { text, headers } = await replayReply('responses', 'openai-chat', { type: typeOf(stream), pieces: [bytes] }, stream)
    return [text.includes('"logprob":-0.5'), text.includes('get_weather'), headers.get('x-service-warnings')]
  }
  expect(await found(false, new TextEncoder().encode(whole))).toEqual([true, true, null])
  expect(await found(true, streamBytes('openai-chat', early))).toEqual([true, true, null])
  expect(await found(true, streamBytes('openai-chat', late))).toEqual([false, true, '1'])
})
