/** The receivers of traces and metrics: the destinations of workspaces, and the operator's own collector. */
import { type Broadcast, createBroadcast, type OperatorWatch } from '../broadcast/broadcast.ts'
import { createDestinations, type Destinations } from '../broadcast/destinations.ts'
import { type ResourceFacts, resourceAttributes } from '../broadcast/encode-traces.ts'
import { isTraceSampled } from '../broadcast/sample-traces.ts'
import { otlpSender, tracesUrl } from '../broadcast/senders.ts'
import { post } from '../broadcast/delivery.ts'
import { createTraceQueue } from '../broadcast/trace-queue.ts'
import { OTEL_SETTINGS, type Environment, type OtelSettings, readSettings } from '../config.ts'
import { createTracing, type Tracing } from '../inference/tracing/tracing.ts'
import type { Clock } from '../lib/clock.ts'
import type { IdSource } from '../lib/id.ts'
import { createLoadCache } from '../lib/load-cache.ts'
import { repeat } from '../lib/repeat.ts'
import { createSafeFetch, type SafeFetch } from '../providers/transport/safe-fetch.ts'
import type { Database } from '../storage/database.ts'
import { createDestinationStore } from '../storage/broadcast/destination-store.ts'
import { createKeyStore } from '../storage/keys/key-store.ts'
import type { TextSeal } from '../storage/rows/seal.ts'
import { createWaitingTraceStore, type WaitingTraceStore } from '../storage/broadcast/waiting-trace-store.ts'
import type { Log } from '../telemetry/log.ts'
import type { Metrics } from '../telemetry/metrics.ts'
import { metricsBody } from '../telemetry/otlp-metrics.ts'
import { VERSION } from '../version.ts'
import type { WatchedCache } from './cache-watch.ts'
import type { Reloadable } from './reloadable.ts'

export interface Observability {
  readonly tracing: Tracing
  readonly destinations: Destinations
  readonly caches: readonly WatchedCache[]
  readonly waitingTraces: WaitingTraceStore
  /** Reads the destinations and starts to send metrics. The returned function stops that after everything that waits was sent. */
  start(): Promise<() => Promise<void>>
}

/** The number of key names that are cached. */
const NAMES_MAX = 10_000

/** Throws SettingError. */
export const composeObservability = (parts: {
  readonly database: Database
  readonly seal: TextSeal
  readonly clock: Clock
  /** By it a node holds traces that wait, which no other node takes then. */
  readonly sharedClock: Clock
  readonly ids: IdSource
  readonly log: Log
  readonly metrics: Metrics
  readonly reloadable: Reloadable
  readonly env: Environment
  readonly onError: (thrown: unknown, doing: string) => void
}): Observability => {
  const { database, seal, clock, sharedClock, ids, log, metrics, reloadable, env, onError } = parts
  const otel = readSettings(OTEL_SETTINGS, {}, env)
  const resource = resourceOf(otel)
  const store = createDestinationStore(database, seal)
  const keyStore = createKeyStore(database)
  const waiting = createWaitingTraceStore(database, seal)
  const hosts = reloadable.built(({ observability }) => new Set(observability.trusted_hosts.map((host) => host.toLowerCase())))
  const fetch = reloadable.built(({ observability }) =>
    createSafeFetch({ clock, trustedHosts: observability.trusted_hosts, trustedBy: 'observability.trusted_hosts' }),
  )
  const outcomes = metrics.counter('patchbay_broadcast_total', 'Traces by destination and outcome; `retried` counts requests.', [
    'destination',
    'outcome',
  ])
  const leftOut = metrics.counter('patchbay_broadcast_left_out_total', 'Contents of traces, or traces, for which there was no room.', [
    'what',
  ])
  const broadcast: Broadcast = createBroadcast({
    store,
    clock,
    resource,
    fetch,
    operator: operatorWatch(otel, { resource, clock, log }),
    queue: createTraceQueue({ store: waiting, clock: sharedClock, ids, onError }),
    count: (destination, outcome, traces) => outcomes.add([destination, outcome], traces),
    onError,
  })
  metrics.gauge('patchbay_broadcast_queue_length', 'Traces that wait for their destination.', () => broadcast.queued)
  metrics.gauge('patchbay_broadcast_oldest_seconds', 'How long the oldest trace has waited.', () => broadcast.oldestMs / 1000)
  const names = createLoadCache<string, string>(NAMES_MAX, clock)
  const tracing = createTracing({
    broadcast,
    keyName: async (hash) => names.get(hash, async () => (await keyStore.get(hash))?.name ?? null),
    trustedHosts: hosts,
    clock,
    onLeftOut: (what) => leftOut.add([what]),
    onError,
  })

  return {
    tracing,
    waitingTraces: waiting,
    destinations: createDestinations({
      store,
      keyStore,
      clock,
      ids,
      healthOf: broadcast.healthOf,
      tryOut: broadcast.tryOut,
      changed: broadcast.refreshCache,
    }),
    caches: [
      { name: 'the names of keys', refresh: names.refresh },
      { name: 'destinations of traces', refresh: broadcast.refreshCache },
    ],
    async start() {
      await broadcast.refreshCache()
      // On SQLite, the process that held these traces is gone once another has opened the file.
      if (database.server === null) await waiting.release(null)
      broadcast.start()
      const stopMetrics = exportMetrics(otel, { resource, clock, metrics, log })
      return async () => {
        await stopMetrics()
        await tracing.flush()
        await broadcast.close()
      }
    },
  }
}

