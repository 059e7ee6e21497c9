/** A provider refuses thinking that was made in another account: the request is sent once more without it. */
import { describe, expect, test } from 'bun:test'

import type { ClientDialect } from '../../src/canonical/call.ts'
import { sealProof } from '../../src/canonical/reasoning.ts'
import { recording, type UpstreamDialect } from '../support/recordings.ts'
import { MODEL, replay, type Reply } from '../support/replay.ts'

const encoder = new TextEncoder()
const refusing = (body: unknown, status = 400): Reply => ({
  status,
  type: 'application/json',
  pieces: [encoder.encode(JSON.stringify(body))],
})
const answering = (dialect: UpstreamDialect): Reply => ({
  type: 'application/json',
  pieces: [recording(dialect, 'length', false).bytes],
})

const PROOF = 'gAAAAABproofproofproof'
const OPENAI = { format: 'openai-responses-v1', kind: 'encrypted', data: PROOF, id: 'rs_1' } as const
const CLAUDE = { format: 'anthropic-claude-v1', kind: 'signature', data: PROOF, text: 'Hm' } as const

const RESULT = { type: 'function_call_output', call_id: 'call_1', output: 'sunny' }
const CALL = { type: 'function_call', call_id: 'call_1', name: 'weather', arguments: '{}' }
const items = (reasoning: object): object => ({ input: [{ role: 'user', content: 'Hi' }, reasoning, CALL, RESULT] })
const turns = (thinking: object): object => ({
  max_tokens: 100,
  messages: [
    { role: 'user', content: 'Hi' },
    { role: 'assistant', content: [thinking, { type: 'tool_use', id: 'call_1', name: 'weather', input: {} }] },
    { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'call_1', content: 'sunny' }] },
  ],
})
const messages = (details: object, call: object = {}): object => ({
  messages: [
    { role: 'user', content: 'Hi' },
    {
      role: 'assistant',
      content: null,
      reasoning_details: [details],
      tool_calls: [{ id: 'call_1', type: 'function', function: { name: 'weather', arguments: '{}' }, ...call }],
    },
    { role: 'tool', tool_call_id: 'call_1', content: 'sunny' },
  ],
})

const ENCRYPTED = { error: { message: 'The encrypted content gAAA...oof= could not be verified.', code: 'invalid_encrypted_content' } }
const UNNAMED = {
  error: { message: 'The encrypted content for item rs_1 could not be verified.', type: 'invalid_request_error', code: null },
}
const UNKNOWN_ITEM = { error: { message: "Item with id 'rs_1' not found. Items are not persisted when `store` is set to false." } }
const SIGNATURE = 'messages.1.content.0: Invalid `signature` in `thinking` block'
const INVALID_SIGNATURE = { type: 'error', error: { type: 'invalid_request_error', message: SIGNATURE } }
const CHANGED = 'messages.1.content.0: `thinking` or `redacted_thinking` blocks in the latest assistant message cannot be modified.'
const CORRUPTED = { error: { code: 400, message: 'Corrupted thought signature.', status: 'INVALID_ARGUMENT' } }

interface Case {
  readonly client: ClientDialect
  readonly dialect: UpstreamDialect
  readonly slug: string
  readonly model: string
  readonly body: object
  readonly refusal: Reply
  /** The operator opened what the account stores. Otherwise thinking without its proof does not go out at all. */
  readonly storedObjects?: boolean
}

