/** Values that a vendor refuses, or that mean nothing to it, on either lane. */
import { describe, expect, test } from 'bun:test'

import type { ClientDialect } from '../../src/canonical/call.ts'
import { GatewayError } from '../../src/errors.ts'
import { recording, type UpstreamDialect } from '../support/recordings.ts'
import { MODEL, replay, type Replay } from '../support/replay.ts'

interface Sent {
  readonly refusal: GatewayError | string | null
  readonly body: Readonly<Record<string, unknown>> | null
  readonly text: string | null
  readonly warnings: number
}

type Asked = readonly [client: ClientDialect, dialect: UpstreamDialect, slug: string, model: string]

const send = async ([client, dialect, slug, model]: Asked, body: object, more: Partial<Replay> = {}): Promise<Sent> => {
  const { bytes } = recording(dialect, 'length', false)
  try {
    const { status, text, sent, headers } = await replay({
      client,
      upstreams: [{ dialect, reply: { type: 'application/json', pieces: [bytes] }, slug, model }],
      body: { model: MODEL, ...(client === 'messages' ? { max_tokens: 2000 } : {}), ...body },
      ...more,
    })
    const said = sent[0]?.body ?? null
    const warnings = Number(headers.get('x-service-warnings') ?? 0)
    return { refusal: status === 200 ? null : text, body: said === null ? null : JSON.parse(said), text: said, warnings }
  } catch (refusal) {
    if (!(refusal instanceof GatewayError)) throw refusal
    return { refusal, body: null, text: null, warnings: 0 }
  }
}

const HI = { role: 'user', content: 'Hi' }
const CLAUDE = 'claude-sonnet-4-5'

describe('a picture by an http: address', () => {
  const URL = 'http://a.example/i.png'
  const PNG = 'data:image/png;base64,iVBORw0KGgo='
  const BODIES: Readonly<Record<ClientDialect, object>> = {
    chat: {
      messages: [
        {
          role: 'user',
          content: [
            { type: 'text', text: 'x' },
            { type: 'image_url', image_url: { url: URL } },
          ],
        },
      ],
    },
    responses: { input: [{ role: 'user', content: [{ type: 'input_image', detail: 'auto', image_url: URL }] }] },
    messages: {
      messages: [
        {
          role: 'user',
          content: [
            { type: 'text', text: 'x' },
            { type: 'image', source: { type: 'url', url: URL } },
          ],
        },
      ],
    },
  }
  const PLACES = { chat: 'messages[0]', responses: 'input[0]', messages: 'messages[0].content[1].source.url' }

  test.each(['chat', 'responses', 'messages'] as const)('%s: 400 that names it, before Anthropic hears of it', async (client) => {
    const { refusal, body } = await send([client, 'anthropic', 'anthropic', CLAUDE], BODIES[client])
    expect(body).toBeNull()
    expect(String(refusal)).toContain(PLACES[client])
  })

  test.each([
    { type: 'tool_result', tool_use_id: 't', content: [{ type: 'image', source: { type: 'url', url: URL } }] },
    { type: 'document', source: { type: 'content', content: [{ type: 'image', source: { type: 'url', url: URL } }] } },
    { type: 'document', source: { type: 'url', url: 'HTTP://a.example/f.pdf' } },
  ])('messages: also in %j', async (block) => {
    const messages = [
      HI,
      { role: 'assistant', content: [{ type: 'tool_use', id: 't', name: 'f', input: {} }] },
      { role: 'user', content: [block] },
    ]
    const { refusal, body } = await send(['messages', 'anthropic', 'anthropic', CLAUDE], { messages })
    expect(body).toBeNull()
    expect(String(refusal)).toContain('messages[2].content[0].')
  })

  test('its bytes go, where the operator allows fetching', async () => {
    const { body } = await send(['chat', 'anthropic', 'anthropic', CLAUDE], BODIES.chat, { loadMedia: async () => PNG })
    expect(JSON.stringify(body)).toContain('iVBORw0KGgo=')
  })

  test('a server of the operator’s own gets it, and so does a text that mentions one', async () => {
    expect((await send(['messages', 'anthropic', 'acme', CLAUDE], BODIES.messages)).text).toContain(URL)
    expect((await send(['messages', 'anthropic', 'anthropic', CLAUDE], { messages: [{ role: 'user', content: URL }] })).text).toContain(URL)
  })
})

