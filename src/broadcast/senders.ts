/** Defines for each type of destination what is sent, to which address, and with which authentication. */

import { signatureHeader } from '../lib/json/body-signature.ts'
import type { DestinationConfig, DestinationType } from '../contract/destination.ts'
import { encodeTrace, type ResourceFacts, tracesBody } from './encode-traces.ts'
import type { Encoded, Outgoing } from './outgoing.ts'
import { posthogEvent } from './posthog-event.ts'
import type { RequestTrace } from './request-trace.ts'
import { createS3Put, objectPath } from './s3-put.ts'
import { type Span, spansOf, type TraceView } from './trace-spans.ts'

export interface Sender {
  encode(trace: RequestTrace): Encoded
  readonly most: number
  request(traces: readonly Encoded[], nowMs: number): Outgoing | Promise<Outgoing>
  /** Makes a request without a trace, which a working destination accepts. */
  test(nowMs: number): Outgoing | Promise<Outgoing>
}

export interface SenderParts {
  readonly view: TraceView
  readonly resource: ResourceFacts
}

/** The most traces in one request. */
const BATCH_MAX = 100

const TEST_HEADER = { 'x-test-connection': 'true' }

type MakeSenders = { readonly [Type in DestinationType]: (config: DestinationConfig<Type>, parts: SenderParts) => Sender }

const SENDERS: MakeSenders = {
  'otel-collector': ({ endpoint, headers }, parts) => otlpSender(tracesUrl(endpoint), headers, parts),
  webhook: ({ url, method, headers, secret }, parts) => ({
    ...otlpEncoding(parts),
    most: BATCH_MAX,
    request: (traces, nowMs) => signed({ url, method, headers: json(headers), body: bodyOf(traces), gzip: false }, secret, nowMs),
    test: (nowMs) => signed({ url, method, headers: { ...json(headers), ...TEST_HEADER }, body: bodyOf([]), gzip: false }, secret, nowMs),
  }),
  langfuse: ({ base_url: base, public_key: publicKey, secret_key: secretKey, headers }, parts) =>
    otlpSender(
      `${bare(base)}/api/public/otel/v1/traces`,
      { authorization: basic(publicKey, secretKey), 'x-langfuse-ingestion-version': '4', ...headers },
      parts,
      { ofSpan: langfuseAttributes, ofResource: langfuseResource },
    ),
  datadog: ({ url, api_key: apiKey, ml_app: mlApp, headers }, parts) =>
    otlpSender(
      tracesUrl(url.replace(/^https:\/\/api\./, 'https://otlp.')),
      { 'dd-api-key': apiKey, 'dd-otlp-source': 'llmobs', 'dd-ml-app': mlApp, ...headers },
      { ...parts, resource: { ...parts.resource, others: { ...parts.resource.others, ml_app: mlApp } } },
    ),
  sentry: ({ otlp_endpoint: endpoint, dsn, headers }, parts) =>
    otlpSender(tracesUrl(endpoint), { 'x-sentry-auth': `sentry sentry_key=${new URL(dsn).username}`, ...headers }, parts),
  grafana: ({ base_url: base, instance_id: instance, api_key: apiKey, headers }, parts) =>
    otlpSender(`${bare(base)}/otlp/v1/traces`, { authorization: basic(instance, apiKey), ...headers }, parts),
  newrelic: ({ license_key: key, region, headers }, parts) =>
    otlpSender(`https://otlp${region === 'eu' ? '.eu01' : ''}.nr-data.net/v1/traces`, { 'api-key': key, ...headers }, parts),
  s3: (config, parts) => {
    const put = createS3Put(config)
    const { encode } = otlpEncoding(parts)
    return {
      encode: (trace) => ({ text: tracesBody([encode(trace).text]), path: objectPath(config, trace) }),
      most: 1,
      request: ([trace = NOTHING], nowMs) => put(trace.path, trace.text, nowMs),
      test: (nowMs) => put(`${config.prefix}/connection-test.json`, bodyOf([]), nowMs),
    }
  },
  posthog: ({ endpoint, api_key: apiKey, headers }, { view }) => {
    const request = (events: string, more: Readonly<Record<string, string>>): Outgoing => ({
      url: `${bare(endpoint)}/batch/`,
      method: 'POST',
      headers: { ...json(headers), ...more },
      body: `{"api_key":${JSON.stringify(apiKey)},"batch":[${events}]}`,
      gzip: false,
    })
    return {
      encode: (trace) => ({ text: JSON.stringify(posthogEvent(trace, view)), path: '' }),
      most: BATCH_MAX,
      request: (traces) => request(traces.map(({ text }) => text).join(','), {}),
      test: () => request('', TEST_HEADER),
    }
  },
}

