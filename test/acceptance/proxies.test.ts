/** The service behind the proxies of deploy/, with their files unchanged except for addresses and certificates. */
import { connect } from 'node:tls'

import { beforeAll, describe, expect, test } from 'bun:test'

import { dataEvent, proseChunk, say, startFakeUpstream } from '../support/fake-upstream.ts'
import { PROXIES } from '../support/proxies.ts'
import { useServices } from '../support/started-service.ts'

const services = useServices()
const upstream = await startFakeUpstream()

const service = await services.start({
  config: `
providers:
  fake: { name: Fake, dialects: [openai-chat], base_url: "${upstream.url}" }
models:
  m/one: { endpoints: [{ provider: fake, model: up }] }
`,
})

for (const proxy of PROXIES) {
  describe.skipIf(!proxy.isHere)(`behind ${proxy.name}`, () => {
    let port = 0
    beforeAll(async () => {
      port = await proxy.start(Number(new URL(service.url).port), services.directory())
    })

    const ask = (path: string, init: RequestInit = {}): Promise<Response> =>
      fetch(`https://127.0.0.1:${port}${path}`, {
        ...init,
        headers: { authorization: `Bearer ${service.inferenceKey}`, 'content-type': 'application/json' },
        tls: { rejectUnauthorized: false },
      })
    const chat = (more: object, signal?: AbortSignal): Promise<Response> =>
      ask('/api/v1/chat/completions', {
        method: 'POST',
        body: JSON.stringify({ model: 'm/one', messages: [{ role: 'user', content: 'Hi' }], ...more }),
        ...(signal === undefined ? {} : { signal }),
      })

    /** Sends raw requests on one connection, and returns what was received up to this text. */
    const talk = (requests: readonly string[], end: RegExp): Promise<string> =>
      new Promise((resolve, reject) => {
        let received = ''
        const socket = connect({ port, host: '127.0.0.1', rejectUnauthorized: false, ALPNProtocols: ['http/1.1'] }, () => {
          for (const request of requests) socket.write(request)
        })
        socket.setEncoding('utf8').on('data', (piece: string) => {
          received += piece
          if (!end.test(received)) return
          socket.destroy()
          resolve(received)
        })
        socket.once('error', reject)
        socket.once('close', () => resolve(received))
      })

    test('each event of a stream arrives before the next one is sent', async () => {
      const seen: PromiseWithResolvers<void>[] = ['one', 'two', 'three'].map(() => Promise.withResolvers<void>())
      upstream.script(async (exchange) => {
        await exchange.head(200, { 'content-type': 'text/event-stream' })
        for (const [index, word] of ['one', 'two', 'three'].entries()) {
          await exchange.piece(dataEvent(proseChunk(word)))
          await seen[index]?.promise
        }
        await exchange.piece('data: [DONE]\n\n')
        await exchange.done()
      })
      const { body } = await chat({ stream: true })
      const decoder = new TextDecoder()
      let text = ''
      for await (const piece of body ?? new ReadableStream<Uint8Array>()) {
        text += decoder.decode(piece, { stream: true })
        for (const [index, word] of ['one', 'two', 'three'].entries()) if (text.includes(`"${word}"`)) seen[index]?.resolve()
      }
      expect(text).toEndWith('data: [DONE]\n\n')
    })

    test('a client that leaves a stream ends the request to the provider', async () => {
      upstream.script(async (exchange) => {
        await exchange.head(200, { 'content-type': 'text/event-stream' })
        await exchange.piece(dataEvent(proseChunk('one')))
        await exchange.gone
      })
      const leaving = new AbortController()
      const { body } = await chat({ stream: true }, leaving.signal)
      await body?.getReader().read()
      leaving.abort()
      await upstream.last.gone
    })

    test('a client that leaves before a whole answer has begun ends the request to the provider', async () => {
      const asked = Promise.withResolvers<void>()
      upstream.script(async (exchange) => {
        asked.resolve()
        await exchange.gone
      })
      const leaving = new AbortController()
      const answer = chat({}, leaving.signal)
      await asked.promise
      leaving.abort()
      expect(await answer.catch(({ name }: Error) => name)).toBe('AbortError')
      await upstream.last.gone
    })

    test('a body of 19 MiB arrives, one above the limit is 413, and a long answer comes whole', async () => {
      upstream.script(say('y'.repeat(3_000_000)))
      const user = { role: 'user', content: 'x'.repeat(19 * 1024 ** 2) }
      const answer = await chat({ messages: [user] })
      expect(answer.status).toBe(200)
      expect((await answer.text()).match(/y{9,}/)?.[0]).toHaveLength(3_000_000)
      expect(upstream.last.text.length).toBeGreaterThan(user.content.length)
      // A proxy that refuses at once may close while the body is still being sent.
      const tooLarge = await chat({ messages: [{ ...user, content: 'x'.repeat(22 * 1024 ** 2) }] }).then(
        ({ status }) => status,
        () => 413,
      )
      expect(tooLarge).toBe(413)
    })

    test('one connection takes many requests', async () => {
      const request = `GET /api/v1/key HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nAuthorization: Bearer ${service.inferenceKey}\r\n\r\n`
      const received = await talk([request, request, request], /(?:HTTP\/1\.1 [\s\S]*"data"[\s\S]*){3}$/)
      expect(received.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 200', 'HTTP/1.1 200', 'HTTP/1.1 200'])
    })

    test('a WebSocket is refused at once with 426', async () => {
      const request =
        `GET /v1/responses HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nAuthorization: Bearer ${service.inferenceKey}\r\nConnection: Upgrade\r\n` +
        'Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n'
      expect(await talk([request], /supported/)).toStartWith('HTTP/1.1 426 ')
    })

    test('health and metrics stay inside', async () => {
      for (const path of ['/metrics', '/health/live', '/health/ready']) expect([403, 404]).toContain((await ask(path)).status)
    })
  })
}
