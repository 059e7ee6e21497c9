import { connect } from 'node:net'

import { afterAll, expect, test } from 'bun:test'

import { listen } from './server.ts'

const slow = Promise.withResolvers<void>()
const server = listen({
  host: '127.0.0.1',
  port: 0,
  shared: false,
  app: {
    async answer({ url }) {
      if (url.endsWith('/slow')) await slow.promise
      return new Response('whole')
    },
  },
  onError: () => undefined,
  idleSeconds: 1,
})
afterAll(() => server.close())

/** Sends this and nothing else; resolves with what came before the service closed the connection. */
const untilClosed = (sent: string): Promise<string> =>
  new Promise((resolve) => {
    const socket = connect(server.port, '127.0.0.1')
    let received = ''
    socket.on('data', (piece: Buffer) => (received += piece.toString()))
    socket.once('close', () => resolve(received))
    socket.write(sent)
  })

const asking = (path: string, more = ''): string => `GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n${more}`

test('a connection on which nothing moves is closed: after an answer, within the next request, within a body; but not before its answer', async () => {
  const waiting = untilClosed(asking('/slow'))
  const closed = await Promise.all([
    untilClosed(asking('/fast')),
    untilClosed(asking('/fast', 'GET /never-en')),
    untilClosed('POST /fast HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\nnever'),
  ])
  slow.resolve()
  for (const received of [...closed, await waiting]) expect(received).toEndWith('\r\n\r\nwhole')
})
