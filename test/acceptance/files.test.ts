/** Files of a workspace: stored, listed, read and deleted by the keys and people of that workspace, and by nobody else. */
import { request } from 'node:http'

import Anthropic, { toFile } from '@anthropic-ai/sdk'
import { OpenRouter } from '@openrouter/sdk'
import { NotFoundResponseError } from '@openrouter/sdk/models/errors'
import { beforeAll, describe, expect, test } from 'bun:test'

import { type Answer, call, type CallOptions } from '../support/calls.ts'
import { signInByKey } from '../support/signed-in.ts'
import { type StartedService, useServices } from '../support/started-service.ts'

const services = useServices()
let service: StartedService
/** Keys of another workspace. */
let tenant: { readonly management: string; readonly inference: string }

const keyOf = ({ json }: Answer): string => (json as { key: string }).key

const TENANT_BYTES = 1_000_000

beforeAll(async () => {
  service = await services.start({ config: `files: { workspace_bytes: ${TENANT_BYTES} }\n` })
  await call(service, 'POST', '/workspaces', { body: { name: 'Tenant', slug: 'tenant' } })
  const make = async (kind: string) => keyOf(await call(service, 'POST', '/keys?workspace_id=tenant', { body: { name: kind, kind } }))
  tenant = { management: await make('management'), inference: await make('inference') }
})

interface FileWire {
  readonly id: string
  readonly filename: string
  readonly size_bytes: number
}

interface UploadOptions extends Omit<CallOptions, 'body'> {
  readonly filename?: string
  readonly type?: string
  readonly query?: string
}

const BOUNDARY = 'a-boundary'

const formOf = (content: string | Uint8Array, filename: string, type = 'text/plain'): Buffer =>
  Buffer.concat([
    Buffer.from(`--${BOUNDARY}\r\nContent-Disposition: form-data; name="file"; filename="${filename}"\r\nContent-Type: ${type}\r\n\r\n`),
    Buffer.from(content),
    Buffer.from(`\r\n--${BOUNDARY}--\r\n`),
  ])

/** A streamed body of unknown length. */
const arriving = (pieces: AsyncGenerator<Uint8Array>): ReadableStream<Uint8Array> =>
  new ReadableStream({
    async pull(controller) {
      const { done, value } = await pieces.next()
      if (done === true) controller.close()
      else controller.enqueue(value)
    },
  })

const send = async (
  body: string | Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array>,
  { key = service.inferenceKey, headers = {}, query = '' }: UploadOptions = {},
) => {
  const response = await fetch(`${service.api}/files${query}`, {
    method: 'POST',
    headers: {
      ...(key === null ? {} : { authorization: `Bearer ${key}` }),
      'content-type': `multipart/form-data; boundary=${BOUNDARY}`,
      ...headers,
    },
    body,
  })
  const json = (await response.json()) as FileWire & { readonly error: { readonly metadata: { readonly reason?: string } } }
  return { status: response.status, json }
}

const upload = (content: string | Uint8Array, { filename = 'a.txt', type, ...options }: UploadOptions = {}) =>
  send(new Uint8Array(formOf(content, filename, type)), options)

const ask = (method: string, path: string, key: string | null = service.inferenceKey): Promise<Answer> =>
  call(service, method, path, { key })

const filesOf = async (key: string, query = ''): Promise<readonly FileWire[]> =>
  ((await ask('GET', `/files${query}`, key)).json as { data: FileWire[] }).data

const contentOf = async (id: string, key = service.inferenceKey): Promise<Buffer> =>
  Buffer.from(await (await fetch(`${service.api}/files/${id}/content`, { headers: { authorization: `Bearer ${key}` } })).arrayBuffer())

