import { describe, expect, test } from 'bun:test'

import { GatewayError } from '../../errors.ts'
import { JsonBody } from '../../lib/json/json-body.ts'
import { trustedHosts } from '../../lib/network/trusted-hosts.ts'
import { atOnce } from '../../lib/steps.ts'
import { faultOfMediaAddress, refusePrivateMedia } from './private-addresses.ts'

const nobody = trustedHosts([])

const PRIVATE = [
  'http://127.0.0.1/a.png',
  'http://127.0.0.1:6379/',
  'http://10.1.2.3/a.png',
  'https://192.168.0.1/a.png',
  'http://169.254.169.254/latest/meta-data/',
  'http://100.100.100.200/latest/meta-data/',
  'http://168.63.129.16/machine',
  'http://0/',
  'http://2130706433/',
  'http://0x7f000001/',
  'http://0x7f.1/',
  'http://017700000001/',
  'http://0177.0.0.1/',
  'http://127.1/',
  'http://127.0.0.1./',
  'http://[::1]/',
  'http://[::]/',
  'http://[::ffff:127.0.0.1]/',
  'http://[::ffff:a9fe:a9fe]/',
  'http://[::127.0.0.1]/',
  'http://[64:ff9b::7f00:1]/',
  'http://[fd00:ec2::254]/latest/',
  'http://[fe80::1]:8080/',
  'http://localhost/a.png',
  'http://LOCALHOST./a.png',
  'http://a.localhost:3000/a.png',
  'http://localhost.localdomain/a.png',
  'http://redis:6379/',
  'http://printer.local/a.png',
  'http://metadata.google.internal/computeMetadata/v1/',
  'http://metadata.google.internal./computeMetadata/v1/',
  'http://router.home.arpa/a.png',
  'http://minio.default.svc/a.png',
  'http://minio.default.svc.cluster.local/a.png',
  'http://someone@127.0.0.1/a.png',
  'http://１２７.0.0.1/a.png',
]

const DOUBTFUL = [
  'http:127.0.0.1/a.png',
  'http:/127.0.0.1/a.png',
  'http:\\\\127.0.0.1\\a.png',
  'http://example.com\\@127.0.0.1/a.png',
  'http://127.0.0.1\\@example.com/a.png',
  'http://a@127.0.0.1@example.com/a.png',
  'http://example.com &@127.0.0.1/a.png',
  'http://%31%32%37.0.0.1/a.png',
  'http://exam\tple.com/a.png',
  'ht\ntp://127.0.0.1/a.png',
  // Eight to who reads it in octal, ten to who does not.
  'http://010.0.0.1/a.png',
  'http://8.8.2056/a.png',
  'http://127.0.0.08/a.png',
  'http://[fe80::1%25eth0]/a.png',
  'http://',
]

const NO_ADDRESSES = [
  'file:///etc/passwd',
  ' FILE:/etc/passwd',
  'ftp://ftp.example.com/a.png',
  'gopher://127.0.0.1:6379/_x',
  'dict://127.0.0.1/',
  'javascript:alert(1)',
  '/etc/a.png',
  '../a.jpeg',
  'C:\\a.png',
]

const ORDINARY = [
  'https://example.com/a.png',
  'http://example.com:8080/a.png',
  'https://example.com',
  ' https://example.com/a b.png',
  'https://user:pass@example.com/a.png?x=http://127.0.0.1/',
  'https://8.8.8.8/a.png',
  'https://[2606:4700::1111]/a.png',
  'http://[::ffff:8.8.8.8]/a.png',
  'https://münchen.de/a.png',
  'https://local.example.com/a.png',
  'https://a.b.c.d.e.f.g.h.i.j.example.com/a.png',
  'data:image/png;base64,iVBORw0KGgo=',
  'iVBORw0KGgo=',
  '/9j/4AAQSkZJRg==',
  'gs://bucket/a.png',
  's3://bucket/a.png',
]

test.each(PRIVATE)('%j leads into a private network', (address) => {
  expect(faultOfMediaAddress(address, nobody)).toStartWith('This address is not of the open internet')
})

test.each(DOUBTFUL)('%j is not the same address for every program', (address) => {
  expect(faultOfMediaAddress(address, nobody)).not.toBeNull()
})

test.each(NO_ADDRESSES)('%j is no address of the web', (address) => {
  expect(faultOfMediaAddress(address, nobody)).toStartWith('A file is named by an http: or https: address')
})

test.each(ORDINARY)('%j may go to a provider', (address) => {
  expect(faultOfMediaAddress(address, nobody)).toBeNull()
})

test('a host that the operator lists may be private, with its port or without, however the rest is written', () => {
  const some = trustedHosts(['minio', '10.0.0.7:9000', 'FD00::7', 'pics.internal:443'])
  for (const address of [
    'https://pics.internal/a.png',
    'http://MINIO/a.png',
    'http://minio:9000/a.png',
    'https://10.0.0.7:9000/a.png',
    'http://[fd00::7]/a.png',
  ])
    expect(faultOfMediaAddress(address, some)).toBeNull()
  for (const address of [
    'http://10.0.0.7/a.png',
    'http://10.0.0.7:9001/',
    'http://pics.internal/a.png',
    'http://minio2/',
    'http://minio\\@127.0.0.1/',
    'file://minio/a.png',
  ])
    expect(faultOfMediaAddress(address, some)).not.toBeNull()
})

