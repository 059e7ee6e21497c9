/** PDFs as text for models that do not accept files, and the tool that a plugin offers. */
import { createHash } from 'node:crypto'
import { createServer } from 'node:http'

import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'

import { type Answer, call, conversationOf, type Dialect, DIALECTS, infer, PATHS } from '../support/calls.ts'
import { readStream } from '../support/client-stream.ts'
import { say, startFakeUpstream } from '../support/fake-upstream.ts'
import { pdfOf } from '../support/pdfs.ts'
import { useServices, type StartedService } from '../support/started-service.ts'

const services = useServices()
const provider = await startFakeUpstream()

const service = await services.start({
  config: `
providers:
  acme: { name: Acme, dialects: [openai-chat], base_url: "${provider.url}", api_key: k }
models:
  t/text: { input_modalities: [text], endpoints: [{ provider: acme, model: plain }] }
  t/files: { input_modalities: [text, file], endpoints: [{ provider: acme, model: reading }] }
`,
})

beforeEach(() => provider.script(say('It is an invoice.')))

const INVOICE = pdfOf(['Invoice 42', 'Total 7 EUR'])
const HASH = createHash('sha256').update(INVOICE).digest('hex')

const part = (dialect: Dialect, data: string): unknown => {
  const url = /^https?:/.test(data) ? data : `data:application/pdf;base64,${data}`
  if (dialect === 'chat') return { type: 'file', file: { filename: 'in voice.pdf', file_data: url } }
  if (dialect === 'responses')
    return { type: 'input_file', filename: 'in voice.pdf', ...(url === data ? { file_url: url } : { file_data: url }) }
  const source = url === data ? { type: 'url', url } : { type: 'base64', media_type: 'application/pdf', data }
  return { type: 'document', title: 'in voice.pdf', source }
}

const ask = (
  dialect: Dialect,
  file: Buffer | string,
  more: Readonly<Record<string, unknown>> = {},
  before: readonly unknown[] = [],
  to = service,
): Promise<Answer> => {
  const question = { type: dialect === 'responses' ? 'input_text' : 'text', text: 'What is it?' }
  const message = { role: 'user', content: [question, part(dialect, typeof file === 'string' ? file : file.toString('base64'))] }
  return infer(
    to,
    {
      model: 't/text',
      plugins: [{ id: 'file-parser' }],
      ...conversationOf(dialect, [message, ...before]),
      ...more,
    },
    { path: PATHS[dialect] },
  )
}

const sent = (): string => JSON.stringify(provider.last.body['messages'])

describe.each(DIALECTS)('%s', (dialect) => {
  test('a text model gets the text of a PDF, with its name', async () => {
    const { status, text } = await ask(dialect, INVOICE)
    expect([status, text]).toEqual([200, expect.stringContaining('It is an invoice.')])
    expect(sent()).toContain(JSON.stringify('<file name="in voice.pdf">\nInvoice 42\n\nTotal 7 EUR\n</file>').slice(1, -1))
    expect(sent()).not.toContain('base64')
  })

  test.each(['t/files', 't/files:nitro'])('%s accepts files, so it gets the file', async (model) => {
    const { status } = await ask(dialect, INVOICE, { model })
    expect(status).toBe(200)
    expect(sent()).toContain(INVOICE.toString('base64'))
    expect(sent()).not.toContain('Invoice 42')
  })

  test('the client’s choice overrides the model’s abilities: pdf-text is text, native is the file', async () => {
    const engine = (name: string) => ({ plugins: [{ id: 'file-parser', pdf: { engine: name } }] })
    await ask(dialect, INVOICE, { model: 't/files', ...engine('pdf-text') })
    expect(sent()).toContain('Invoice 42')
    const asFile = await ask(dialect, INVOICE, { model: 't/files', ...engine('native') })
    expect(asFile.status).toBe(200)
    expect(sent()).toContain(INVOICE.toString('base64'))
  })

  test.each([
    ['encrypted', pdfOf(['x'], { encrypted: true }), 'encrypted'],
    ['scanned', pdfOf(['']), 'no text layer; an OCR engine is needed'],
    ['broken', Buffer.from('%PDF-1.7 nothing'), 'broken'],
    ['on a private host', 'http://127.0.0.1/secret.pdf', 'not of the open internet'],
  ])('one that is %s is refused, and the error names its position', async (_, file, why) => {
    const before = provider.exchanges.length
    const { status, text } = await ask(dialect, file)
    expect(status).toBe(400)
    expect(text).toContain(`${dialect === 'responses' ? 'input' : 'messages'}[0].content[1]`)
    expect(text).toContain(why)
    expect(provider.exchanges.length).toBe(before)
  })

  test('an unavailable engine is refused, or replaced with a warning', async () => {
    const engine = (name: string) => ({ plugins: [{ id: 'file-parser', pdf: { engine: name } }] })
    const refused = await ask(dialect, INVOICE, engine('mistral-ocr'))
    expect([refused.status, refused.text]).toEqual([400, expect.stringContaining('plugins.file_parser.mistral_key')])
    const replaced = await ask(dialect, INVOICE, engine('cloudflare-ai'))
    expect(replaced.status).toBe(200)
    expect(replaced.headers.get('x-service-warnings')).toBe('1')
    expect((await ask(dialect, INVOICE, { ...engine('cloudflare-ai'), strict: true })).status).toBe(400)
  })

  test('without the plugin, and with it disabled, nothing is read', async () => {
    for (const plugins of [[], [{ id: 'file-parser', enabled: false }]]) {
      provider.script(say('Fine.'))
      await ask(dialect, INVOICE, { plugins })
      expect(sent()).not.toContain('Invoice 42')
    }
  })

  test('the plugin web-fetch provides the tool with its options', async () => {
    const script = [{ call: { name: 'service:web_fetch', arguments: { url: 'https://example.com/' } } }, { text: 'Never mind.' }]
    const more = {
      model: 'sandbox/agent',
      sandbox: { script },
      plugins: [{ id: 'web-fetch', allowed_domains: ['example.org'], max_uses: 1 }],
    }
    const question = [{ role: 'user', content: 'Read it.' }]
    const { status, text, headers } = await infer(
      service,
      {
        ...more,
        ...conversationOf(dialect, question),
      },
      { path: PATHS[dialect] },
    )
    expect(status).toBe(200)
    expect(text).toMatch(/example\.com is not among the allowed domains|url_not_allowed/)
    expect(headers.get('x-service-warnings')).toBeNull()
  })
})