test('a file comes back byte for byte, as a download that browsers never display', async () => {
  const bytes = Uint8Array.from({ length: 200_001 }, (_, index) => (index * 7919) % 256)
  const { status, json } = await upload(bytes, { filename: 'naïve “1”.html', type: 'Text/HTML; charset=utf-8' })
  expect(status).toBe(200)
  expect(json).toEqual({
    _shape: 'openrouter',
    id: expect.stringMatching(/^file_[A-Za-z0-9]{24}$/),
    type: 'file',
    filename: 'naïve “1”.html',
    mime_type: 'text/html',
    size_bytes: bytes.length,
    created_at: expect.stringMatching(/^\d{4}-.*Z$/),
    downloadable: true,
  } as never)
  expect(await contentOf(json.id)).toEqual(Buffer.from(bytes))
  const { headers } = await fetch(`${service.api}/files/${json.id}/content`, {
    method: 'HEAD',
    headers: { authorization: `Bearer ${service.inferenceKey}` },
  })
  expect(Object.fromEntries(headers)).toMatchObject({
    'content-type': 'application/octet-stream',
    'content-length': String(bytes.length),
    'content-disposition': "attachment; filename*=UTF-8''na%C3%AFve%20%E2%80%9C1%E2%80%9D.html",
    'x-content-type-options': 'nosniff',
    'content-security-policy': "default-src 'none'; sandbox",
  })
  expect((await ask('GET', `/files/${json.id}`, service.managementKey)).json).toEqual(json)
  expect((await ask('DELETE', `/files/${json.id}`)).json).toEqual({ _shape: 'openrouter', id: json.id, type: 'file_deleted' })
  for (const path of [`/files/${json.id}`, `/files/${json.id}/content`]) expect((await ask('GET', path)).status).toBe(404)
  expect((await ask('DELETE', `/files/${json.id}`)).status).toBe(404)
})

test('an empty file can be stored', async () => {
  const { json } = await upload('')
  expect([json.size_bytes, (await contentOf(json.id)).length]).toEqual([0, 0])
})

describe('access', () => {
  test('401: without a key, and with an invalid one', async () => {
    for (const key of [null, 'pb_inf_nonsense']) {
      expect((await upload('x', { key })).status).toBe(401)
      expect((await ask('GET', '/files', key)).status).toBe(401)
    }
  })

  test('404: files of another workspace, for both kinds of its keys; no list shows them', async () => {
    const mine = (await upload('mine')).json
    for (const key of [tenant.inference, tenant.management]) {
      for (const path of [`/files/${mine.id}`, `/files/${mine.id}/content`]) expect((await ask('GET', path, key)).status).toBe(404)
      expect((await ask('DELETE', `/files/${mine.id}`, key)).status).toBe(404)
      expect((await ask('GET', `/files?after=${mine.id}`, key)).status).toBe(404)
      expect((await ask('GET', '/files?workspace_id=default', key)).status).toBe(404)
      expect((await upload('x', { key, query: '?workspace_id=default' })).status).toBe(404)
      expect(await filesOf(key)).toEqual([])
    }
    expect((await contentOf(mine.id)).toString()).toBe('mine')
  })

  test('the operator acts in the workspace that the request names', async () => {
    const { json } = await upload('theirs', { key: service.managementKey, query: '?workspace_id=tenant', filename: 'theirs.txt' })
    expect((await filesOf(tenant.inference)).map(({ id }) => id)).toEqual([json.id])
    expect((await filesOf(service.managementKey, '?workspace_id=tenant')).map(({ id }) => id)).toEqual([json.id])
    expect((await filesOf(service.managementKey)).map(({ id }) => id)).not.toContain(json.id)
    expect((await ask('DELETE', `/files/${json.id}?workspace_id=default`, service.managementKey)).status).toBe(404)
    expect((await ask('DELETE', `/files/${json.id}?workspace_id=tenant`, service.managementKey)).status).toBe(200)
  })

  test('signed-in people can use the files of their workspace', async () => {
    const person = await signInByKey(service)
    const { json } = await upload('for people')
    expect((await person.ask('GET', `/files/${json.id}`)).status).toBe(200)
    expect((await person.ask('DELETE', `/files/${json.id}`)).status).toBe(200)
  })

  test('an inference key is allowed no more requests for files than for models', async () => {
    const key = keyOf(await call(service, 'POST', '/keys', { body: { name: 'slow', rpm_limit: 2 } }))
    const statuses = []
    for (let index = 0; index < 3; index += 1) statuses.push((await ask('GET', '/files', key)).status)
    expect(statuses).toEqual([200, 200, 429])
  })
})

