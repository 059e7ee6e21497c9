import { expect, test } from 'bun:test'

import { rejection } from '../../storage/testing/rejection.ts'
import { endWithSession } from './end-with-session.ts'

const opened = () => {
  const session = new AbortController()
  let stopped = 0
  const sessions = { watch: () => ({ signal: session.signal, stop: () => void (stopped += 1) }) }
  const writer = Promise.withResolvers<ReadableStreamDefaultController<Uint8Array>>()
  const cancelled: unknown[] = []
  const body = new ReadableStream<Uint8Array>({
    start: (controller) => writer.resolve(controller),
    cancel: (reason) => void cancelled.push(reason),
  })
  const response = endWithSession(new Response(body, { headers: { 'content-type': 'text/event-stream' } }), 's-1', sessions)
  return { response, session, writer: writer.promise, cancelled, stopped: () => stopped }
}

test('a stream that ends by itself is watched no longer', async () => {
  const { response, writer, stopped } = opened()
  const end = await writer
  end.enqueue(new TextEncoder().encode('data: 1\n\n'))
  end.close()
  expect([await response.text(), stopped()]).toEqual(['data: 1\n\n', 1])
})

test('a stream that breaks off passes its fault on and is watched no longer, and the end of its session harms nobody', async () => {
  const { response, writer, session, stopped } = opened()
  const reading = response.text()
  ;(await writer).error(new DOMException('The answer broke off.', 'AbortError'))
  expect(String(await rejection(reading))).toContain('The answer broke off.')
  expect(stopped()).toBe(1)
  session.abort()
  // By now an unhandled rejection would have failed the test.
  await new Promise(setImmediate)
})

test('the end of a session ends its stream for the reader and for the writer', async () => {
  const { response, session, cancelled, stopped } = opened()
  const reading = response.text()
  session.abort()
  expect(String(await rejection(reading))).toContain('The session has ended.')
  expect([cancelled.length, stopped()]).toEqual([1, 1])
})

test('a reader that leaves ends the stream for its writer, and the session is watched no longer', async () => {
  const { response, cancelled, stopped } = opened()
  await response.body?.cancel('left')
  expect([cancelled, stopped()]).toEqual([['left'], 1])
})
