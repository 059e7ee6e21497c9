/** A request can use objects stored in an account at a provider only with a customer's own key, or if the operator allows it. */
import { describe, expect, test } from 'bun:test'

import type { ClientDialect } from '../../src/canonical/call.ts'
import { targetOf } from '../../src/inference/run/attempt.ts'
import { plainEndpoint } from '../../src/models/models.ts'
import type { UpstreamDialect } from '../support/recordings.ts'
import { MODEL, OWN_DIALECT, replay, type Reply } from '../support/replay.ts'

const REFUSED: Reply = { status: 500, type: 'application/json', pieces: [] }
const said = { role: 'user', content: 'Hi' }
const text = { type: 'input_text', text: 'Hi' }

/** The field that refers to an object, the client, and its request. */
const NAMING: readonly (readonly [string, ClientDialect, Readonly<Record<string, unknown>>])[] = [
  [
    'messages[0].content[1]',
    'chat',
    {
      messages: [
        {
          role: 'user',
          content: [
            { type: 'text', text: 'Hi' },
            { type: 'file', file: { file_id: 'file-1' } },
          ],
        },
      ],
    },
  ],
  ['input[0].content[1]', 'responses', { input: [{ role: 'user', content: [text, { type: 'input_file', file_id: 'file-1' }] }] }],
  [
    'input[1].content[0]',
    'responses',
    { input: [said, { role: 'user', content: [{ type: 'input_image', file_id: 'file-1', detail: 'auto' }] }] },
  ],
  [
    'input[2].output[0]',
    'responses',
    {
      input: [
        said,
        { type: 'function_call', call_id: 'c', name: 'f', arguments: '{}' },
        { type: 'function_call_output', call_id: 'c', output: [{ type: 'input_file', file_id: 'file-1' }] },
      ],
    },
  ],
  [
    'input[1].output',
    'responses',
    { input: [said, { type: 'computer_call_output', call_id: 'c', output: { type: 'computer_screenshot', file_id: 'file-1' } }] },
  ],
  ['tools[0].vector_store_ids', 'responses', { input: 'Hi', tools: [{ type: 'file_search', vector_store_ids: ['vs_1'] }] }],
  ['tools[1].container', 'responses', { input: 'Hi', tools: [{ type: 'web_search' }, { type: 'code_interpreter', container: 'cntr_1' }] }],
  [
    'tools[0].container.file_ids',
    'responses',
    { input: 'Hi', tools: [{ type: 'code_interpreter', container: { type: 'auto', file_ids: ['file-1'] } }] },
  ],
  [
    'tools[0].input_image_mask.file_id',
    'responses',
    { input: 'Hi', tools: [{ type: 'image_generation', input_image_mask: { file_id: 'file-1' } }] },
  ],
  [
    'tools[0].environment.container_id',
    'responses',
    { input: 'Hi', tools: [{ type: 'shell', environment: { type: 'container_reference', container_id: 'cntr_1' } }] },
  ],
  [
    'tools[0].tunnel_id',
    'responses',
    { input: 'Hi', tools: [{ type: 'mcp', server_label: 'inner', tunnel_id: 'tunnel_1', headers: { container: 'c' } }] },
  ],
  [
    'tools[0].project_connection_id',
    'responses',
    { input: 'Hi', tools: [{ type: 'mcp', server_label: 'a', server_url: 'https://a.example', project_connection_id: 'connection_1' }] },
  ],
  [
    'tools[0].azure_ai_search.indexes[0].project_connection_id',
    'responses',
    {
      input: 'Hi',
      tools: [{ type: 'azure_ai_search', azure_ai_search: { indexes: [{ project_connection_id: 'connection_1', index_name: 'i' }] } }],
    },
  ],
  ['tools[0].memory_store_name', 'responses', { input: 'Hi', tools: [{ type: 'memory_search_preview', memory_store_name: 'store_1' }] }],
  ['tools[0].collection_ids', 'responses', { input: 'Hi', tools: [{ type: 'collections_search', collection_ids: ['store_1'] }] }],
  ['tools[0].library_ids', 'chat', { messages: [said], tools: [{ type: 'document_library', library_ids: ['store_1'] }] }],
  ['tools[0].retrieval.knowledge_id', 'chat', { messages: [said], tools: [{ type: 'retrieval', retrieval: { knowledge_id: 'store_1' } }] }],
  ['agent_reference', 'responses', { input: 'Hi', agent_reference: { name: 'agent_1', type: 'agent_reference' } }],
  ['agent', 'responses', { input: 'Hi', agent: { name: 'agent_1', type: 'agent_reference' } }],
  [
    'data_sources',
    'chat',
    {
      messages: [said],
      data_sources: [
        {
          type: 'azure_search',
          parameters: {
            endpoint: 'https://a.example',
            index_name: 'store_1',
            authentication: { type: 'system_assigned_managed_identity' },
          },
        },
      ],
    },
  ],
  [
    'messages[1].audio.id',
    'chat',
    { messages: [said, { role: 'assistant', content: null, audio: { id: 'audio_file-1' } }, said], modalities: ['text', 'audio'] },
  ],
  [
    'messages[0].content[0].source',
    'messages',
    { max_tokens: 9, messages: [{ role: 'user', content: [{ type: 'document', source: { type: 'file', file_id: 'file_1' } }] }] },
  ],
]