describe('a list', () => {
  test('is paged by its cursor or by an id, and can be filtered by a part of the name', async () => {
    const key = tenant.inference
    for (const filename of ['one.csv', 'two.txt', 'THREE.csv']) await upload(filename, { key, filename })
    const names = async (query: string) => (await filesOf(key, query)).map(({ filename }) => filename)
    expect(await names('')).toEqual(['one.csv', 'two.txt', 'THREE.csv'])
    expect(await names('?filename=.CSV&limit=')).toEqual(['one.csv', 'THREE.csv'])
    const page = (await ask('GET', '/files?limit=2&order=asc', key)).json as Readonly<Record<string, string>>
    expect(page).toMatchObject({ has_more: true, next_page: page['cursor'] })
    expect(await names(`?cursor=${page['cursor']}`)).toEqual(['THREE.csv'])
    expect(await names(`?page=${page['cursor']}`)).toEqual(['THREE.csv'])
    expect(await names(`?after=${page['last_id']}`)).toEqual(['THREE.csv'])
    expect(await names(`?after_id=${page['first_id']}`)).toEqual(['two.txt', 'THREE.csv'])
    expect((await ask('GET', '/files', key)).json).toMatchObject({ has_more: false, cursor: null, next_page: null })
    for (const { id } of await filesOf(key)) await ask('DELETE', `/files/${id}`, key)
    expect((await ask('GET', '/files', key)).json).toMatchObject({ data: [], first_id: null, last_id: null })
  })

  test.each([
    'limit=0',
    'limit=1001',
    'limit=1.5',
    'order=desc',
    'before_id=x',
    'provider=openai',
    'cursor=nonsense',
    `filename=${'x'.repeat(256)}`,
  ])('400: %s', async (query) => {
    const { status, error } = await ask('GET', `/files?${query}`)
    expect(status).toBe(400)
    expect(JSON.stringify(error.metadata)).toContain(query.split('=')[0] ?? '')
  })
})