const resourceOf = ({ serviceName, resourceAttributes: others }: OtelSettings): ResourceFacts => ({
  serviceName: serviceName ?? others['service.name'] ?? 'patchbay',
  serviceVersion: VERSION,
  others,
})

/** The operator configured this address, so any address is allowed. */
const fetchTo = (url: string, clock: Clock): SafeFetch => createSafeFetch({ clock, trustedHosts: [new URL(url).host], trustedBy: null })

const operatorWatch = (
  otel: OtelSettings,
  { resource, clock, log }: { resource: ResourceFacts; clock: Clock; log: Log },
): OperatorWatch | null => {
  const url = otel.tracesEndpoint ?? (otel.endpoint === null ? null : tracesUrl(otel.endpoint))
  if (otel.disabled || otel.tracesExporter === 'none' || url === null) return null
  const view = { content: false, cost: true, identity: true, requestContext: true }
  const headers = { ...otel.headers, ...otel.tracesHeaders }
  return {
    sender: otlpSender(url, headers, { view, resource }, { gzip: otel.compression === 'gzip' }),
    fetch: fetchTo(url, clock),
    timeoutMs: otel.tracesTimeoutMs ?? otel.timeoutMs,
    samples: (trace) => isTraceSampled(trace, otel.sampler, otel.samplerArg),
    onFailure: (reason) => log.warn({ reason }, 'the collector does not take the traces'),
  }
}

/** The returned function stops the export, after a last one. */
const exportMetrics = (
  otel: OtelSettings,
  { resource, clock, metrics, log }: { resource: ResourceFacts; clock: Clock; metrics: Metrics; log: Log },
): (() => Promise<void>) => {
  const url = otel.metricsEndpoint ?? (otel.endpoint === null ? null : `${otel.endpoint.replace(/\/+$/, '')}/v1/metrics`)
  if (otel.disabled || otel.metricsExporter === 'none' || url === null) return async () => {}
  const fetch = fetchTo(url, clock)
  const startedMs = clock.now()
  const push = async (): Promise<void> => {
    const about = { resource: resourceAttributes(resource), version: VERSION, startedMs, nowMs: clock.now() }
    const { status } = await post(
      {
        url,
        method: 'POST',
        headers: { ...otel.headers, ...otel.metricsHeaders, 'content-type': 'application/json' },
        body: metricsBody(metrics.families(), about),
        gzip: otel.compression === 'gzip',
      },
      fetch,
      otel.metricsTimeoutMs ?? otel.timeoutMs,
    )
    if (status >= 300) log.warn({ status }, 'the collector does not take the metrics')
  }
  const onError = (error: unknown): void => log.warn({ error }, 'the metrics could not be exported')
  const stop = repeat(clock, otel.metricIntervalMs, push, onError)
  return async () => {
    stop()
    await push().catch(onError)
  }
}