const ask = (client: ClientDialect, body: Readonly<Record<string, unknown>>, storedObjects: boolean, slug?: string, stream = false) =>
  replay({
    client,
    upstreams: [{ dialect: OWN_DIALECT[client], reply: REFUSED, storedObjects, ...(slug === undefined ? {} : { slug, model: 'gpt-5' }) }],
    body: { model: MODEL, stream, ...body },
  })

/** The body once for each character of the names, with only that character escaped. */
const spellings = (json: string): readonly string[] =>
  [
    'file',
    'container',
    'vector',
    'tunnel',
    'connection',
    'memory',
    'knowledge',
    'agent',
    'data',
    '_id',
    '_store',
    '_upload',
    'audio',
  ].flatMap((part) =>
    [...part].flatMap((character, at) => {
      const code = (character.codePointAt(0) ?? 0).toString(16).padStart(4, '0')
      const spelt = `${part.slice(0, at)}\\u${code}${part.slice(at + 1)}`
      return json.includes(part) ? [json.replaceAll(part, spelt)] : []
    }),
  )

describe.each(NAMING)('%s of %s', (field, client, body) => {
  test.each(client === 'messages' ? [undefined] : ['openai', 'azure', undefined])(
    'is a 400 that names it, and goes to no one: %s',
    async (slug) => {
      for (const stream of [false, true]) {
        const { sent, text: told } = await ask(client, body, false, slug, stream)
        expect(told).toContain(field)
        expect(told).toContain(client === 'responses' ? 'invalid_prompt' : 'invalid_request')
        expect(sent).toEqual([])
      }
    },
  )

  test('is a 400 too where a letter or a sign of its name is written as an escape', async () => {
    for (const spelt of spellings(JSON.stringify({ model: MODEL, ...body }))) {
      expect(JSON.parse(spelt)).toEqual({ model: MODEL, ...body })
      const { sent, text: told } = await replay({ client, upstreams: [{ dialect: OWN_DIALECT[client], reply: REFUSED }], body: spelt })
      expect(told).toContain(field)
      expect(sent).toEqual([])
    }
  })

  test('goes on where the operator allows it', async () => {
    const { sent } = await ask(client, body, true)
    expect(sent).toHaveLength(1)
    expect(sent[0]?.body).toMatch(/file[-_]1|vs_1|cntr_1|tunnel_1|connection_1|store_1|agent_1/)
  })
})

