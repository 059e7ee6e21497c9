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
