import { expect, test } from 'bun:test'

import { DESTINATION_TYPES, type DestinationType } from '../contract/destination.ts'
import { createSender } from './senders.ts'

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
