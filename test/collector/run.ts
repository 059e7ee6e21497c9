/**
 * `npm run test:collector`: builds the receiver of the OpenTelemetry collector, has a service tell it traces and metrics, and
 * checks what the collector understood of them. It needs Go, and its module proxy the first time.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Pinned: the receiver as it was when this was written. */
const MODULES = ['receiver/otlpreceiver', 'component/componenttest']
const VERSION = 'v0.160.0'

const root = mkdtempSync(join(tmpdir(), 'patchbay-collector-'))
const children: ChildProcess[] = []

interface Span {
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId?: string
  readonly name: string
  readonly startTimeUnixNano: string
  readonly attributes?: readonly { readonly key: string; readonly value: Readonly<Record<string, unknown>> }[]
}

const main = async (): Promise<readonly string[]> => {
  const port = await freePort()
  const collector = start(build(), [`127.0.0.1:${port}`], {})
  await until(() => collector.said().includes('ready'), 'the collector')
  const config = join(root, 'patchbay.yaml')
  writeFileSync(config, '{}')
  const service = start(
    join(import.meta.dirname, '../../bin/patchbay'),
    ['serve', '--port', '0', '--data-dir', join(root, 'data'), '--config', config],
    {
      OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}`,
      OTEL_EXPORTER_OTLP_COMPRESSION: 'gzip',
      OTEL_METRIC_EXPORT_INTERVAL: '500',
      OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=test',
    },
  )
  await until(() => service.said().includes('inference key'), 'the service')
  const url = /ready (http:\S+)/.exec(service.said())?.[1] ?? ''
  const key = /^inference key (\S+)$/m.exec(service.said())?.[1] ?? ''
  const ask = async (body: object): Promise<void> => {
    const answer = await fetch(`${url}/api/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', traceparent: `00-${TRACE}-00f067aa0ba902b7-01` },
      body: JSON.stringify({ messages: [{ role: 'user', content: 'Hi' }], ...body }),
    })
    await answer.text()
  }
  await ask({
    model: 'sandbox/agent',
    tools: [{ type: 'service:datetime' }],
    sandbox: { script: [{ call: { name: 'service_datetime', arguments: {} } }, { text: 'Noon.' }] },
    trace: { trace_name: 'Root', span_name: 'step', count: 3, share: 0.5, on: true, odd: '\ud83d' },
  })
  await ask({ model: 'sandbox/error/server' })
  const lines = (): readonly object[] =>
    collector
      .said()
      .split('\n')
      .filter((line) => line.startsWith('{'))
      .map((line) => JSON.parse(line) as object)
  const spans = (): readonly Span[] => lines().flatMap((line) => all(line, ['resourceSpans', 'scopeSpans', 'spans'])) as readonly Span[]
  const metrics = (): readonly string[] => {
    const found = lines().flatMap((line) => all(line, ['resourceMetrics', 'scopeMetrics', 'metrics'])) as readonly {
      readonly name: string
    }[]
    return found.map(({ name }) => name)
  }
  await until(() => new Set(spans().map(({ name }) => name)).has('chat sandbox/error/server'), 'the traces')
  await until(() => metrics().includes('patchbay_generation_seconds'), 'the metrics')
  return [
    ...faultsIn(spans()),
    ...['patchbay_generations_total', 'patchbay_running_generations'].filter((name) => !metrics().includes(name)),
  ]
}

const TRACE = '0af7651916cd43dd8448eb211c80319c'

