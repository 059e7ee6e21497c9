/** The essential content of a request reaches the provider, or the request is a 400 that names it: a model never answers without it. */
import { describe, expect, test } from 'bun:test'

import type { ClientDialect } from '../../src/canonical/call.ts'
import { UnsafeRequest } from '../../src/providers/transport/safe-fetch.ts'
import { recording, type UpstreamDialect } from '../support/recordings.ts'
import { MODEL, replay, type Replay } from '../support/replay.ts'

const MODELS: Readonly<Record<UpstreamDialect, string>> = {
  'openai-chat': 'gpt-4.1',
  'openai-responses': 'gpt-5.4',
  anthropic: 'claude-sonnet-4-5',
  google: 'gemini-3-flash',
  bedrock: 'anthropic.claude-sonnet-4-5-20250929-v1:0',
}

interface Sent {
  readonly status: number
  readonly text: string
  /** The body that was sent; null if none was. */
  readonly body: Readonly<Record<string, unknown>> | null
  readonly warnings: number
}

const send = async (
  client: ClientDialect,
  dialect: UpstreamDialect,
  body: object,
  more: Partial<Replay> & { readonly model?: string } = {},
): Promise<Sent> => {
  const { model = MODELS[dialect], ...rest } = more
  const { bytes } = recording(dialect, 'length', false)
  const limit = client === 'messages' ? { max_tokens: 2000 } : {}
  const { status, text, sent, headers } = await replay({
    client,
    upstreams: [{ dialect, reply: { type: 'application/json', pieces: [bytes] }, model }],
    body: { model: MODEL, ...limit, ...body },
    ...rest,
  })
  const [request] = sent
  return {
    status,
    text,
    body: request === undefined ? null : (JSON.parse(request.body) as Record<string, unknown>),
    warnings: Number(headers.get('x-service-warnings') ?? 0),
  }
}

const user = (content: unknown): object => ({ role: 'user', content })
const blocksOf = (body: Sent['body']): Readonly<Record<string, unknown>>[] =>
  ((body ?? {})['messages'] as { readonly content: Readonly<Record<string, unknown>>[] }[]).flatMap(({ content }) => content)

const PNG = 'iVBORw0KGgo='

describe('a request for a summary of its conversation', () => {
  const input = [user('Hi'), { type: 'compaction_trigger' }]

  test.each(['openai-chat', 'anthropic', 'google', 'bedrock'] as const)(
    'is a 400 before %s hears of it, and is not answered',
    async (dialect) => {
      const { status, text, body } = await send('responses', dialect, { input })
      expect([status, body]).toEqual([400, null])
      expect(text).toContain('input[1]')
      expect(text).toContain('compaction_trigger')
    },
  )

  test('goes to a provider of its own dialect as it is', async () => {
    expect((await send('responses', 'openai-responses', { input })).body?.['input']).toEqual(input)
  })
})

describe('a request that says nothing', () => {
  test.each(['anthropic', 'bedrock'] as const)('but white space is a 400 before %s hears of it', async (dialect) => {
    for (const content of [' \n', [{ type: 'text', text: '\t' }]]) {
      const { status, text, body } = await send('chat', dialect, { messages: [user(content)] })
      expect([status, body]).toEqual([400, null])
      expect(text).toContain('messages[0]')
    }
  })

  test.each(['anthropic', 'bedrock', 'google'] as const)(
    'at its end is not left out before %s, which would go on with the answer before',
    async (dialect) => {
      const messages = [user('Hi'), { role: 'assistant', content: 'Hello' }, user('')]
      const { status, text, body } = await send('chat', dialect, { messages })
      expect([status, body]).toEqual([400, null])
      expect(text).toContain('messages[2]')
    },
  )
})

describe('the beginning of an answer that ends in white space', () => {
  test.each(['anthropic', 'bedrock'] as const)('goes to %s without it, and that is told', async (dialect) => {
    const { body, warnings } = await send('chat', dialect, { messages: [user('Hi'), { role: 'assistant', content: 'Sure: \n' }] })
    expect(blocksOf(body).at(-1)).toEqual(dialect === 'bedrock' ? { text: 'Sure:' } : { type: 'text', text: 'Sure:' })
    expect(warnings).toBe(1)
  })
})

describe('arguments in the history that are no JSON object', () => {
  const messages = [
    user('Hi'),
    {
      role: 'assistant',
      content: [{ type: 'text', text: 'x' }],
      tool_calls: [{ id: 'c1', type: 'function', function: { name: 'look', arguments: '{"at":' } }],
    },
    { role: 'tool', tool_call_id: 'c1', content: 'fog' },
  ]
  const tools = [{ type: 'function', function: { name: 'look', parameters: { type: 'object', properties: {} } } }]
  test.each(['openai-responses', 'anthropic', 'google', 'bedrock'] as const)(
    'are an empty object before %s, and that is told',
    async (dialect) => {
      const { status, body, warnings } = await send('chat', dialect, { messages, tools })
      expect(status).toBe(200)
      expect(JSON.stringify(body)).not.toContain('{\\"at\\":')
      expect(warnings).toBeGreaterThan(0)
    },
  )
})

