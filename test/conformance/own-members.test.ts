/** Members of an answer beside its content reach a client of the provider's own dialect, although filters have its answer rendered anew. */
import { describe, expect, test } from 'bun:test'

import { readStream } from '../support/client-stream.ts'
import { emailGuardrail } from '../support/guardrail.ts'
import { at } from '../support/json-at.ts'
import { question, replay, type Reply } from '../support/replay.ts'
import { reported, whole } from '../support/upstream-replies.ts'
import type { ClientDialect } from '../../src/canonical/call.ts'

type Json = Readonly<Record<string, unknown>>

const ENDPOINTS = {
  chat: { dialect: 'openai-chat', slug: 'openai', model: 'gpt-5' },
  responses: { dialect: 'openai-responses', slug: 'openai', model: 'gpt-6.2-sol' },
  messages: { dialect: 'anthropic', slug: 'anthropic', model: 'claude-opus-5-5' },
} as const

/** The text of an answer that a filter has looked at. */
const screened = async (dialect: ClientDialect, client: ClientDialect, stream: boolean, reply: Reply): Promise<string> => {
  const { text, internalErrors } = await replay({
    client,
    upstreams: [{ ...ENDPOINTS[dialect], reply }],
    body: question(client, stream),
    guardrails: [emailGuardrail('redact')],
  })
  expect(internalErrors).toEqual([])
  if (stream) expect(readStream(client, text)).toEqual({ end: 'normal', faults: [] })
  return text
}

