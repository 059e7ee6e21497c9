import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

import { afterEach, expect, test } from 'bun:test'

import { rejection } from '../storage/testing/rejection.ts'
import { createRemote, RemoteRefused, RemoteUnreachable } from './remote.ts'

const closers: (() => void)[] = []
afterEach(() => {
  for (const close of closers.splice(0)) close()
})

const start = async (answer: (request: IncomingMessage, response: ServerResponse) => void): Promise<string> => {
  const server = createServer(answer).listen(0, '127.0.0.1')
  closers.push(() => server.close())
  await once(server, 'listening')
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

test('a list is read to its end, page by page, at the address without the path of an interface', async () => {
  const asked: (string | undefined)[] = []
  const url = await start((request, response) => {
    asked.push(request.url)
    const offset = Number(new URL(request.url ?? '', 'http://x').searchParams.get('offset'))
    response.end(JSON.stringify({ data: Array.from({ length: Math.min(100, 200 - offset) }, (_, at) => ({ at: offset + at })) }))
  })
  for (const path of ['', '/', '/v1', '/api/v1', '/api/v1//']) {
    asked.length = 0
    const remote = createRemote({ url: `${url}${path}`, managementKey: 'key' }, 'w')
    expect((await remote.list('/things', { status: 'all' })).map(({ at }) => at)).toEqual(Array.from({ length: 200 }, (_, at) => at))
    expect(asked).toEqual([0, 100, 200].map((offset) => `/api/v1/things?status=all&offset=${offset}&limit=100&workspace_id=w`))
  }
})

test('the key is sent to no other address than the one that was named', async () => {
  let stolen: string | undefined
  const elsewhere = await start((request, response) => {
    stolen = request.headers.authorization
    response.end('{}')
  })
  const url = await start((_, response) => response.writeHead(307, { location: `${elsewhere}/` }).end('{}'))
  expect(await rejection(createRemote({ url, managementKey: 'key' }).ask('GET', '/key'))).toBeInstanceOf(RemoteUnreachable)
  expect(stolen).toBeUndefined()
})

test('a refusal is told with its reason, and with each place that is at fault', async () => {
  const issues = [{ path: 'a', message: 'No.' }, { path: 1, message: 'No.' }, 'no issue']
  const url = await start((_, response) =>
    response.writeHead(400).end(JSON.stringify({ error: { message: 'Bad Request', metadata: { reason: 'It is wrong.', issues } } })),
  )
  const refused = await rejection(createRemote({ url, managementKey: 'key' }).ask('POST', '/things', { body: {} }))
  expect(refused).toBeInstanceOf(RemoteRefused)
  expect(refused).toMatchObject({
    status: 400,
    message: 'POST /things was refused with 400: It is wrong.',
    issues: [{ path: 'a', message: 'No.' }],
  })
})
