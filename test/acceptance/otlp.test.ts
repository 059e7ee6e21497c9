/** The operator's own collector, configured with OpenTelemetry's standard variables. */
import { describe, expect, test } from 'bun:test'

import { infer } from '../support/calls.ts'
import { type StartedService, until, useServices } from '../support/started-service.ts'
import { type Delivered, startTraceReceiver, type TraceReceiver } from '../support/trace-receiver.ts'

const services = useServices()

const TRACES = ['0af7651916cd43dd8448eb211c80319c', '1bf7651916cd43dd8448eb211c80319c'] as const
const [SAMPLED, UNSAMPLED] = TRACES

/** Sends one request of each kind: without a parent, with a sampled parent, with one that is not sampled. Ends when all traces are sent. */
const askAndStop = async (env: Readonly<Record<string, string>>): Promise<void> => {
  const service = await services.start({ env })
  await askThree(service)
  expect(await service.stop()).toBe(0)
}

const askThree = async (service: StartedService): Promise<void> => {
  const body = { model: 'sandbox/echo', messages: [{ role: 'user', content: 'SAID-MARKER' }] }
  for (const traceparent of [null, `00-${SAMPLED}-b7ad6b7169203331-01`, `00-${UNSAMPLED}-b7ad6b7169203331-00`]) {
    expect((await infer(service, body, traceparent === null ? {} : { headers: { traceparent } })).status).toBe(200)
  }
}

const pathsOf = ({ received }: TraceReceiver): readonly string[] => [...new Set(received.map(({ path }) => path))].toSorted()
const tracesOf = (receiver: TraceReceiver): ReadonlySet<string> => new Set(receiver.spans().map(({ traceId }) => traceId))
const isMetrics = ({ text }: Delivered): boolean => text.includes('resourceMetrics')

describe('one address for both', () => {
  test("traces and metrics are sent below it, compressed, with its headers and the service's names, without prompts or answers", async () => {
    const receiver = await startTraceReceiver()
    await askAndStop({
      OTEL_EXPORTER_OTLP_ENDPOINT: `${receiver.url}/base/`,
      OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Bearer%20a%3Db, x-one=1',
      OTEL_EXPORTER_OTLP_COMPRESSION: 'gzip',
      OTEL_SERVICE_NAME: 'gate',
      OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=test,service.name=hidden',
    })
    expect(pathsOf(receiver)).toEqual(['/base/v1/metrics', '/base/v1/traces'])
    for (const { headers, text } of receiver.received) {
      expect(headers).toMatchObject({
        authorization: 'Bearer a=b',
        'x-one': '1',
        'content-encoding': 'gzip',
        'content-type': 'application/json',
      })
      const [resource] = Object.values(
        JSON.parse(text) as Record<string, readonly { readonly resource: { readonly attributes: readonly object[] } }[]>,
      ).flat()
      expect(resource?.resource.attributes).toEqual(
        expect.arrayContaining([
          { key: 'service.name', value: { stringValue: 'gate' } },
          { key: 'deployment.environment.name', value: { stringValue: 'test' } },
        ]),
      )
      expect(text).not.toContain('SAID-MARKER')
    }
    // Without a sampler setting, the parent decides, and a request without a parent is sampled.
    expect(tracesOf(receiver).size).toBe(2)
    expect([...tracesOf(receiver)]).toContain(SAMPLED)
    expect([...tracesOf(receiver)]).not.toContain(UNSAMPLED)
  })

  test.each([{ OTEL_EXPORTER_OTLP_TIMEOUT: '100' }, { OTEL_EXPORTER_OTLP_TIMEOUT: '600000', OTEL_EXPORTER_OTLP_TRACES_TIMEOUT: '100' }])(
    'a collector that does not answer in time is abandoned and retried: %j',
    async (env) => {
      const receiver = await startTraceReceiver()
      let isAway = true
      receiver.answer((response, request) => {
        if (!isAway || isMetrics(request)) response.end('{}')
      })
      const service = await services.start({ env: { OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url, ...env } })
      await askThree(service)
      const reported = (): number => receiver.received.filter((one) => !isMetrics(one)).length
      await until(() => reported() > 1, 'a second try')
      isAway = false
      const before = reported()
      await until(() => reported() > before, 'a try that is answered')
      expect(await service.stop()).toBe(0)
    },
  )
})

describe('an address for each', () => {
  test('each is sent to its own address unchanged, with the headers of both, and the sampler decides', async () => {
    const [receiver, other] = [await startTraceReceiver(), await startTraceReceiver()]
    await askAndStop({
      OTEL_EXPORTER_OTLP_ENDPOINT: other.url,
      OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `${receiver.url}/t?tenant=1`,
      OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: `${receiver.url}/m`,
      OTEL_EXPORTER_OTLP_HEADERS: 'x-both=1,x-kind=any',
      OTEL_EXPORTER_OTLP_TRACES_HEADERS: 'x-kind=traces',
      OTEL_EXPORTER_OTLP_METRICS_HEADERS: 'x-kind=metrics',
      OTEL_TRACES_SAMPLER: 'parentbased_traceidratio',
      OTEL_TRACES_SAMPLER_ARG: '0',
    })
    expect(other.received).toEqual([])
    expect(pathsOf(receiver)).toEqual(['/m', '/t?tenant=1'])
    for (const one of receiver.received)
      expect(one.headers).toMatchObject({ 'x-both': '1', 'x-kind': isMetrics(one) ? 'metrics' : 'traces' })
    expect([...tracesOf(receiver)]).toEqual([SAMPLED])
  })

  test('one of them may be off', async () => {
    const receiver = await startTraceReceiver()
    await askAndStop({ OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url, OTEL_TRACES_EXPORTER: 'none' })
    expect(pathsOf(receiver)).toEqual(['/v1/metrics'])
  })
})

test('nothing is exported if OTEL_SDK_DISABLED is true', async () => {
  const receiver = await startTraceReceiver()
  await askAndStop({ OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url, OTEL_SDK_DISABLED: 'true' })
  expect(receiver.received).toEqual([])
})

test.each([
  ['OTEL_TRACES_SAMPLER', 'sometimes'],
  ['OTEL_TRACES_SAMPLER_ARG', '2'],
  ['OTEL_EXPORTER_OTLP_TIMEOUT', 'soon'],
  ['OTEL_EXPORTER_OTLP_METRICS_TIMEOUT', '0'],
  ['OTEL_EXPORTER_OTLP_ENDPOINT', 'collector'],
  ['OTEL_EXPORTER_OTLP_PROTOCOL', 'grpc'],
])('exit 2 with a message that names %s=%s', async (name, value) => {
  const ended = await services.run(['serve', '--port', '0', '--data-dir', services.directory()], { [name]: value })
  expect([ended.code, ended.stderr]).toEqual([2, expect.stringContaining(name)])
})
