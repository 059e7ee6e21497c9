import { expect, test } from 'bun:test'

import { DESTINATION_TYPES, type DestinationType } from '../contract/destination.ts'
import { createSender } from './senders.ts'
import type { TraceView } from './trace-spans.ts'
import { traceWith } from './trace.test-kit.ts'

const PARTS = {
  view: { content: true, cost: true, identity: true, requestContext: true },
  resource: { serviceName: 'patchbay', serviceVersion: '1', others: {} },
}

const outgoing = async (type: DestinationType, config: object) =>
  createSender(type, DESTINATION_TYPES[type].config.parse(config) as never, PARTS).test(Date.UTC(2026, 10, 20))

test.each<[DestinationType, object, string]>([
  ['newrelic', { license_key: 'k' }, 'https://otlp.nr-data.net/v1/traces'],
  ['newrelic', { license_key: 'k', region: 'eu' }, 'https://otlp.eu01.nr-data.net/v1/traces'],
  ['datadog', { api_key: 'k', ml_app: 'a' }, 'https://otlp.datadoghq.com/v1/traces'],
  ['datadog', { api_key: 'k', ml_app: 'a', url: 'https://api.us5.datadoghq.com/' }, 'https://otlp.us5.datadoghq.com/v1/traces'],
  ['grafana', { api_key: 'k', instance_id: '1' }, 'https://otlp-gateway-prod-us-west-0.grafana.net/otlp/v1/traces'],
  ['langfuse', { public_key: 'p', secret_key: 's' }, 'https://us.cloud.langfuse.com/api/public/otel/v1/traces'],
  ['posthog', { api_key: 'k' }, 'https://us.i.posthog.com/batch/'],
  [
    's3',
    { bucket_name: 'traces', access_key_id: 'a', secret_access_key: 's', region: 'eu-west-1' },
    'https://traces.s3.eu-west-1.amazonaws.com/patchbay-traces/connection-test.json',
  ],
])('%s of %j is reached at %s', async (type, config, url) => {
  expect((await outgoing(type, config)).url).toBe(url)
})

test('New Relic is given the license key as its header', async () => {
  expect((await outgoing('newrelic', { license_key: 'license-0123456789' })).headers).toMatchObject({ 'api-key': 'license-0123456789' })
})

/** Each member that tells something has a word of its own. */
const TELLING = (() => {
  const attempt = (number: string) => ({
    model: 'vendor/model',
    provider: 'vendor',
    upstreamModel: 'model',
    startedMs: 0,
    endedMs: 1,
    status: 500,
    error: { type: 'server', message: `word-error-${number}` },
  })
  const call = { name: 'web_search', callId: 'call-1', startedMs: 0, endedMs: 1, isFailed: false }
  return traceWith({
    keyName: 'word-key',
    referer: 'word-referer',
    userAgent: 'word-agent',
    costUsd: 0.0123,
    error: { type: 'server', message: 'word-error' },
    attempts: [attempt('first'), attempt('second')],
    innerAttempts: [attempt('inner')],
    toolCalls: [call],
    content: {
      system: [{ type: 'text', content: 'word-system' }],
      input: [{ role: 'user', parts: [{ type: 'text', content: 'word-question' }] }],
      output: [{ type: 'text', content: 'word-answer' }],
      tools: '["word-tools"]',
      toolCalls: new Map([['call-1', { arguments: 'word-arguments', result: 'word-result' }]]),
    },
  })
})()
const VIEW: TraceView = { content: true, cost: true, identity: true, requestContext: true }

test.each<[DestinationType, object, contents: number]>([
  ['webhook', { url: 'https://hooks.example/traces' }, 10],
  ['otel-collector', { endpoint: 'https://collector.example' }, 10],
  ['langfuse', { public_key: 'p', secret_key: 's' }, 10],
  ['s3', { bucket_name: 'traces', access_key_id: 'a', secret_access_key: 's', region: 'eu-west-1' }, 10],
  ['posthog', { api_key: 'k' }, 3],
])(
  '%s: contents, the words of errors among them, leave only if the destination wants them and the request may be kept; cost, identity and context only if wanted',
  (type, config, contents) => {
    const words = (view: TraceView, isPrivate = false): readonly string[] => {
      const { text } = createSender(type, DESTINATION_TYPES[type].config.parse(config) as never, { ...PARTS, view }).encode({
        ...TELLING,
        isPrivate,
      })
      return [...new Set(text.match(/word-[a-z-]+|0\.0123/g))].toSorted()
    }
    const others = ['0.0123', 'word-agent', 'word-key', 'word-referer']
    expect(words({ ...VIEW, content: false })).toEqual(others)
    expect(words(VIEW, true)).toEqual(others)
    expect(words(VIEW)).toHaveLength(contents + others.length)
    expect(words({ content: true, cost: false, identity: false, requestContext: false })).toHaveLength(contents)
    expect(words({ ...VIEW, content: false, identity: false })).toEqual(['0.0123', 'word-agent', 'word-referer'])
    expect(words({ ...VIEW, content: false, requestContext: false })).toEqual(['0.0123', 'word-key'])
    expect(words({ ...VIEW, content: false, cost: false })).toEqual(['word-agent', 'word-key', 'word-referer'])
  },
)

test('a seed is sent where it is exact: one that was rounded beyond 64 bits may cost all traces that are sent with it', () => {
  const sender = createSender('webhook', DESTINATION_TYPES.webhook.config.parse({ url: 'https://hooks.example/traces' }), PARTS)
  const textWith = (seed: number): string => sender.encode(traceWith({ settings: { stream: false, seed } })).text
  expect(textWith(7)).toContain('{"key":"gen_ai.request.seed","value":{"intValue":"7"}}')
  expect(textWith(2 ** 63)).not.toContain('gen_ai.request.seed')
})