const faultsIn = (spans: readonly Span[]): readonly string[] => {
  const byId = new Map(spans.map((span) => [span.spanId, span]))
  const tool = spans.find(({ name }) => name === 'execute_tool datetime')
  const [generation, step] = [byId.get(tool?.parentSpanId ?? ''), spans.find(({ name }) => name === 'step')]
  const expected: readonly [string, boolean][] = [
    [
      'ids of traces are 32 hex digits, those of spans 16',
      spans.every(({ traceId, spanId }) => traceId === TRACE && /^[0-9a-f]{16}$/.test(spanId)),
    ],
    [
      'instants are those of today',
      spans.every(({ startTimeUnixNano }) => Math.abs(Number(startTimeUnixNano) / 1e6 - Date.now()) < 3_600_000),
    ],
    ['the tool is below the generation', generation?.name === 'chat sandbox/agent'],
    ['the generation is below the span that the client named', generation?.parentSpanId === step?.spanId],
    ['that one is below the request', byId.get(step?.parentSpanId ?? '')?.name === 'Root'],
    ['the request is below the span of the client', byId.get(step?.parentSpanId ?? '')?.parentSpanId === '00f067aa0ba902b7'],
    ['whole numbers came as integers', typesOf(generation).get('gen_ai.usage.input_tokens') === 'intValue'],
    ['scalars came as they were', ['count intValue', 'share doubleValue', 'on boolValue'].every(isMetadata(typesOf(generation)))],
  ]
  return expected.filter(([, holds]) => !holds).map(([what]) => what)
}

const typesOf = (span: Span | undefined): ReadonlyMap<string, string> =>
  new Map((span?.attributes ?? []).map(({ key, value }) => [key, Object.keys(value)[0] ?? '']))

const isMetadata =
  (types: ReadonlyMap<string, string>) =>
  (wanted: string): boolean => {
    const [name, type] = wanted.split(' ')
    return types.get(`trace.metadata.${name}`) === type
  }

/** All that stands behind these lists of lists. */
const all = (from: object, [first, ...rest]: readonly string[]): readonly object[] => {
  const found = (from as Readonly<Record<string, readonly object[] | undefined>>)[first ?? ''] ?? []
  return rest.length === 0 ? found : found.flatMap((one) => all(one, rest))
}

const build = (): string => {
  const directory = join(root, 'collector')
  cpSync(join(import.meta.dirname, 'main.go'), join(directory, 'main.go'))
  const go = (...args: readonly string[]): void => {
    const { status, stderr, error } = spawnSync('go', args, { cwd: directory, encoding: 'utf8' })
    if (status !== 0) throw new Error(`go ${args[0]} failed: ${error?.message ?? stderr.slice(-1000)}`)
  }
  go('mod', 'init', 'collector')
  go('get', ...MODULES.map((name) => `go.opentelemetry.io/collector/${name}@${VERSION}`))
  go('build', '-o', 'collector', '.')
  return join(directory, 'collector')
}

const start = (program: string, args: readonly string[], env: Readonly<Record<string, string>>): { said(): string } => {
  const { PATH = '', HOME = '' } = process.env
  const child = spawn(program, args, { cwd: root, env: { PATH, HOME, ...env }, stdio: ['ignore', 'pipe', 'ignore'] })
  children.push(child)
  let said = ''
  child.stdout.setEncoding('utf8').on('data', (piece: string) => (said += piece))
  return { said: () => said }
}

const ended = (child: ChildProcess): Promise<void> =>
  new Promise((resolve) => {
    if (child.exitCode !== null || child.signalCode !== null) return resolve()
    child.once('exit', () => resolve())
    child.kill('SIGTERM')
  })

const freePort = (): Promise<number> =>
  new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const address = server.address()
      server.close(() => resolve(typeof address === 'object' && address !== null ? address.port : 0))
    })
  })

const until = async (reached: () => boolean, what: string): Promise<void> => {
  const endMs = performance.now() + 30_000
  while (!reached()) {
    if (performance.now() > endMs) throw new Error(`Waited for ${what} in vain.`)
    await new Promise((resolve) => void setTimeout(resolve, 50))
  }
}

try {
  const faults = await main()
  for (const fault of faults) process.stdout.write(`not as it should be: ${fault}\n`)
  process.stdout.write(faults.length === 0 ? 'The collector understood every trace and metric.\n' : '')
  process.exitCode = faults.length === 0 ? 0 : 1
} finally {
  // A service whose directory is gone before it has ended waits for it.
  await Promise.all(children.map(ended))
  rmSync(root, { recursive: true, force: true })
}