describe('Chat Completions: the answer has the text that was read', () => {
  const annotation = {
    type: 'file',
    file: { hash: HASH, name: 'in voice.pdf', content: [{ type: 'text', text: 'Invoice 42\n\nTotal 7 EUR' }] },
  }

  test('whole', async () => {
    const { json } = await ask('chat', INVOICE)
    expect(json).toMatchObject({ choices: [{ message: { content: 'It is an invoice.', annotations: [annotation] } }] })
  })

  test('streamed', async () => {
    const { text } = await ask('chat', INVOICE, { stream: true })
    expect(readStream('chat', text)).toEqual({ end: 'normal', faults: [] })
    expect(text).toContain(`"annotations":${JSON.stringify([annotation])}`)
  })

  test('if the annotation is sent back, the file is not read again, and the annotation reaches no provider', async () => {
    const reported = { ...annotation, file: { ...annotation.file, content: [{ type: 'text', text: 'as it was read before' }] } }
    const { status } = await ask('chat', INVOICE, {}, [
      { role: 'assistant', content: 'It is an invoice.', annotations: [reported] },
      { role: 'user', content: 'Of whom?' },
    ])
    expect(status).toBe(200)
    expect(sent()).toContain('as it was read before')
    expect(sent()).not.toContain('Invoice 42')
    expect(sent()).not.toContain('annotations')
  })

  test.each([false, true])('if every provider fails, the error has the text that was read, streamed: %p', async (stream) => {
    provider.script((exchange) => exchange.answer(503, JSON.stringify({ error: { message: 'Busy.' } })))
    const { text } = await ask('chat', INVOICE, { stream })
    expect(text).toContain(`"file_annotations":${JSON.stringify([annotation])}`)
  })

  test('the annotation of another file is not used for it', async () => {
    const reported = { ...annotation, file: { ...annotation.file, hash: 'ab'.repeat(32) } }
    await ask('chat', INVOICE, {}, [
      { role: 'assistant', content: 'Hm.', annotations: [reported] },
      { role: 'user', content: 'Of whom?' },
    ])
    expect(sent()).toContain('Invoice 42')
  })
})

test('the metadata says how many files were read', async () => {
  const { text } = await infer(
    service,
    {
      model: 't/text',
      plugins: [{ id: 'file-parser' }],
      messages: [{ role: 'user', content: [part('chat', INVOICE.toString('base64'))] }],
    },
    { headers: { 'x-service-metadata': 'enabled' } },
  )
  expect(text).toContain('"name":"file-parser"')
  expect(text).toContain('"parsed":1')
})

test('a file that occurs in several places is read once, and is text in each of them', async () => {
  const content = Array.from({ length: 5 }, () => part('chat', INVOICE.toString('base64')))
  const { text } = await infer(
    service,
    { model: 't/text', plugins: [{ id: 'file-parser' }], messages: [{ role: 'user', content }] },
    { headers: { 'x-service-metadata': 'enabled' } },
  )
  expect(text).toContain('"files":5,"parsed":1')
  expect(sent().split('Invoice 42')).toHaveLength(6)
})

