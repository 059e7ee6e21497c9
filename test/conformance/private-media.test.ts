/** No request makes a provider fetch an address in a private network, unless the operator lists its host. */
import { describe, expect, test } from 'bun:test'

import type { ClientDialect } from '../../src/canonical/call.ts'
import { GatewayError } from '../../src/errors.ts'
import type { UpstreamDialect } from '../support/recordings.ts'
import { MODEL, OWN_DIALECT, replay, type Reply } from '../support/replay.ts'

const REFUSED: Reply = { status: 500, type: 'application/json', pieces: [] }

const user = (...content: readonly unknown[]): unknown => ({ role: 'user', content })
const chat = (...content: readonly unknown[]): Record<string, unknown> => ({ messages: [user(...content)] })
const responses = (...content: readonly unknown[]): Record<string, unknown> => ({ input: [user(...content)] })
const messages = (...content: readonly unknown[]): Record<string, unknown> => ({ max_tokens: 9, messages: [user(...content)] })
const call = { type: 'function_call', call_id: 'c', name: 'f', arguments: '{}' }
const use = { type: 'tool_use', id: 'c', name: 'f', input: {} }

type Naming = (url: string) => Readonly<Record<string, unknown>>

/** The client, the field that holds the address, and the request. */
const NAMING: readonly (readonly [ClientDialect, string, Naming])[] = [
  ['chat', 'messages[0].content[0].image_url.url', (url) => chat({ type: 'image_url', image_url: { url } })],
  ['chat', 'messages[0].content[0].image_url', (url) => chat({ type: 'image_url', image_url: url })],
  ['chat', 'messages[0].content[0].file.file_data', (url) => chat({ type: 'file', file: { filename: 'a.pdf', file_data: url } })],
  ['chat', 'messages[0].content[0].document_url', (url) => chat({ type: 'document_url', document_url: url })],
  ['chat', 'messages[0].content[0].video_url.url', (url) => chat({ type: 'video_url', video_url: { url } })],
  ['chat', 'messages[0].content[0].audio_url.url', (url) => chat({ type: 'audio_url', audio_url: { url } })],
  ['chat', 'messages[0].content[0].input_audio.data', (url) => chat({ type: 'input_audio', input_audio: { data: url, format: 'wav' } })],
  ['responses', 'input[0].content[0].image_url', (url) => responses({ type: 'input_image', image_url: url, detail: 'auto' })],
  ['responses', 'input[0].content[0].file_url', (url) => responses({ type: 'input_file', file_url: url })],
  ['responses', 'input[0].content[0].video_url', (url) => responses({ type: 'input_video', video_url: url })],
  [
    'responses',
    'input[0].content[0].input_audio.data',
    (url) => responses({ type: 'input_audio', input_audio: { data: url, format: 'wav' } }),
  ],
  [
    'responses',
    'input[1].output[0].image_url',
    (url) => ({ input: [call, { type: 'function_call_output', call_id: 'c', output: [{ type: 'input_image', image_url: url }] }] }),
  ],
  [
    'responses',
    'input[0].output.image_url',
    (url) => ({ input: [{ type: 'computer_call_output', call_id: 'c', output: { type: 'computer_screenshot', image_url: url } }] }),
  ],
  ['chat', 'messages[0].content[0].Image_URL.URL', (url) => chat({ type: 'image_url', Image_URL: { URL: url } })],
  ['chat', 'messages[0].Content[0].image_url', (url) => ({ messages: [{ role: 'user', content: 'Hi', Content: [{ image_url: url }] }] })],
  ['chat', 'messages[0].content[0].video[1]', (url) => chat({ type: 'video', video: ['https://example.com/1.jpg', url] })],
  [
    'responses',
    'input[0].result',
    (url) => ({
      input: [{ type: 'image_generation_call', id: 'ig', status: 'completed', result: url }, user({ type: 'input_text', text: 'Hi' })],
    }),
  ],
  ['messages', 'messages[0].content[0].source.url', (url) => messages({ type: 'image', source: { type: 'url', url } })],
  ['messages', 'messages[0].content[0].source.url', (url) => messages({ type: 'document', source: { type: 'url', url } })],
  [
    'messages',
    'messages[2].content[0].content[0].source.url',
    (url) => ({
      max_tokens: 9,
      messages: [
        { role: 'user', content: 'Hi' },
        { role: 'assistant', content: [use] },
        user({ type: 'tool_result', tool_use_id: 'c', content: [{ type: 'image', source: { type: 'url', url } }] }),
      ],
    }),
  ],
]

