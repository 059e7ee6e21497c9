import { connect, type Socket } from 'node:net'

import { afterAll, describe, expect, test } from 'bun:test'

import { openResponseWriter, type ResponseWriter } from './response-writer.ts'

let unread = 0
const opened: { writer: ResponseWriter; gone: Promise<void> }[] = []
const server = Bun.serve({
  port: 0,
  development: false,
  fetch() {
    const gone = Promise.withResolvers<void>()
    const writer = openResponseWriter(gone.resolve, (change) => (unread += change))
    opened.push({ writer, gone: gone.promise })
    void writer.write('early;')
    return new Response(writer.body)
  },
})
afterAll(() => server.stop(true))

/** A client, and the writer of its answer. */
const open = async () => {
  const socket = connect(server.port ?? 0, '127.0.0.1')
  let received = ''
  const closed = Promise.withResolvers<'ended' | 'reset'>()
  socket.on('data', (piece: Buffer) => (received += piece.toString()))
  socket.once('end', () => closed.resolve('ended'))
  socket.once('error', () => closed.resolve('reset'))
  socket.write('GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n')
  await until(socket, () => received.includes('early;'))
  const { writer, gone } = opened.pop() ?? raise()
  return { socket, writer, gone, received: () => received, closed: closed.promise }
}

const raise = (): never => {
  throw new Error('No request came.')
}

const until = async (socket: Socket, holds: () => boolean): Promise<void> => {
  while (!holds()) await new Promise((resolve) => socket.once('data', resolve))
}

test('what was written before anybody read, and all that follows, arrives in order, and ends well', async () => {
  const { socket, writer, received, closed } = await open()
  for (let piece = 0; piece < 50; piece += 1) await writer.write(`${piece};`)
  writer.end('last')
  expect(await closed).toBe('ended')
  const body = received().slice(received().indexOf('\r\n\r\n') + 2)
  const text = body.replace(/\r\n[0-9a-f]+\r\n/g, '')
  expect(text).toStartWith(`early;${Array.from({ length: 50 }, (_, piece) => `${piece};`).join('')}last`)
  expect(body).toEndWith('\r\n0\r\n\r\n')
  socket.destroy()
})

test('a piece arrives before the next one is written', async () => {
  const { socket, writer, received } = await open()
  for (const piece of ['one;', 'two;', 'three;']) {
    void writer.write(piece)
    await until(socket, () => received().includes(piece))
  }
  socket.destroy()
})

test('a cut is never a clean end', async () => {
  const { writer, received, closed } = await open()
  await writer.write('some')
  writer.cut()
  expect(await closed).toBe('reset')
  expect(received()).not.toContain('\r\n0\r\n\r\n')
})

describe('a client that reads nothing', () => {
  /** Writes until the socket takes no more, which is far less than what is tried. */
  const fill = (writer: ResponseWriter): Promise<void> => {
    for (let piece = 0; piece < 10_000; piece += 1) {
      const behind = writer.write('x'.repeat(16 * 1024))
      if (behind !== undefined) return behind
    }
    throw new Error('Everything was taken.')
  }

  test('is reported as slow, and as caught up once it reads', async () => {
    const { socket, writer } = await open()
    socket.pause()
    const behind = fill(writer)
    expect(writer.full).toBe(true)
    expect(unread).toBeGreaterThan(0)
    socket.resume()
    await behind
    expect([writer.full, unread]).toEqual([false, 0])
    socket.destroy()
  })

  test('and leaves ends the wait, once', async () => {
    const { socket, writer, gone } = await open()
    socket.pause()
    const behind = fill(writer)
    socket.destroy()
    await gone
    await behind
    expect(unread).toBe(0)
    expect(writer.write('more')).toBeUndefined()
    writer.end('last')
  })
})

test('before anybody reads, only so much is taken', () => {
  const writer = openResponseWriter(() => undefined)
  expect(writer.write('x'.repeat(1000))).toBeUndefined()
  expect(writer.write('x'.repeat(100_000))).toBeInstanceOf(Promise)
})