test('a guardrail checks the text of a PDF', async () => {
  const guarded = await services.start({
    config: `
providers:
  acme: { name: Acme, dialects: [openai-chat], base_url: "${provider.url}", api_key: k }
models:
  t/text: { input_modalities: [text], endpoints: [{ provider: acme, model: plain }] }
`,
  })
  const made = await call(guarded, 'POST', '/guardrails', {
    body: { name: 'No mail', content_filter_builtins: [{ slug: 'email', action: 'redact' }] },
  })
  expect(made.status).toBeLessThan(300)
  const { id } = (made.json as { readonly data: { readonly id: string } }).data
  const keys = (await call(guarded, 'GET', '/keys')).json as { readonly data: readonly { readonly hash: string }[] }
  const assigned = await call(guarded, 'POST', `/guardrails/${id}/assignments/keys`, {
    body: { key_hashes: keys.data.map(({ hash }) => hash) },
  })
  expect(assigned.status).toBe(200)
  const mail = pdfOf(['Write to jane@example.com now'])
  const content = [part('chat', mail.toString('base64'))]
  const { status } = await infer(guarded, { model: 't/text', plugins: [{ id: 'file-parser' }], messages: [{ role: 'user', content }] })
  expect(status).toBe(200)
  expect(sent()).toContain('Write to')
  expect(sent()).not.toContain('jane@example.com')
})

describe('the engine mistral-ocr', () => {
  const SCAN = pdfOf([''])
  const OCR = { plugins: [{ id: 'file-parser', pdf: { engine: 'mistral-ocr' } }] }
  const PAGES = {
    pages: [
      { index: 0, markdown: '# Scan 7' },
      { index: 1, markdown: 'Page two' },
    ],
    usage_info: { pages_processed: 2 },
  }
  let ocr: StartedService
  const mistral: {
    asked: { readonly key: unknown; readonly body: Readonly<Record<string, unknown>> }[]
    answer: readonly [number, string]
  } = {
    asked: [],
    answer: [200, ''],
  }
  const server = createServer((request, response) => {
    let text = ''
    request.on('data', (piece) => (text += String(piece)))
    request.on('end', () => {
      mistral.asked.push({ key: request.headers.authorization, body: JSON.parse(text) as Readonly<Record<string, unknown>> })
      const [status, body] = mistral.answer
      response.writeHead(status, { 'content-type': 'application/json' }).end(body)
    })
  })

  beforeAll(async () => {
    await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve))
    const address = server.address()
    const port = typeof address === 'object' && address !== null ? address.port : 0
    ocr = await services.start({
      config: `
providers:
  acme: { name: Acme, dialects: [openai-chat], base_url: "${provider.url}", api_key: k }
models:
  t/text: { input_modalities: [text], endpoints: [{ provider: acme, model: plain }] }
plugins:
  file_parser: { mistral_key: secret-of-ocr, mistral_url: "http://127.0.0.1:${port}/v1/ocr" }
`,
    })
  })
  afterAll(() => server.close())
  beforeEach(() => {
    mistral.asked = []
    mistral.answer = [200, JSON.stringify(PAGES)]
  })

  test.each(DIALECTS)("%s: reads pages without a text layer, with the operator's key", async (dialect) => {
    const { status } = await ask(dialect, SCAN, OCR, [], ocr)
    expect(status).toBe(200)
    expect(mistral.asked).toEqual([
      {
        key: 'Bearer secret-of-ocr',
        body: {
          model: 'mistral-ocr-latest',
          document: { type: 'document_url', document_url: `data:application/pdf;base64,${SCAN.toString('base64')}` },
          include_image_base64: false,
        },
      },
    ])
    expect(sent()).toContain(JSON.stringify('# Scan 7\n\nPage two').slice(1, -1))
    expect(sent()).not.toContain('base64')
  })

  test('a file that comes back with its annotation is not sent again', async () => {
    const first = await ask('chat', SCAN, OCR, [], ocr)
    const { choices } = first.json as { readonly choices: readonly { readonly message: { readonly annotations: unknown } }[] }
    const { annotations } = choices[0]?.message ?? { annotations: null }
    const before = [
      { role: 'assistant', content: 'A scan.', annotations },
      { role: 'user', content: 'Of whom?' },
    ]
    expect((await ask('chat', SCAN, OCR, before, ocr)).status).toBe(200)
    expect(sent()).toContain('Scan 7')
    expect(mistral.asked).toHaveLength(1)
  })

  test('nothing is sent to it unless the client names it, and the refusal of a scan mentions it', async () => {
    const { status, text } = await ask('chat', SCAN, {}, [], ocr)
    expect([status, text]).toEqual([400, expect.stringContaining('mistral-ocr')])
    expect(mistral.asked).toEqual([])
  })

  test.each([
    [422, '{}', 400, 'cannot read the PDF'],
    [401, '{"detail":"secret-of-ocr"}', 502, 'answered 401'],
    [500, 'oops', 502, 'answered 500'],
    [200, '{"pages":[{"index":0}]}', 502, 'cannot be read'],
    [200, 'nothing', 502, 'cannot be read'],
  ])('%i %s of it is a %i for the client, and no model is asked', async (answered, body, status, why) => {
    mistral.answer = [answered, body]
    const before = provider.exchanges.length
    const answer = await ask('chat', SCAN, OCR, [], ocr)
    expect([answer.status, answer.text]).toEqual([status, expect.stringContaining(why)])
    expect(answer.text).toContain('messages[0].content[1]')
    expect(answer.text).not.toContain('secret-of-ocr')
    expect(provider.exchanges.length).toBe(before)
  })
})
