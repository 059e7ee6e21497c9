/** Faults that hurt the users of other gateways (docs/contract/requests.md#proofs-of-reasoning): proofs of thinking and cache marks. */
import { describe, expect, test } from 'bun:test'

import { CLIENT_DIALECTS, type ClientDialect } from '../../src/canonical/call.ts'
import { at } from '../support/json-at.ts'
import { streamEvents } from '../support/client-stream.ts'
import { recording, UPSTREAM_DIALECTS } from '../support/recordings.ts'
import { replayReply } from '../support/replay.ts'
import { sentTo } from '../support/upstream-replies.ts'

const SIGNATURE = 'EqQBCgIYAhIM/+a=='

/** A turn in which Claude thought, as each interface sends it to its client and gets it back. */
const THOUGHT: Readonly<Record<ClientDialect, (encrypted: string) => Readonly<Record<string, unknown>>>> = {
  chat: () => ({
    messages: [
      { role: 'user', content: 'Hi' },
      {
        role: 'assistant',
        content: 'Forty-two.',
        reasoning_details: [{ type: 'reasoning.text', text: 'Hm, so.', signature: SIGNATURE, format: 'anthropic-claude-v1', index: 0 }],
      },
      { role: 'user', content: 'Why?' },
    ],
  }),
  responses: (encrypted) => ({
    input: [
      { role: 'user', content: 'Hi' },
      { type: 'reasoning', id: 'rs_1', summary: [], content: [{ type: 'reasoning_text', text: 'Hm, so.' }], encrypted_content: encrypted },
      { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Forty-two.', annotations: [] }] },
      { role: 'user', content: 'Why?' },
    ],
  }),
  messages: () => ({
    max_tokens: 100,
    messages: [
      { role: 'user', content: 'Hi' },
      {
        role: 'assistant',
        content: [
          { type: 'thinking', thinking: 'Hm, so.', signature: SIGNATURE },
          { type: 'text', text: 'Forty-two.' },
        ],
      },
      { role: 'user', content: 'Why?' },
    ],
  }),
}

/** The item that the Responses interface gave for that signature. */
const encryptedContent = async (): Promise<string> => {
  const { text } = await replayReply('responses', 'anthropic', {
    type: 'application/json',
    pieces: [recording('anthropic', 'thinking-proofs', false).bytes],
  })
  const { output } = JSON.parse(text) as { output: { encrypted_content?: string }[] }
  return output[0]?.encrypted_content ?? ''
}

describe('thinking and cache marks', () => {
  test('a signed block goes back to its maker byte for byte, from every interface', async () => {
    const encrypted = await encryptedContent()
    for (const client of CLIENT_DIALECTS) {
      const { body } = await sentTo(client, 'anthropic', THOUGHT[client](encrypted))
      expect(at(body, 'messages', 1, 'content', 0)).toEqual({ type: 'thinking', thinking: 'Hm, so.', signature: SIGNATURE })
    }
  })

  test('another dialect does not get it, neither as proof nor as text, and a warning tells', async () => {
    const encrypted = await encryptedContent()
    for (const client of CLIENT_DIALECTS) {
      for (const dialect of UPSTREAM_DIALECTS) {
        // An unknown server of the client's own dialect may be a router, so it gets what the client sends.
        if (dialect === 'anthropic' || (dialect === 'openai-chat' && client === 'chat')) continue
        const { text, warnings } = await sentTo(client, dialect, THOUGHT[client](encrypted))
        expect(text).not.toContain(SIGNATURE)
        expect(text).not.toContain('Hm, so.')
        expect(text).not.toContain('pb1.')
        expect(text).toContain('Forty-two.')
        expect(warnings).toBeGreaterThan(0)
      }
    }
  })

  test('the signature of streamed thinking reaches every client', async () => {
    const reply = { type: 'text/event-stream', pieces: [recording('anthropic', 'thinking-proofs', true).bytes] } as const
    expect((await replayReply('chat', 'anthropic', reply)).text).toContain(`"signature":"${SIGNATURE}"`)
    expect((await replayReply('messages', 'anthropic', reply)).text).toContain(`"signature":"${SIGNATURE}"`)
    const { text } = await replayReply('responses', 'anthropic', reply)
    const items = at(streamEvents(text).findLast(({ name }) => name === 'response.completed')?.data, 'response', 'output') as {
      encrypted_content?: string
    }[]
    expect(items[0]?.encrypted_content).toBe(await encryptedContent())
  })

  test('encrypted reasoning survives interfaces that have no word for it, there and back', async () => {
    const { bytes, payloads } = recording('openai-responses', 'openai-reasoning-encrypted-content.1', false)
    const theirs = (JSON.parse(payloads[0] ?? '') as { output: { type: string; encrypted_content?: string; call_id?: string }[] }).output
    const proof = theirs.find(({ type }) => type === 'reasoning')?.encrypted_content ?? ''
    expect(proof).not.toBe('')
    const reply = { type: 'application/json', pieces: [bytes] } as const

    const chat = JSON.parse((await replayReply('chat', 'openai-responses', reply)).text) as { choices: { message: object }[] }
    const messages = JSON.parse((await replayReply('messages', 'openai-responses', reply)).text) as {
      content: { type: string; id?: string }[]
    }
    const calls = theirs.flatMap(({ call_id: id }) => id ?? [])
    const back: readonly (readonly [ClientDialect, Readonly<Record<string, unknown>>])[] = [
      [
        'chat',
        {
          messages: [
            { role: 'user', content: 'Hi' },
            chat.choices[0]?.message,
            ...calls.map((id) => ({ role: 'tool', tool_call_id: id, content: 'ok' })),
            { role: 'user', content: 'Go on.' },
          ],
        },
      ],
      [
        'messages',
        {
          max_tokens: 100,
          messages: [
            { role: 'user', content: 'Hi' },
            { role: 'assistant', content: messages.content },
            {
              role: 'user',
              content: [...calls.map((id) => ({ type: 'tool_result', tool_use_id: id, content: 'ok' })), { type: 'text', text: 'Go on.' }],
            },
          ],
        },
      ],
    ]
    for (const [client, body] of back) {
      const { body: sent } = await sentTo(client, 'openai-responses', body)
      expect((sent['input'] as { encrypted_content?: string }[]).flatMap(({ encrypted_content: data }) => data ?? [])).toContain(proof)
    }
  })

  test('a cache mark stays on its block with its time, and is not looked for in tools and their input', async () => {
    const mark = { type: 'ephemeral', ttl: '1h' }
    const schema = { type: 'object', properties: { cache_control: { type: 'string' } } }
    const input = { cache_control: { type: 'ephemeral' } }
    const body = {
      messages: [
        { role: 'system', content: [{ type: 'text', text: 'Long.', cache_control: mark }] },
        { role: 'user', content: [{ type: 'text', text: 'Hi' }] },
        {
          role: 'assistant',
          content: null,
          tool_calls: [{ id: 'c1', type: 'function', function: { name: 'f', arguments: JSON.stringify(input) } }],
        },
        { role: 'tool', tool_call_id: 'c1', content: 'ok' },
      ],
      tools: [{ type: 'function', function: { name: 'f', parameters: schema } }],
    }
    const { body: sent, text } = await sentTo('chat', 'anthropic', body)
    expect(sent['system']).toEqual([{ type: 'text', text: 'Long.', cache_control: mark }])
    expect(text.match(/"ttl":"1h"/g)).toHaveLength(1)
    expect(at(sent, 'tools', 0, 'input_schema')).toEqual(schema)
    expect(at(sent, 'messages', 1, 'content', 0, 'input')).toEqual(input)
    const second = await sentTo('chat', 'anthropic', body)
    expect(second.text).toBe(text)
  })
})
