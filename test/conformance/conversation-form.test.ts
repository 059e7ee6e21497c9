/** A malformed conversation is a 400 that names the place, whether it is translated or relayed (decisions/0092). */
import { describe, expect, test } from 'bun:test'

import type { ClientDialect } from '../../src/canonical/call.ts'
import { GatewayError } from '../../src/errors.ts'
import { recording, type UpstreamDialect } from '../support/recordings.ts'
import { MODEL, OWN_DIALECT, replay } from '../support/replay.ts'

const VENDORS: Readonly<Record<ClientDialect, string>> = { chat: 'openai', responses: 'openai', messages: 'anthropic' }
const FIELDS: Readonly<Record<ClientDialect, string>> = { chat: 'messages', responses: 'input', messages: 'messages' }

interface Sent {
  /** The error that refused the request; null if it was sent. */
  readonly refusal: GatewayError | null
  /** The body that was sent, as text; null if none was. */
  readonly sent: string | null
}

const send = async (client: ClientDialect, dialect: UpstreamDialect, slug: string, conversation: unknown, beside = {}): Promise<Sent> => {
  const { bytes } = recording(dialect, 'length', false)
  try {
    const { status, sent } = await replay({
      client,
      upstreams: [{ dialect, reply: { type: 'application/json', pieces: [bytes] }, slug }],
      body: { model: MODEL, ...(client === 'messages' ? { max_tokens: 2000 } : {}), [FIELDS[client]]: conversation, ...beside },
    })
    expect(status).toBe(200)
    return { refusal: null, sent: sent[0]?.body ?? null }
  } catch (refusal) {
    if (!(refusal instanceof GatewayError)) throw refusal
    return { refusal, sent: null }
  }
}

const HI = { role: 'user', content: 'Hi' }
/** Makes the conversation too large to be parsed when it is relayed. */
const LONG = { role: 'user', content: 'Hi. '.repeat(20_000) }
const said = (content: unknown) => [HI, { role: 'user', content }]

type Case = readonly [path: string, conversation: readonly unknown[]]

const EVERYWHERE: readonly Case[] = [
  ['[0]', [5]],
  ['[1]', [HI, 'Hello']],
  ['[1]', [HI, null]],
  ['[1]', [HI, [HI]]],
  ['[1].role', [HI, { role: 5, content: 'x' }]],
  ['[1].content', said(5)],
  ['[1].content', said(true)],
  ['[1].content', said({ type: 'text', text: 'x' })],
]

const NAMED: readonly Case[] = [
  ['[1].role', [HI, { role: 'narrator', content: 'x' }]],
  ['[1].role', [HI, { role: 'r'.repeat(200), content: 'x' }]],
  ['[1].content', [HI, { role: 'user' }]],
  ['[1].content[0]', said([5])],
  ['[1].content[1]', said([{ type: 'unheard_of' }, 'x'])],
  ['[1].content[0].type', said([{ text: 'x' }])],
  ['[1].content[1]', said([{ type: 'unheard_of', of: LONG.content }, 5])],
]

const OF_DIALECT: Readonly<Record<ClientDialect, readonly Case[]>> = {
  chat: [
    ['[1].tool_calls', [HI, { role: 'assistant', tool_calls: 5 }]],
    ['[1].tool_calls[0]', [HI, { role: 'assistant', tool_calls: ['f'] }]],
    ['[1].tool_call_id', [HI, { role: 'tool', tool_call_id: 5, content: 'x' }]],
  ],
  responses: [
    ['[1].type', [HI, { type: 5 }]],
    ['[1].name', [HI, { type: 'function_call', call_id: 'c', arguments: '{}' }]],
    ['[1].arguments', [HI, { type: 'function_call', call_id: 'c', name: 'f', arguments: {} }]],
    ['[1].output', [HI, { type: 'function_call_output', call_id: 'c', output: 5 }]],
  ],
  messages: [],
}

const NAMED_OF_DIALECT: Readonly<Record<ClientDialect, readonly Case[]>> = {
  chat: [['[1].content[0].text', said([{ type: 'text', text: 5 }])]],
  responses: [['[1].content[0].text', said([{ type: 'input_text', text: 5 }])]],
  messages: [
    ['[1].content[0].text', said([{ type: 'text', text: 5 }])],
    ['[1].content[0].content', said([{ type: 'tool_result', tool_use_id: 't', content: 5 }])],
    ['[1].content[0].content[0]', said([{ type: 'tool_result', tool_use_id: 't', content: [5] }])],
  ],
}

const CLIENTS = ['chat', 'responses', 'messages'] as const

describe.each(CLIENTS)('%s', (client) => {
  const own = OWN_DIALECT[client]
  const field = FIELDS[client]
  const refused = async (dialect: UpstreamDialect, slug: string, conversation: readonly unknown[], path: string) => {
    const { refusal } = await send(client, dialect, slug, conversation)
    expect(refusal?.status).toBe(400)
    expect(refusal?.message).toStartWith(`${field}${path} must be`)
    return [refusal?.type, refusal?.message, refusal?.metadata]
  }

  const cases = [...EVERYWHERE, ...NAMED, ...OF_DIALECT[client], ...NAMED_OF_DIALECT[client]]
  test.each(cases)('%s: 400 on both lanes, in the same words, whatever its length', async (path, conversation) => {
    const translated = await refused('google', 'google', conversation, path)
    const passed = await refused(own, VENDORS[client], conversation, path)
    expect(passed).toEqual(translated)
    await refused(own, VENDORS[client], [...conversation, LONG], path)
  })

  test.each([...EVERYWHERE, ...OF_DIALECT[client]])('%s: nor does a server of the operator’s own get it', async (path, conversation) => {
    for (const length of [[], [LONG]]) await refused(own, 'acme', [...conversation, ...length], path)
  })

  test.each([...NAMED, ...NAMED_OF_DIALECT[client]])('%s: a server of the operator’s own may know it', async (_, conversation) => {
    for (const length of [[], [LONG]]) {
      const all = [...conversation, ...length]
      const { sent } = await send(client, own, 'acme', all)
      expect(sent).toContain(JSON.stringify(all))
    }
  })

  test('parts, members and fields that nobody here knows still reach a vendor, byte for byte', async () => {
    const parts = said([
      { type: 'unheard_of', deep: { er: [5] } },
      { type: client === 'responses' ? 'input_text' : 'text', text: 'x', more: 5 },
    ])
    for (const conversation of [parts, [...parts, LONG]]) {
      const { sent } = await send(client, own, 'acme', conversation, { unheard_of: { of: [5] } })
      expect(sent).toContain(JSON.stringify(conversation))
      expect(sent).toContain('"unheard_of":{"of":[5]}')
      expect((await send(client, own, VENDORS[client], conversation)).sent).toContain('unheard_of')
    }
  })
})

test('responses: items of unknown types still reach OpenAI', async () => {
  const input = [HI, { type: 'unheard_of', content: 5 }]
  const { sent } = await send('responses', 'openai-responses', 'openai', input)
  expect(sent).toContain(JSON.stringify(input))
})
