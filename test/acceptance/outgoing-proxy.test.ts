/** A network whose only way out is a proxy, which the standard variables name. */
import { readFileSync } from 'node:fs'
import { createServer } from 'node:https'
import { join } from 'node:path'

import { expect, test } from 'bun:test'

import { infer } from '../support/calls.ts'
import { startForwardProxy } from '../support/forward-proxy.ts'
import { listenForTests } from '../support/listen.ts'
import { until, useServices } from '../support/started-service.ts'
import { TRUSTING } from '../support/tls-upstream.ts'

const services = useServices()
const pem = readFileSync(join(import.meta.dir, '../fixtures/tls/wrong-name.pem'), 'utf8')

const asked: string[] = []
const target = await listenForTests(
  createServer({ key: pem, cert: pem }, (request, response) => {
    asked.push(`${request.method} ${request.headers.host}${request.url}`)
    response.setHeader('content-type', 'application/json')
    response.end(
      request.url === '/v1/chat/completions'
        ? JSON.stringify({
            id: 'a',
            object: 'chat.completion',
            created: 1,
            model: 'up',
            choices: [{ index: 0, message: { role: 'assistant', content: 'Through.' }, finish_reason: 'stop' }],
            usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
          })
        : '{}',
    )
  }),
)
const proxy = await startForwardProxy()

test("providers and the operator's collector are reached through the proxy, by names that only it can look up", async () => {
  proxy.answer({ forward: target })
  const service = await services.start({
    env: {
      ...TRUSTING,
      HTTPS_PROXY: proxy.url,
      NO_PROXY: '127.0.0.1,localhost',
      OTEL_EXPORTER_OTLP_ENDPOINT: 'https://elsewhere.example',
      OTEL_METRICS_EXPORTER: 'none',
    },
    config: `
providers:
  far: { name: Far, dialects: [openai-chat], base_url: "https://elsewhere.example/v1", api_key: a-key }
models:
  far/model: { endpoints: [{ provider: far, model: up }] }
`,
  })
  const { status, text } = await infer(service, { model: 'far/model', messages: [{ role: 'user', content: 'Hello' }] })
  expect([status, text]).toEqual([200, expect.stringContaining('Through.')])
  await until(() => asked.length === 2, 'the trace')
  expect(asked).toEqual(['POST elsewhere.example/v1/chat/completions', 'POST elsewhere.example/v1/traces'])
  expect(new Set(proxy.heads.map((head) => head.split('\r\n')[0]))).toEqual(new Set(['connect elsewhere.example:443 http/1.1']))
  expect(await service.stop()).toBe(0)
})
