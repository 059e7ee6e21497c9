/**
 * A fake provider of two dialects, OpenAI's Chat Completions and Anthropic's Messages, in its own process so that its CPU time is separate.
 * Loopback only.
 * Below `/delayed` it takes 50 ms, below `/paced` a stream has ten events a second.
 * `bin/bun bench/upstream.ts [--port 0] [--events-per-write 4]` prints `upstream ready http://127.0.0.1:PORT`.
 */
import { parseArgs } from 'node:util'

import { pacedEvents, streamEvents, wholeAnswer } from './answers.ts'
import { exitWithParent } from './child.ts'
import { messageEvents, wholeMessage } from './messages-answers.ts'

const DELAY_MS = 50
const PACE_MS = 100

const main = (): void => {
  const { values } = parseArgs({
    options: {
      port: { type: 'string', default: '0' },
      'events-per-write': { type: 'string', default: '4' },
      child: { type: 'boolean', default: false },
    },
  })
  if (values.child) exitWithParent()
  const eventsPerWrite = Number(values['events-per-write'])
  const chat = { whole: Buffer.from(wholeAnswer()), writes: groupEvents(streamEvents(), eventsPerWrite), delayMs: 0, paceMs: 0 }
  const answers: Readonly<Record<string, Answers>> = {
    '/v1/chat/completions': chat,
    '/v1/messages': { ...chat, whole: Buffer.from(wholeMessage()), writes: groupEvents(messageEvents(), eventsPerWrite) },
    '/delayed/v1/chat/completions': { ...chat, delayMs: DELAY_MS },
    '/paced/v1/chat/completions': { ...chat, writes: groupEvents(pacedEvents(), 1), paceMs: PACE_MS },
  }

  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: Number(values.port),
    idleTimeout: 0,
    async fetch(request) {
      const answer = answers[new URL(request.url).pathname]
      if (request.method !== 'POST' || answer === undefined) {
        return Response.json(
          { error: { message: `The bench upstream only knows POST ${Object.keys(answers).join(' and ')}.` } },
          { status: 404 },
        )
      }
      // Quotes inside the messages are escaped, so this only matches the member itself.
      const wantsStream = /"stream"\s*:\s*true/.test(await request.text())
      if (answer.delayMs > 0) await Bun.sleep(answer.delayMs)
      if (!wantsStream) return new Response(answer.whole, { headers: { 'content-type': 'application/json' } })
      return new Response(streamWrites(answer.writes, answer.paceMs), {
        headers: { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' },
      })
    },
  })
  console.log(`upstream ready http://127.0.0.1:${server.port}`)
}

interface Answers {
  readonly whole: Uint8Array<ArrayBuffer>
  readonly writes: readonly Uint8Array[]
  /** The delays before the first byte, and between two writes. */
  readonly delayMs: number
  readonly paceMs: number
}

/** Puts several events into each write, as they arrive from a busy provider. */
const groupEvents = (events: readonly string[], perWrite: number): Uint8Array[] => {
  const groups: Uint8Array[] = []
  for (let start = 0; start < events.length; start += perWrite) groups.push(Buffer.from(events.slice(start, start + perWrite).join('')))
  return groups
}

/** Each group is written in its own turn of the event loop, so that the receiver gets it as a separate piece. */
const streamWrites = (writes: readonly Uint8Array[], paceMs: number): ReadableStream<Uint8Array> => {
  let next = 0
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      if (next > 0) await Bun.sleep(paceMs)
      const group = writes[next]
      next += 1
      if (group !== undefined) controller.enqueue(group)
      if (next >= writes.length) controller.close()
    },
  })
}

main()