describe.each([
  ['code_interpreter_call', { id: 'ci_1', status: 'completed', code: '1', container_id: 'cntr_1', outputs: [] }, 'container_id'],
  [
    'shell_call',
    { call_id: 'c', action: { commands: ['ls'] }, environment: { type: 'container_reference', container_id: 'cntr_1' } },
    'environment',
  ],
])('the container of a finished %s', (type, item, member) => {
  const input = [said, { type, ...item }, { role: 'user', content: 'And now?' }]
  const leftOut = type === 'shell_call' ? [said, { type, call_id: 'c', action: { commands: ['ls'] } }] : [said]

  test.each(['openai', undefined])('does not go back to the account of the operator, and a warning tells it: %s', async (slug) => {
    for (const json of [
      JSON.stringify({ model: MODEL, input }),
      JSON.stringify({ model: MODEL, input }).replaceAll('ainer_', 'ain\\u0065r_'),
    ]) {
      const named = slug === undefined ? {} : { slug, model: 'gpt-5' }
      const { sent, headers } = await replay({
        client: 'responses',
        upstreams: [{ dialect: 'openai-responses', reply: REFUSED, ...named }],
        body: json,
      })
      expect(JSON.parse(sent[0]?.body ?? '')).toMatchObject({ input: [...leftOut, { role: 'user', content: 'And now?' }] })
      expect(headers.get('x-service-warnings')).toBe('1')
    }
  })

  test('is a 400 for a strict request', async () => {
    const { sent, text: told } = await replay({
      client: 'responses',
      upstreams: [{ dialect: 'openai-responses', reply: REFUSED }],
      body: { model: MODEL, input, strict: true },
    })
    expect(sent).toEqual([])
    expect(told).toContain(`input[1].${member}`)
  })

  test('goes back where the operator allows it', async () => {
    const { sent } = await ask('responses', { input }, true)
    expect(sent[0]?.body).toContain('cntr_1')
  })
})

test.each<[string, ClientDialect, Readonly<Record<string, unknown>>]>([
  [
    'a property of a function',
    'responses',
    {
      input: 'Hi',
      tools: [
        {
          type: 'function',
          name: 'f',
          strict: false,
          parameters: { type: 'object', properties: { file_id: { type: 'string' }, container: { default: 'x' } } },
        },
      ],
    },
  ],
  [
    'a container of its own',
    'responses',
    { input: 'Hi', tools: [{ type: 'code_interpreter', container: { type: 'auto', file_ids: [] } }] },
  ],
  [
    'a source of an earlier answer',
    'responses',
    {
      input: [
        said,
        {
          role: 'assistant',
          content: [
            { type: 'output_text', text: 'a', annotations: [{ type: 'file_citation', file_id: 'file-1', filename: 'a', index: 0 }] },
          ],
        },
        said,
      ],
    },
  ],
  ['words about files', 'chat', { messages: [{ role: 'user', content: '{"file_id": "file-1"}' }] }],
  [
    'null',
    'responses',
    { input: [{ role: 'user', content: [{ type: 'input_file', file_id: null, file_url: 'https://a.example/a.pdf' }] }] },
  ],
])('%s names nothing that is stored', async (_, client, body) => {
  expect((await ask(client, body, false, 'openai')).sent).toHaveLength(1)
})

test.each([[['qwen-long', 0]], [['gpt-5', 1]]] as const)(
  'a file of Alibaba, named by a text, is refused for the models that read it: %p',
  async ([model, count]) => {
    const body = { model: MODEL, messages: [{ role: 'system', content: 'fileid://file-fe-1' }, said] }
    const { sent } = await replay({ client: 'chat', upstreams: [{ dialect: 'openai-chat', reply: REFUSED, slug: 'alibaba', model }], body })
    expect(sent).toHaveLength(count)
  },
)

describe('the same where the request is written anew, since its tools run here or it comes from another interface', () => {
  const named = { role: 'system', content: 'fileid://file-fe-1' }
  const TOOL = { tools: [{ type: 'service:datetime' }] }
  test.each<[string, ClientDialect, string, Readonly<Record<string, unknown>>]>([
    ['data_sources', 'chat', 'gpt-5', { messages: [said], data_sources: [{ type: 'azure_search' }], ...TOOL }],
    ['agent_reference', 'chat', 'gpt-5', { messages: [said], agent_reference: { name: 'a' }, ...TOOL }],
    ['messages[0]', 'chat', 'qwen-long', { messages: [named, said], ...TOOL }],
    ['input[0]', 'responses', 'qwen-long', { input: [named, said] }],
    ['system', 'messages', 'qwen-long', { system: named.content, messages: [said], max_tokens: 100 }],
    ['messages[0]', 'messages', 'qwen-long', { messages: [{ role: 'user', content: named.content }], max_tokens: 100 }],
  ])('%s on %s to %s is a 400 before the provider hears of it', async (field, client, model, body) => {
    const {
      status,
      sent,
      text: answered,
    } = await replay({
      client,
      upstreams: [{ dialect: 'openai-chat', reply: REFUSED, model }],
      body: { model: MODEL, ...body },
    })
    expect([status, sent]).toEqual([400, []])
    expect(answered).toContain(`${field}: This names an object in the account of this service`)
  })
})