describe('two calls with one id', () => {
  const call = (city: string): object => ({
    id: 'call_0',
    type: 'function',
    function: { name: 'look', arguments: JSON.stringify({ city }) },
  })
  const messages = [
    user('Hi'),
    { role: 'assistant', content: null, tool_calls: [call('Oslo'), call('Rome')] },
    { role: 'tool', tool_call_id: 'call_0', content: 'fog' },
    { role: 'tool', tool_call_id: 'call_0', content: 'sun' },
  ]
  const tools = [{ type: 'function', function: { name: 'look', parameters: { type: 'object', properties: {} } } }]

  test('are two before Anthropic, each with its result', async () => {
    const { body } = await send('chat', 'anthropic', { messages, tools })
    const blocks = blocksOf(body)
    const calls = blocks.filter(({ type }) => type === 'tool_use')
    const results = blocks.filter(({ type }) => type === 'tool_result')
    expect(calls.map(({ input }) => input)).toEqual([{ city: 'Oslo' }, { city: 'Rome' }])
    expect(new Set(calls.map(({ id }) => id)).size).toBe(2)
    expect(results.map(({ tool_use_id: id, content }) => [id, content])).toEqual([
      [calls[0]?.['id'], 'fog'],
      [calls[1]?.['id'], 'sun'],
    ])
  })

  test.each(['openai-responses', 'bedrock'] as const)('are two before %s', async (dialect) => {
    const text = JSON.stringify((await send('chat', dialect, { messages, tools })).body)
    expect(text).toContain('call_0_2')
  })
})

describe('a picture that an earlier answer of ours drew, sent back by a Responses client', () => {
  const input = [
    { role: 'user', content: 'Draw' },
    { type: 'image_generation_call', id: 'ig_1', status: 'completed', result: PNG, output_format: 'png' },
    { role: 'user', content: 'Bluer' },
  ]
  test.each(['openai-chat', 'anthropic', 'google', 'bedrock'] as const)('reaches %s', async (dialect) => {
    const { status, body, warnings } = await send('responses', dialect, { input })
    expect([status, warnings]).toEqual([200, 0])
    expect(JSON.stringify(body)).toContain(PNG)
  })
})

describe('sound for a model that is known not to hear', () => {
  const SOUND = { type: 'input_audio', input_audio: { data: 'UklGRg==', format: 'wav' } }
  const asked = {
    input: [user([{ type: 'input_text', text: 'Hi' }, SOUND])],
  }
  test.each(['openai-chat', 'google'] as const)('is a 400 that names it, before %s', async (dialect) => {
    const { status, text, body } = await send('responses', dialect, asked, { modalities: ['text', 'image'] })
    expect([status, body]).toEqual([400, null])
    expect(text).toContain('input[0]')
  })

  test('is one too where client and provider speak the same dialect', async () => {
    const messages = [user([{ type: 'text', text: 'Hi' }, SOUND])]
    for (const [client, dialect, body, named] of [
      ['responses', 'openai-responses', asked, 'input[0]'],
      ['chat', 'openai-chat', { messages }, 'messages[0]'],
    ] as const) {
      const { status, text, body: sent } = await send(client, dialect, body, { modalities: ['text', 'image'] })
      expect([status, sent]).toEqual([400, null])
      expect(text).toContain(named)
    }
  })

  test.each([[undefined], [['text', 'audio']]])('passes where it may hear: %p', async (modalities) => {
    const { body } = await send('responses', 'google', asked, modalities === undefined ? {} : { modalities })
    expect(JSON.stringify(body)).toContain('UklGRg==')
  })
})

describe('media by an address that the provider does not read', () => {
  const asked = (url: string): object => ({
    messages: [
      user([
        { type: 'text', text: 'What is it?' },
        { type: 'image_url', image_url: { url } },
      ]),
    ],
  })
  const cases = [
    ['bedrock', 'https://a.example/i.png', undefined],
    ['google', 'http://a.example/i.png', undefined],
    ['google', 'https://a.example/i.png', 'gemini-2.0-flash'],
  ] as const

  test.each(cases)('%s, %s: a 400 that names it, where the operator allows no fetching', async (dialect, url, model) => {
    const { status, text, body } = await send('chat', dialect, asked(url), model === undefined ? {} : { model })
    expect([status, body]).toEqual([400, null])
    expect(text).toContain('messages[0]')
  })

  test.each(cases)('%s, %s: its bytes, where the operator allows it', async (dialect, url, model) => {
    const loaded: string[] = []
    const { status, body, warnings } = await send('chat', dialect, asked(url), {
      ...(model === undefined ? {} : { model }),
      loadMedia: async (media) => {
        loaded.push(media.url)
        return `data:image/png;base64,${PNG}`
      },
    })
    expect([status, warnings, loaded]).toEqual([200, 0, [url]])
    expect(JSON.stringify(body)).toContain(PNG)
  })

  test('what cannot be fetched is a 400 that names it and says why', async () => {
    const { status, text, body } = await send('chat', 'bedrock', asked('https://a.example/i.png'), {
      loadMedia: async () => {
        throw new UnsafeRequest('the address is not of the open internet')
      },
    })
    expect([status, body]).toEqual([400, null])
    expect(text).toContain('messages[0]: https://a.example/i.png could not be fetched: the address is not of the open internet')
    expect(text).toContain('image_download_failed')
  })

  test('what is fetched and is no picture is a 400', async () => {
    const { status, body } = await send('chat', 'bedrock', asked('https://a.example/i.png'), {
      loadMedia: async () => 'data:text/html;base64,PGI+',
    })
    expect([status, body]).toEqual([400, null])
  })

  test('more than twenty are not fetched', async () => {
    const parts = Array.from({ length: 21 }, (_, index) => ({ type: 'image_url', image_url: { url: `https://a.example/${index}.png` } }))
    const { status } = await send(
      'chat',
      'bedrock',
      { messages: [user(parts)] },
      {
        loadMedia: async () => {
          throw new Error('It was fetched.')
        },
      },
    )
    expect(status).toBe(400)
  })

  test('an address that the provider reads itself is left to it', async () => {
    const { body } = await send('chat', 'google', asked('https://a.example/i.png'), {
      loadMedia: async () => {
        throw new Error('It was fetched.')
      },
    })
    expect(JSON.stringify(body)).toContain('https://a.example/i.png')
  })
})
