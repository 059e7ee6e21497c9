import { expect, test } from 'bun:test'

import { readEvents } from '../src/api/read-events.ts'

const streamed = (...texts: readonly string[]): ReadableStream<Uint8Array> =>
  new ReadableStream({ start: (controller) => texts.forEach((text) => controller.enqueue(new TextEncoder().encode(text))) })

test('a stream in which nothing more comes is lost, after the events that came', async () => {
  const events: string[] = []
  const reading = (async () => {
    for await (const { data } of readEvents(new Response(streamed('data: one\n\n', ': alive\n\ndata: two\n\n')), 1)) events.push(data)
  })()
  const thrown: unknown = await reading.catch((error: unknown) => error)
  expect(thrown).toMatchObject({ isUnreachable: true, message: 'The connection to the service was lost before the end.' })
  expect(events).toEqual(['one', 'two'])
})

test('events are read however they are cut up, with lines of either kind, and the stream is let go where a reader stops', async () => {
  let isCancelled = false
  const pieces = ['event: a\r\ndata:1\r', '\ndata: 2\r\n\r', '\nid: 7\n\ndata:  3\n\nda', 'ta: 4\n\n']
  const body = new ReadableStream<Uint8Array>({
    start: (controller) => pieces.forEach((text) => controller.enqueue(new TextEncoder().encode(text))),
    cancel: () => void (isCancelled = true),
  })
  const events: unknown[] = []
  for await (const event of readEvents(new Response(body))) if (events.push(event) === 3) break
  expect(events).toEqual([
    { event: 'a', data: '1\n2' },
    { event: 'message', data: ' 3' },
    { event: 'message', data: '4' },
  ])
  expect(isCancelled).toBe(true)
})
