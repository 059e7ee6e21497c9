/**
 * A tool that Anthropic runs on its own servers is never a call for the client; a call of a client's tool made by Anthropic's code
 * execution is one.
 */
import { describe, expect, test } from 'bun:test'

import { readAnswer } from '../support/read-answer.ts'
import { OWN_DIALECT, question, replay } from '../support/replay.ts'
import { reported, whole } from '../support/upstream-replies.ts'

const RUN = { type: 'server_tool_use', id: 'srvtoolu_1', name: 'code_execution', input: { code: 'await get_weather()' } }
const CALL = {
  type: 'tool_use',
  id: 'toolu_1',
  name: 'get_weather',
  input: { city: 'Oslo' },
  caller: { type: 'code_execution_20250825', tool_id: 'srvtoolu_1' },
}
const DONE = { type: 'code_execution_tool_result', tool_use_id: 'srvtoolu_1', content: { type: 'code_execution_result', stdout: 'fog' } }
const usage = { input_tokens: 3, output_tokens: 2 }

const answerOf = (content: readonly object[], stop: string) => ({
  id: 'm',
  type: 'message',
  role: 'assistant',
  model: 'm',
  content,
  stop_reason: stop,
  stop_sequence: null,
  container: { id: 'container_1', expires_at: '2026-11-22T00:00:00Z' },
  usage,
})

const streamOf = (content: readonly object[], stop: string) =>
  reported(
    'anthropic',
    { type: 'message_start', message: { ...answerOf([], stop), stop_reason: null } },
    ...content.flatMap((block, index) => [
      { type: 'content_block_start', index, content_block: block },
      { type: 'content_block_stop', index },
    ]),
    { type: 'message_delta', delta: { stop_reason: stop, stop_sequence: null }, usage },
    { type: 'message_stop' },
  )

describe.each(['chat', 'responses', 'messages'] as const)('%s', (client) => {
  const read = async (content: readonly object[], stop: string, stream: boolean) => {
    const reply = stream ? streamOf(content, stop) : whole(answerOf(content, stop))
    const { text } = await replay({ client, upstreams: [{ dialect: 'anthropic', reply }], body: question(client, stream) })
    return readAnswer(OWN_DIALECT[client], stream, text)
  }

  test.each([false, true])('a call that waits for the client is the only one it sees (stream: %p)', async (stream) => {
    const { calls, stop } = await read([{ type: 'text', text: 'Let me see.' }, RUN, CALL], 'tool_use', stream)
    expect(calls).toEqual([{ id: 'toolu_1', name: 'get_weather', arguments: { city: 'Oslo' } }])
    expect(stop).toBe('tool_calls')
  })

  test.each([false, true])('what ran on the provider’s servers is no call (stream: %p)', async (stream) => {
    const { calls, stop, text } = await read([RUN, DONE, { type: 'text', text: 'Fog.' }], 'end_turn', stream)
    expect([calls, stop, text]).toEqual([[], 'stop', 'Fog.'])
  })

  // As recorded: while the code runs on, the message that follows a result is complete with its beginning.
  test('a call that comes with the beginning of a stream is one', async () => {
    const reply = reported('anthropic', { type: 'message_start', message: answerOf([CALL], 'tool_use') }, { type: 'message_stop' })
    const { text } = await replay({ client, upstreams: [{ dialect: 'anthropic', reply }], body: question(client, true) })
    const { calls, stop } = await readAnswer(OWN_DIALECT[client], true, text)
    expect(calls).toEqual([{ id: 'toolu_1', name: 'get_weather', arguments: { city: 'Oslo' } }])
    expect(stop).toBe('tool_calls')
  })
})