const DIALECTS: readonly UpstreamDialect[] = ['openai-chat', 'openai-responses', 'anthropic', 'google', 'bedrock']
const METADATA = 'http://169.254.169.254/latest/meta-data/'

interface More {
  readonly mediaHosts?: readonly string[]
  readonly storedObjects?: boolean
}

const ask = (client: ClientDialect, dialect: UpstreamDialect, body: object, { storedObjects = false, ...more }: More = {}) =>
  replay({ client, upstreams: [{ dialect, reply: REFUSED, storedObjects }], body: { model: MODEL, ...body }, ...more })

/** The type and sentence of the refusal with which a request ends before any provider is chosen. */
const refusalOf = async (asked: Promise<unknown>): Promise<string> => {
  try {
    await asked
  } catch (thrown) {
    if (thrown instanceof GatewayError) return `${thrown.type} ${thrown.message}`
    throw thrown
  }
  return 'It was not refused.'
}

describe.each(NAMING)('%s, %s', (client, field, naming) => {
  test.each(DIALECTS)(
    'a private address is a 400 that names it and the way out, and goes to no provider that speaks %s',
    async (dialect) => {
      for (const url of [METADATA, 'http://localhost:8000/a.png', 'file:///etc/hostname.png']) {
        const refusal = await refusalOf(ask(client, dialect, naming(url)))
        expect(refusal).toStartWith(`invalid_request ${field}: `)
        expect(refusal).toContain('data: URL')
      }
    },
  )

  test('it is one also where requests may name stored objects, for nobody stores a file there', async () => {
    const asked = ask(client, OWN_DIALECT[client], naming('file:///etc/hostname.png'), { storedObjects: true })
    expect(await refusalOf(asked)).toStartWith(`invalid_request ${field}: `)
  })
})

const LINKING = NAMING.filter(([, field]) => /(?:image|file|video|audio)_url(?:\.url)?$|source\.url$/.test(field))

test.each(LINKING)('%s, %s: a host that the operator lists reaches the provider as it was written', async (client, _, naming) => {
  const url = 'http://minio.internal:9000/bucket/a.png'
  const { sent } = await ask(client, OWN_DIALECT[client], naming(url), { mediaHosts: ['minio.internal'] })
  expect(sent[0]?.body).toContain(url)
  expect(await refusalOf(ask(client, OWN_DIALECT[client], naming(url), { mediaHosts: ['minio'] }))).toContain('media.trusted_hosts')
})

test('an ordinary address, data and what is said about private addresses go on', async () => {
  const body = chat(
    { type: 'image_url', image_url: { url: 'https://example.com/a.png' } },
    { type: 'image_url', image_url: { url: 'data:image/png;base64,iVBORw0KGgo=' } },
    { type: 'text', text: METADATA },
  )
  expect((await ask('chat', 'openai-chat', body)).sent).toHaveLength(1)
})

test('a picture of an earlier answer is held to the same rule', async () => {
  const images = [{ type: 'image_url', image_url: { url: METADATA } }]
  const body = { messages: [{ role: 'assistant', content: 'Hi', images }, user({ type: 'text', text: 'Hi' })] }
  expect(await refusalOf(ask('chat', 'openai-chat', body))).toStartWith('invalid_request messages[0].images[0].image_url.url: ')
})