describe('an upload', () => {
  test.each([
    ['../x', 'file.filename'],
    ['/etc/passwd', 'file.filename'],
    ['a\\\\b', 'file.filename'],
    ['a%0Ab', 'file.filename'],
    ['x'.repeat(256), 'file.filename'],
    ['', 'file.filename'],
  ])('400: with the name %p', async (filename, path) => {
    const { status, json } = await upload('x', { filename })
    expect([status, json.error.metadata]).toEqual([400, expect.objectContaining({ issues: [expect.objectContaining({ path })] })])
  })

  test.each([
    ['no form', '{}', { 'content-type': 'application/json' }],
    ['a form without an end', formOf('x', 'a').subarray(0, -6), {}],
    ['no file', `--${BOUNDARY}\r\nContent-Disposition: form-data; name="purpose"\r\n\r\nuser_data\r\n--${BOUNDARY}--`, {}],
    ['an unknown part', `--${BOUNDARY}\r\nContent-Disposition: form-data; name="expires_after"\r\n\r\n1\r\n--${BOUNDARY}--`, {}],
    ['a compressed body', formOf('x', 'a'), { 'content-encoding': 'gzip' }],
    ['two files', Buffer.concat([formOf('x', 'a').subarray(0, -4), Buffer.from('\r\n'), formOf('y', 'b')]), {}],
  ])('400: that is %s, and nothing of it is stored', async (_, body, headers) => {
    const before = await filesOf(service.inferenceKey, '?limit=1000')
    const { status } = await send(typeof body === 'string' ? body : new Uint8Array(body), { headers })
    expect([status, await filesOf(service.inferenceKey, '?limit=1000')]).toEqual([400, before])
  })

  test('with a purpose, as clients of OpenAI send one, is stored', async () => {
    const form = new FormData()
    form.set('purpose', 'user_data')
    form.set('file', new File(['{}'], 'a.jsonl'))
    const response = await fetch(`${service.api}/files`, {
      method: 'POST',
      headers: { authorization: `Bearer ${service.inferenceKey}` },
      body: form,
    })
    expect([response.status, await response.json()]).toEqual([200, expect.objectContaining({ filename: 'a.jsonl', size_bytes: 2 })])
  })

  test('with an Idempotency-Key is stored once; with another content the key is refused', async () => {
    const headers = { 'idempotency-key': 'upload-1' }
    const first = await upload('once', { headers })
    expect(await upload('once', { headers })).toEqual(first)
    expect((await filesOf(service.inferenceKey, '?limit=1000')).filter(({ id }) => id === first.json.id)).toHaveLength(1)
    expect((await upload('twice', { headers })).status).toBe(400)
    expect((await upload('once', { headers, filename: 'b.txt' })).status).toBe(400)
  })

  test('413: a file that does not fit beside the others of its workspace; deleting them makes room', async () => {
    const key = tenant.inference
    const first = await upload(new Uint8Array(TENANT_BYTES - 1), { key })
    const full = await upload('xx', { key })
    expect([full.status, full.json.error.metadata]).toEqual([
      413,
      expect.objectContaining({ reason: 'workspace_files_full', max_bytes: TENANT_BYTES }),
    ])
    expect((await upload('x', { key })).status).toBe(200)
    expect((await upload('x', { key })).status).toBe(413)
    await ask('DELETE', `/files/${first.json.id}`, key)
    expect((await upload('xx', { key })).status).toBe(200)
  })

  test('413: more than 100 MiB, as soon as the client announces it', async () => {
    const { promise: answered, resolve, reject } = Promise.withResolvers<number | undefined>()
    const asking = request(`${service.api}/files`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${service.inferenceKey}`,
        'content-type': `multipart/form-data; boundary=${BOUNDARY}`,
        // A body this large is refused before it is read.
        'content-length': String(500 * 1024 * 1024),
      },
    })
    asking.once('error', reject).once('response', ({ statusCode }) => resolve(statusCode))
    asking.flushHeaders()
    expect(await answered).toBe(413)
    asking.once('error', () => undefined).destroy()
  })

  test('413: a file that turns out too large while it arrives, and nothing of it is stored', async () => {
    const pieces = async function* (): AsyncGenerator<Uint8Array> {
      yield formOf('', 'huge').subarray(0, -(BOUNDARY.length + 8))
      for (let index = 0; index < 3; index += 1) yield new Uint8Array(1024 * 1024)
    }
    expect((await send(arriving(pieces()))).status).toBe(413)
    expect(await filesOf(service.inferenceKey, '?filename=huge')).toEqual([])
  })

  test('that its client aborts leaves nothing, and takes no space', async () => {
    const before = await filesOf(tenant.inference)
    const leave = new AbortController()
    const pieces = async function* (): AsyncGenerator<Uint8Array> {
      yield formOf(new Uint8Array(600_000), 'cut').subarray(0, -(BOUNDARY.length + 8))
      leave.abort()
      await new Promise(() => undefined)
    }
    const sent = fetch(`${service.api}/files`, {
      method: 'POST',
      headers: { authorization: `Bearer ${tenant.inference}`, 'content-type': `multipart/form-data; boundary=${BOUNDARY}` },
      body: arriving(pieces()),
      signal: leave.signal,
    })
    expect(await sent.catch((thrown: unknown) => thrown)).toBeInstanceOf(Error)
    // After the service has seen that the client is gone, all of its space is free again.
    for (let stored = false; !stored;) stored = (await upload(new Uint8Array(990_000), { key: tenant.inference })).status === 200
    expect(await filesOf(tenant.inference)).toHaveLength(before.length + 1)
  })
})

test('a change of a file is in the audit log with its name and size, and without its content', async () => {
  const { json } = await upload('the secret recipe', { filename: 'recipe.txt' })
  await ask('DELETE', `/files/${json.id}`)
  const { text } = await call(service, 'GET', `/audit-log?object_type=file&object_id=${json.id}`)
  expect(text).not.toContain('secret recipe')
  const shown = { filename: 'recipe.txt', mime_type: 'text/plain', size_bytes: 17 }
  expect((JSON.parse(text) as { data: unknown }).data).toMatchObject([
    { action: 'deleted', before: shown, after: null },
    { action: 'created', before: null, after: shown },
  ])
})

test('a reading of the content by a management key or a person is in the audit log; one by an inference key is not', async () => {
  const { id } = (await upload('private words')).json
  const readings = async (): Promise<number> => {
    const { json } = await call(service, 'GET', `/audit-log?object_id=${id}&action=read`)
    return (json as { data: readonly unknown[] }).data.length
  }
  expect((await call(service, 'GET', `/files/${id}/content`, { key: service.inferenceKey })).status).toBe(200)
  expect(await readings()).toBe(0)
  expect((await call(service, 'GET', `/files/${id}/content`)).status).toBe(200)
  expect(await readings()).toBe(1)
  const person = await signInByKey(service)
  expect((await person.ask('GET', `/files/${id}/content`)).status).toBe(200)
  expect(await readings()).toBe(2)
})

test('deleting a workspace deletes its files', async () => {
  const { json } = (await call(service, 'POST', '/workspaces', { body: { name: 'Gone', slug: 'gone' } })) as { json: unknown }
  const { json: file } = await upload('x', { key: service.managementKey, query: '?workspace_id=gone' })
  expect((await ask('GET', `/files/${file.id}`, service.managementKey)).status).toBe(200)
  expect((await ask('DELETE', `/workspaces/${(json as { data: { id: string } }).data.id}`, service.managementKey)).status).toBe(200)
  expect((await ask('GET', `/files/${file.id}`, service.managementKey)).status).toBe(404)
})

describe('unmodified clients', () => {
  test('@openrouter/sdk uploads, lists by the page, reads and deletes', async () => {
    const key = keyOf(await call(service, 'POST', '/keys', { body: { name: 'sdk' } }))
    const { files } = new OpenRouter({ apiKey: key, serverURL: service.api, retryConfig: { strategy: 'none' } })
    const made = await files.upload({ requestBody: { file: new File(['from the SDK'], 'sdk-1.txt', { type: 'text/plain' }) } })
    expect(made).toMatchObject({ shape: 'openrouter', filename: 'sdk-1.txt', sizeBytes: 12 })
    const id = (made as { id: string }).id
    const listed: unknown[] = []
    for await (const page of await files.list({ limit: 3 })) {
      if (page.result.shape === 'openrouter' && 'data' in page.result) listed.push(...page.result.data.map((file) => file.id))
    }
    expect(listed).toContain(id)
    expect(new Set(listed).size).toBe(listed.length)
    expect(await files.retrieve({ fileId: id })).toMatchObject({ shape: 'openrouter', mimeType: 'text/plain', downloadable: true })
    expect(await new Response(await files.download({ fileId: id })).text()).toBe('from the SDK')
    expect(await files.delete({ fileId: id })).toMatchObject({ shape: 'openrouter', id, type: 'file_deleted' })
    expect(await files.retrieve({ fileId: id }).catch((thrown: unknown) => thrown)).toBeInstanceOf(NotFoundResponseError)
  })

  test('@anthropic-ai/sdk does the same', async () => {
    const client = new Anthropic({ apiKey: service.inferenceKey, baseURL: service.url, maxRetries: 0 })
    const { id } = await client.beta.files.upload({ file: await toFile(Buffer.from('from Claude'), 'claude.txt', { type: 'text/plain' }) })
    expect(await client.beta.files.retrieveMetadata(id)).toMatchObject({ type: 'file', filename: 'claude.txt', size_bytes: 11 })
    const ids: string[] = []
    for await (const file of client.beta.files.list({ limit: 2 })) ids.push(file.id)
    expect(ids).toContain(id)
    expect(await (await client.beta.files.download(id)).text()).toBe('from Claude')
    expect(await client.beta.files.delete(id)).toMatchObject({ id, type: 'file_deleted' })
  })
})