export const createSender = <Type extends DestinationType>(type: Type, config: DestinationConfig<Type>, parts: SenderParts): Sender =>
  SENDERS[type](config, parts)

/** Makes a sender for a receiver of OTLP over HTTP in JSON, at exactly this address. */
export const otlpSender = (
  url: string,
  headers: Readonly<Record<string, string>> | undefined,
  parts: SenderParts,
  { gzip = true, ...more }: { readonly gzip?: boolean } & Additions = {},
): Sender => ({
  ...otlpEncoding(parts, more),
  most: BATCH_MAX,
  request: (traces) => ({ url, method: 'POST', headers: json(headers), body: bodyOf(traces), gzip }),
  test: () => ({ url, method: 'POST', headers: { ...json(headers), ...TEST_HEADER }, body: bodyOf([]), gzip: false }),
})

/** Attributes that one kind of receiver reads. */
interface Additions {
  readonly ofSpan?: (span: Span, trace: RequestTrace) => Readonly<Record<string, string>>
  readonly ofResource?: (trace: RequestTrace) => Readonly<Record<string, string>>
}

const nothing = (): Readonly<Record<string, string>> => ({})

const otlpEncoding = (
  { view, resource }: SenderParts,
  { ofSpan = nothing, ofResource = nothing }: Additions = {},
): Pick<Sender, 'encode'> => ({
  encode: (trace) => ({
    text: encodeTrace(spansOf(trace, view), { ...resource, others: { ...resource.others, ...ofResource(trace) } }, (span) =>
      ofSpan(span, trace),
    ),
    path: '',
  }),
})

/** The endpoint as it was given, with the path of traces appended if it lacks that. */
export const tracesUrl = (endpoint: string): string => {
  const url = bare(endpoint)
  return url.endsWith('/v1/traces') ? url : `${url}/v1/traces`
}

const NOTHING: Encoded = { text: '', path: '' }

const bare = (url: string): string => url.replace(/\/+$/, '')

const bodyOf = (traces: readonly Encoded[]): string => tracesBody(traces.map(({ text }) => text))

const json = (headers: Readonly<Record<string, string>> = {}): Record<string, string> => ({
  ...Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value])),
  'content-type': 'application/json',
})

const basic = (user: string, password: string): string => `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`

const signed = (outgoing: Outgoing, secret: string | undefined, nowMs: number): Outgoing => {
  if (secret === undefined) return outgoing
  return { ...outgoing, headers: { ...outgoing.headers, ...signatureHeader(secret, outgoing.body, nowMs) } }
}

const observationType = (kind: Span['kind'], name: string): string => {
  if (kind === 'client') return 'generation'
  return name.startsWith('execute_tool ') ? 'tool' : 'span'
}

const langfuseAttributes = ({ kind, name, parentSpanId }: Span, { named }: RequestTrace): Readonly<Record<string, string>> => ({
  'langfuse.observation.type': observationType(kind, name),
  ...(parentSpanId === null || kind === 'server' ? { 'langfuse.trace.name': nameOf(named) ?? name } : {}),
})

const nameOf = (named: RequestTrace['named']): string | null => {
  const name = named?.['trace_name']
  return typeof name === 'string' ? name : null
}

/** The client's environment and release, in the attributes in which Langfuse reads them. */
const langfuseResource = ({ named }: RequestTrace): Readonly<Record<string, string>> => {
  const { environment, release } = named ?? {}
  return {
    ...(typeof environment === 'string'
      ? { environment, 'deployment.environment.name': environment, 'langfuse.environment': environment }
      : {}),
    ...(typeof release === 'string' ? { release, 'langfuse.release': release } : {}),
  }
}