/** The objects of the events of a stream, or the whole answer. */
const objectsOf = (text: string, stream: boolean): Json[] =>
  stream ? [...text.matchAll(/^data: (\{.*)$/gm)].map(([, json = '']) => JSON.parse(json) as Json) : [JSON.parse(text) as Json]

describe.each([false, true])('Chat Completions, stream: %p', (stream) => {
  const said = { role: 'assistant', content: 'Hi' }
  const answer = (moderation: Json): Reply => {
    const beside = { id: 'c', created: 5, model: 'gpt-5', moderation, usage: { prompt_tokens: 1, completion_tokens: 1 } }
    const end = { index: 0, finish_reason: 'stop' }
    return stream
      ? reported('openai-chat', { ...beside, choices: [{ ...end, delta: said }] })
      : whole({ ...beside, choices: [{ ...end, message: said }] })
  }
  const verdict = { type: 'moderation_results', results: [{ flagged: true, category_scores: { hate: 0.5 } }] }

  test('the verdict of the provider’s moderation', async () => {
    const objects = objectsOf(await screened('chat', 'chat', stream, answer({ output: verdict })), stream)
    expect(objects.flatMap(({ moderation }) => (moderation === undefined ? [] : [moderation]))).toEqual([{ output: verdict }])
  })

  test('a member that quotes what must not pass is left out', async () => {
    const quoting = { output: { type: 'error', message: 'ann@example.com is not allowed.' } }
    expect(await screened('chat', 'chat', stream, answer(quoting))).not.toContain('"moderation"')
  })

  test('a member that is larger than any provider’s is left out with a warning', async () => {
    const huge = { output: { type: 'error', message: 'x'.repeat(300_000) } }
    const { text } = await replay({
      client: 'chat',
      upstreams: [{ ...ENDPOINTS.chat, reply: answer(huge) }],
      body: question('chat', stream),
      headers: { 'x-service-metadata': 'enabled' },
      guardrails: [emailGuardrail('redact')],
    })
    expect(text).not.toContain('xxx')
    expect(text).toContain('The answer holds a part of type moderation, which could not be translated; it was left out.')
  })

  test('another interface has no place for it', async () => {
    expect(await screened('chat', 'messages', stream, answer({ output: verdict }))).not.toContain('"moderation"')
  })
})

test.each([false, true])('Responses, stream: %p', async (stream) => {
  const own = {
    moderation: { output: { type: 'moderation_result', flagged: true } },
    input_transformations: [{ id: 'rs_1', type: 'reasoning', action: 'removed', reason: 'turn_boundary' }],
    prompt_cache_diagnostics: { type: 'cache_miss', cache_missed_tokens: 7, reason: 'tools_changed' },
    tool_usage: { web_search: { num_requests: 2 } },
  }
  const item = {
    type: 'message',
    id: 'm',
    role: 'assistant',
    status: 'completed',
    content: [{ type: 'output_text', text: 'Hi', annotations: [] }],
  }
  const response = { id: 'resp_1', object: 'response', created_at: 1, model: 'm', usage: { input_tokens: 3, output_tokens: 2 } }
  const done = { ...response, ...own, status: 'completed', output: [item] }
  const reply = stream
    ? reported(
        'openai-responses',
        { type: 'response.created', response: { ...response, status: 'in_progress', output: [] }, sequence_number: 0 },
        { type: 'response.output_item.added', output_index: 0, item: { ...item, content: [] }, sequence_number: 1 },
        { type: 'response.output_item.done', output_index: 0, item, sequence_number: 2 },
        { type: 'response.completed', response: done, sequence_number: 3 },
      )
    : whole(done)
  const last = objectsOf(await screened('responses', 'responses', stream, reply), stream).at(-1)
  expect(stream ? at(last, 'response') : last).toMatchObject(own)
})

describe.each([false, true])('Messages, stream: %p', (stream) => {
  const counted = { input_tokens: 3, output_tokens: 2 }
  const message = { id: 'msg_1', type: 'message', role: 'assistant', model: 'claude', stop_sequence: null }
  /** `end`: members of the end; `more`: members beside it. */
  const answer = (end: Json, more: Json, usage: Json = counted): Reply => {
    const content = { type: 'text', text: 'Hi', citations: [] }
    return stream
      ? reported(
          'anthropic',
          { type: 'message_start', message: { ...message, ...more, content: [], stop_reason: null, usage } },
          { type: 'content_block_start', index: 0, content_block: content },
          { type: 'content_block_stop', index: 0 },
          { type: 'message_delta', delta: { stop_sequence: null, ...end }, usage, ...more },
          { type: 'message_stop' },
        )
      : whole({ ...message, ...more, ...end, content: [content], usage })
  }
  /** The message with what its events add to it. */
  const messageOf = async (reply: Reply, client: ClientDialect = 'messages'): Promise<Json> => {
    const objects = objectsOf(await screened('messages', client, stream, reply), stream)
    return Object.assign({}, ...objects.flatMap(({ message: begun, delta, ...rest }) => [begun, delta, rest])) as Json
  }

  test('what Claude says of its refusal', async () => {
    const details = {
      type: 'refusal',
      category: 'cyber',
      explanation: 'Ask ann@example.com.',
      fallback_credit_token: 'token',
      recommended_model: 'claude-haiku-5-5',
    }
    const given = { ...details, fallback_has_prefill_claim: true }
    const { stop_details: told } = await messageOf(answer({ stop_reason: 'refusal', stop_details: given }, {}))
    // The explanation stands in the content too, which is no beginning that Claude would continue.
    expect(told).toEqual({ ...details, explanation: expect.stringMatching(/^Ask \[.+\]\.$/) })
  })

  test('the container, and what became of the input', async () => {
    const container = { id: 'container_1', expires_at: '2026-12-01T00:00:00Z' }
    const more = {
      context_management: { applied_edits: [{ type: 'clear_tool_uses_20250919', cleared_tool_uses: 2, cleared_input_tokens: 9 }] },
      diagnostics: { cache_miss_reason: { type: 'model_changed' } },
      input_transformations: [{ type: 'thinking_dropped' }],
    }
    expect(await messageOf(answer({ stop_reason: 'end_turn', container }, more))).toMatchObject({ ...more, container })
  })

  test('the usage that only Claude counts', async () => {
    const usage = { ...counted, speed: 'fast', fallback_credit: { status: 'applied' }, iterations: [{ type: 'message', ...counted }] }
    expect(await messageOf(answer({ stop_reason: 'end_turn' }, {}, usage))).toMatchObject({ usage })
  })

  test('the tier, the speed and the geography, from the beginning of the message on', async () => {
    const usage = { ...counted, service_tier: 'standard', speed: 'standard', inference_geo: 'us' }
    const objects = objectsOf(await screened('messages', 'messages', stream, answer({ stop_reason: 'end_turn' }, {}, usage)), stream)
    for (const part of [stream ? at(objects[0], 'message') : objects[0], stream ? objects.at(-2) : objects[0]])
      expect(part).toMatchObject({ usage: { service_tier: 'standard', speed: 'standard', inference_geo: 'us' } })
  })

  test('a conversation that fills the context', async () => {
    const full = 'model_context_window_exceeded'
    expect(await messageOf(answer({ stop_reason: full }, {}))).toMatchObject({ stop_reason: full })
  })
})

test('Messages: what Claude says of its refusal, in an answer with a tool of the service', async () => {
  const details = { type: 'refusal', category: 'bio', explanation: null, recommended_model: 'claude-haiku-5-5' }
  const refusal = { id: 'msg_1', type: 'message', role: 'assistant', content: [], stop_reason: 'refusal', stop_details: details }
  const { text } = await replay({
    client: 'messages',
    upstreams: [{ ...ENDPOINTS.messages, reply: whole({ ...refusal, usage: { input_tokens: 3, output_tokens: 0 } }) }],
    body: { ...question('messages', false), tools: [{ type: 'service:datetime' }] },
  })
  expect(JSON.parse(text)).toMatchObject({ stop_details: { category: 'bio', recommended_model: 'claude-haiku-5-5' } })
})