test('a customer’s own key reaches what is the customer’s', () => {
  const provider = { slug: 'a', name: 'A', dialects: ['openai-chat'] as const, baseUrl: 'https://a.example', apiKeys: [], anyModel: false }
  const endpoint = plainEndpoint(provider, 'one')
  const model = {
    id: 'a/one',
    name: 'One',
    created: 0,
    contextLength: null,
    inputModalities: null,
    outputModalities: [],
    supportedParameters: [],
    endpoints: [endpoint],
  }
  const planned = { model, endpoint, key: 'a', serviceTier: null }
  const customerKey = { id: 'key', apiKey: 'k', isFallback: false }
  expect(targetOf(planned, { apiKey: 'k' }).storedObjects).toBe(false)
  expect(targetOf({ ...planned, customerKey }, { apiKey: 'k' }).storedObjects).toBe(true)
})

describe('an address of media that only the account of a provider reaches', () => {
  const FILE = 'https://generativelanguage.googleapis.com/v1beta/files/x'
  const REQUESTS: Readonly<Record<ClientDialect, (url: string) => Readonly<Record<string, unknown>>>> = {
    chat: (url) => ({ messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url } }] }] }),
    responses: (url) => ({ input: [{ role: 'user', content: [{ type: 'input_image', image_url: url, detail: 'auto' }] }] }),
    messages: (url) => ({ max_tokens: 9, messages: [{ role: 'user', content: [{ type: 'image', source: { type: 'url', url } }] }] }),
  }
  const CLIENTS = ['chat', 'responses', 'messages'] as const
  const send = (client: ClientDialect, dialect: UpstreamDialect, url: string, storedObjects = false) =>
    replay({
      client,
      upstreams: [{ dialect, reply: REFUSED, storedObjects, model: 'gemini-3-pro' }],
      body: { model: MODEL, ...REQUESTS[client](url) },
    })

  for (const client of CLIENTS) {
    test.each([
      FILE,
      FILE.toUpperCase(),
      FILE.replace('https://', 'https://someone@'),
      FILE.replace('.com', '.com.'),
      FILE.replace('//', '//eu.'),
    ])(`Google, ${client}: %j is a 400, and goes to no one`, async (url) => {
      const { sent, text: told } = await send(client, 'google', url)
      expect([sent, told]).toEqual([[], expect.stringMatching(/(?:messages|input)\[0\]/)])
    })

    test.each(['gs://bucket/a.png', 'ms://file-1', ' s3://bucket/a.png', FILE])(
      `${client}: %j is a 400 in the same dialect too`,
      async (url) => {
        for (const spelt of [(json: string) => json, (json: string) => json.replaceAll('/', '\\/')]) {
          const body = spelt(JSON.stringify({ model: MODEL, ...REQUESTS[client](url) }))
          const { sent, text: told } = await replay({ client, upstreams: [{ dialect: OWN_DIALECT[client], reply: REFUSED }], body })
          expect([sent, told]).toEqual([[], expect.stringContaining('which requests may not use')])
        }
      },
    )

    test(`${client}: public addresses and data go on, and so does a stored one where the operator allows it`, async () => {
      for (const url of ['https://storage.googleapis.com/a/b.png', 'https://youtu.be/abc', 'data:image/png;base64,iVBORw0KGgo=']) {
        for (const dialect of ['google', OWN_DIALECT[client]] as const) expect((await send(client, dialect, url)).sent).toHaveLength(1)
      }
      const { sent } = await send(client, 'google', FILE, true)
      expect(sent[0]?.body).toContain(FILE)
    })
  }
})