const CASES: Readonly<Record<string, Case>> = {
  'an item of OpenAI’s, from a client of its dialect': {
    client: 'responses',
    dialect: 'openai-responses',
    slug: 'openai',
    model: 'gpt-5.4',
    body: items({ type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: PROOF }),
    refusal: refusing(ENCRYPTED),
  },
  'an item of Azure’s, whose refusal has no code': {
    client: 'responses',
    dialect: 'openai-responses',
    slug: 'azure',
    model: 'gpt-5.4',
    body: items({ type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: PROOF }),
    refusal: refusing(UNNAMED),
  },
  'an item of OpenAI’s without its encrypted content': {
    client: 'responses',
    dialect: 'openai-responses',
    slug: 'openai',
    model: 'gpt-5.4',
    body: items({ type: 'reasoning', id: 'rs_1', summary: [{ type: 'summary_text', text: PROOF }] }),
    refusal: refusing(UNKNOWN_ITEM, 404),
    storedObjects: true,
  },
  'a sealed item of OpenAI’s, from a Messages client': {
    client: 'messages',
    dialect: 'openai-responses',
    slug: 'openai',
    model: 'gpt-5.4',
    body: turns({ type: 'redacted_thinking', data: sealProof(OPENAI) }),
    refusal: refusing(ENCRYPTED),
  },
  'a signature of Claude’s, from a client of its dialect': {
    client: 'messages',
    dialect: 'anthropic',
    slug: 'anthropic',
    model: 'claude-opus-4-8',
    body: turns({ type: 'thinking', thinking: 'Hm', signature: PROOF }),
    refusal: refusing(INVALID_SIGNATURE),
  },
  'thinking of Claude’s that counts as changed, from a Chat client': {
    client: 'chat',
    dialect: 'anthropic',
    slug: 'anthropic',
    model: 'claude-opus-4-8',
    body: messages({ type: 'reasoning.text', text: 'Hm', signature: PROOF, format: 'anthropic-claude-v1' }),
    refusal: refusing({ type: 'error', error: { type: 'invalid_request_error', message: CHANGED } }),
  },
  'a sealed signature of Claude’s at Bedrock': {
    client: 'responses',
    dialect: 'bedrock',
    slug: 'bedrock',
    model: 'anthropic.claude-opus-4-8',
    body: items({ type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: sealProof(CLAUDE) }),
    refusal: refusing({ message: `The model returned the following errors: ${SIGNATURE}` }),
  },
  'a signature of Gemini’s on a call': {
    client: 'chat',
    dialect: 'google',
    slug: 'google',
    model: 'gemini-3-pro-preview',
    body: messages({ type: 'reasoning.encrypted', data: PROOF, id: 'call_1', format: 'google-gemini-v1' }),
    refusal: refusing(CORRUPTED),
  },
  'thinking that a router passes on, from a client of its dialect': {
    client: 'chat',
    dialect: 'openai-chat',
    slug: 'openrouter',
    model: 'anthropic/claude-opus-4.8',
    body: messages(
      { type: 'reasoning.text', text: 'Hm', signature: PROOF, format: 'anthropic-claude-v1' },
      { extra_content: { google: { thought_signature: PROOF } } },
    ),
    refusal: refusing({ error: { message: 'Provider returned error', code: 400, metadata: { raw: JSON.stringify(INVALID_SIGNATURE) } } }),
  },
}

const send = (
  { client, dialect, slug, model, body, refusal, storedObjects = false }: Case,
  more: object = {},
  replies: readonly Reply[] = [],
) =>
  replay({
    client,
    upstreams: [refusal, ...(replies.length > 0 ? replies : [answering(dialect)])].map((reply) => ({
      dialect,
      slug,
      model,
      reply,
      storedObjects,
    })),
    body: { model: MODEL, stream: false, ...body, ...more },
  })

describe('refused thinking is left out, and the conversation goes on', () => {
  test.each(Object.entries(CASES))('%s', async (_, one) => {
    const { status, sent, headers } = await send(one)
    expect([status, sent.length]).toEqual([200, 2])
    expect(sent[0]?.body).toContain(PROOF)
    expect(sent[1]?.body).not.toContain(PROOF)
    expect(sent[1]?.body).toContain('weather')
    expect(sent[1]?.body).toContain('sunny')
    expect(Number(headers.get('x-service-warnings'))).toBeGreaterThan(0)
  })

  test('a strict request is refused instead', async () => {
    const { text, sent } = await send(CASES['a signature of Claude’s, from a client of its dialect'] as Case, { strict: true })
    expect(sent).toHaveLength(1)
    expect(text).toContain('"strict":true')
  })

  test('a second refusal, and one of something else, reach the client', async () => {
    const one = CASES['an item of OpenAI’s, from a client of its dialect'] as Case
    const again = await send(one, {}, [one.refusal])
    expect(again.sent).toHaveLength(2)
    expect(again.text).toContain('could not be verified')
    const other = await send({ ...one, refusal: refusing({ error: { message: 'Unknown parameter.' } }) })
    expect(other.sent).toHaveLength(1)
    expect(other.text).toContain('Unknown parameter.')
  })
})