describe('an empty stop sequence says nothing', () => {
  const ASKED: readonly Asked[] = [
    ['chat', 'openai-chat', 'openai', 'gpt-4.1'],
    ['chat', 'openai-chat', 'groq', 'llama-4'],
    ['chat', 'google', 'google', 'gemini-3-flash'],
    ['chat', 'anthropic', 'anthropic', CLAUDE],
    ['chat', 'bedrock', 'bedrock', 'anthropic.claude-sonnet-4-5-20250929-v1:0'],
    ['messages', 'anthropic', 'anthropic', CLAUDE],
    ['messages', 'google', 'google', 'gemini-3-flash'],
    ['messages', 'openai-chat', 'openai', 'gpt-4.1'],
  ]
  const stopOf = (client: ClientDialect, stop: unknown): object => ({
    messages: [HI],
    [client === 'chat' ? 'stop' : 'stop_sequences']: stop,
  })

  test.each(ASKED)('%s to %s of %s: it does not go out, and costs no warning, under strict too', async (client, dialect, slug, model) => {
    const asked: Asked = [client, dialect, slug, model]
    for (const stop of [[], [''], ['', ''], ...(client === 'chat' ? [''] : [])]) {
      const { text, warnings } = await send(asked, { ...stopOf(client, stop), strict: true })
      expect([text === null, warnings]).toEqual([false, 0])
      expect(text?.toLowerCase()).not.toContain('stop')
    }
    const { text, warnings } = await send(asked, { ...stopOf(client, ['', 'END']), strict: true })
    expect(text).toContain('["END"]')
    expect(warnings).toBe(0)
  })

  test('a server of the operator’s own gets it as it is', async () => {
    expect((await send(['chat', 'openai-chat', 'acme', 'm'], stopOf('chat', []))).text).toContain('"stop":[]')
  })
})

describe('nothing is stored in an account', () => {
  test.each<Asked>([
    ['chat', 'openai-chat', 'openai', 'gpt-4.1'],
    ['chat', 'openai-chat', 'groq', 'llama-4'],
    ['chat', 'anthropic', 'anthropic', CLAUDE],
  ])('%s to %s of %s: store: true is left out with a warning, and a 400 under strict', async (client, dialect, slug, model) => {
    const asked: Asked = [client, dialect, slug, model]
    const { text, warnings } = await send(asked, { store: true, messages: [HI] })
    expect([text?.includes('store'), warnings]).toEqual([false, 1])
    expect((await send(asked, { store: true, messages: [HI], strict: true })).body).toBeNull()
  })

  test('responses: store: true is a 400 that names it', async () => {
    const { refusal, body } = await send(['responses', 'openai-responses', 'openai', 'gpt-5.4'], { store: true, input: 'Hi' })
    expect(body).toBeNull()
    expect(String(refusal)).toContain('store: Must be false')
  })

  test('a server of the operator’s own stores what it is asked to', async () => {
    expect((await send(['chat', 'openai-chat', 'acme', 'm'], { store: true, messages: [HI] })).body).toMatchObject({ store: true })
  })

  test('store: false loses nothing anywhere', async () => {
    for (const asked of [
      ['chat', 'openai-chat', 'openai', 'gpt-4.1'],
      ['chat', 'anthropic', 'anthropic', CLAUDE],
    ] as const) {
      const { body, warnings } = await send(asked, { messages: [HI], store: false, strict: true })
      expect([body === null, warnings]).toEqual([false, 0])
    }
  })
})