/** The path that the refusal names; null if the body is not refused. */
const refused = (json: string): unknown => {
  try {
    atOnce(refusePrivateMedia(JsonBody.ofBytes(new TextEncoder().encode(json)), nobody))
    return null
  } catch (thrown) {
    if (!(thrown instanceof GatewayError)) throw thrown
    return thrown.metadata['field']
  }
}

describe('a body', () => {
  test.each([
    [
      'tools[0].input_image_mask.image_url',
      { tools: [{ type: 'image_generation', input_image_mask: { image_url: 'http://10.0.0.1/a.png' } }] },
    ],
    ['tools[0].server_url', { tools: [{ type: 'mcp', server_label: 'a', server_url: 'http://localhost:8000/mcp' }] }],
    [
      'input[0].tools[0].server_url',
      { input: [{ type: 'additional_tools', tools: [{ type: 'mcp', server_url: 'http://169.254.169.254/' }] }] },
    ],
    ['mcp_servers[0].url', { mcp_servers: [{ type: 'url', name: 'a', url: 'http://127.1/mcp' }] }],
    [
      'input[0].output[0].image_url',
      { input: [{ type: 'function_call_output', output: [{ type: 'input_image', image_url: 'http://redis/' }] }] },
    ],
    [
      'messages[0].content[0].image_url.url',
      { messages: [{ role: 'tool', content: [{ type: 'image_url', image_url: { url: `${' '.repeat(5000)}file:///etc/a` } }] }] },
    ],
    ['multi_modal_data.image[1]', { multi_modal_data: { image: ['https://example.com/a.png', 'http://169.254.169.254/'] } }],
    ['mm_processor_kwargs.images.url', { mm_processor_kwargs: { images: { url: 'http://redis/' } } }],
    ['imageData', { imageData: 'file:///etc/passwd' }],
    ['images[0]', { images: ['http://127.0.0.1/a.png'] }],
    [null, { images: ['iVBORw0KGgo='], mm_processor_kwargs: { fps: 2, size: { longest_edge: 9 } }, audio: { voice: 'alloy' } }],
    [
      null,
      {
        tools: [
          { type: 'mcp', server_url: 'https://mcp.example.com/sse' },
          { type: 'function', function: { parameters: { default: { server_url: 'http://localhost/' } } } },
        ],
      },
    ],
  ])('is searched wherever a provider would follow an address: %s', (field, body) => {
    expect(refused(JSON.stringify(body))).toBe(field)
  })

  const chat = (address: string): string =>
    JSON.stringify({ messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url: address } }] }] })

  test.each([...PRIVATE, ...DOUBTFUL, ...NO_ADDRESSES])('with %j is refused, however its text is escaped', (address) => {
    const spellings = [
      (json: string) => json,
      (json: string) => json.replaceAll('/', '\\/'),
      (json: string) => json.replace('"url"', '"\\u0075rl"'),
      (json: string) => json.replaceAll('http', '\\u0068ttp'),
      (json: string) => json.replaceAll('"url":', '"url"\n\t :  \r\n'),
      // A body so large that only what is searched for is parsed.
      (json: string) => json.replace('{"messages"', `{"user":"${'x'.repeat(300_000)}","messages"`),
    ]
    for (const spell of spellings) expect(refused(spell(chat(address)))).toBe('messages[0].content[0].image_url.url')
  })

  test.each(ORDINARY)('with %j is not', (address) => {
    expect(refused(chat(address))).toBeNull()
  })

  test('whose texts, calls and found pages name private addresses is not', () => {
    const address = 'http://127.0.0.1:3000/a.png'
    const tool = { type: 'function', function: { name: 'f', parameters: { properties: { url: { default: address } } } } }
    const chatMessages = [
      { role: 'user', content: address },
      { role: 'user', content: [{ type: 'text', text: address }] },
      {
        role: 'assistant',
        content: '',
        tool_calls: [{ id: 'c', type: 'function', function: { name: 'f', arguments: `{"url":"${address}"}` } }],
      },
      { role: 'tool', tool_call_id: 'c', content: `{"url":"${address}"}` },
      { role: 'assistant', content: 'x', annotations: [{ type: 'url_citation', url_citation: { url: address } }] },
      { role: 'assistant', content: [{ type: 'tool_use', id: 'c', name: 'f', input: { url: address, image_url: address } }] },
      { role: 'user', content: [{ type: 'document', source: { type: 'text', media_type: 'text/plain', data: address } }] },
    ]
    expect(refused(JSON.stringify({ messages: chatMessages, tools: [tool] }))).toBeNull()
    expect(refused(JSON.stringify({ input: address }))).toBeNull()
    expect(refused(JSON.stringify({ input: [address, { type: 'function_call', arguments: '{}', name: address }] }))).toBeNull()
  })
})
