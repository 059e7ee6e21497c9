/** The state of the providers: what the requests of all processes saw in the last day, and what this process knows now. */
import { z } from 'zod'

import { providerHealth } from '../../contract/provider-health.ts'
import { isoTimestamp, type Clock } from '../../lib/clock.ts'
import type { Models } from '../../models/models.ts'
import type { Model, ModelEndpoint, Provider } from '../../models/model.ts'
import { endpointKey } from '../../routing/candidate.ts'
import type { Credentials } from '../../routing/credentials.ts'
import type { EndpointHealth } from '../../routing/endpoint-health.ts'
import type { HealthView } from '../../routing/health.ts'
import { type EndpointHealthStore, type EndpointHistory, type ModelLatency, slotsUntil } from '../../storage/nodes/endpoint-health.ts'
import { jsonResponse } from '../response/json-response.ts'
import type { PacedReads } from '../paced-reads.ts'
import { reachOf, type Route } from '../route.ts'
import { failsLately } from './fails-lately.ts'

export interface ProviderHealthParts {
  readonly endpointHealth: Pick<EndpointHealthStore, 'read' | 'latencies'>
  readonly models: Pick<Models, 'list' | 'providers'>
  readonly health: HealthView
  readonly credentials: Pick<Credentials, 'states'>
  readonly reads: PacedReads
  readonly clock: Clock
  readonly generations: { readonly flush: () => Promise<void> }
}

type Resource = z.output<typeof providerHealth>
type EndpointResource = Resource['endpoints'][number]

export const providersHealth = (parts: ProviderHealthParts): Route => ({
  method: 'GET',
  path: '/providers/health',
  operation: 'getProvidersHealth',
  summary: 'Read the health of each provider and endpoint',
  tag: 'Models',
  policy: 'management',
  surface: 'management',
  answers: { 200: { description: 'Every provider of the configuration.', schema: z.object({ data: z.array(providerHealth) }) } },
  errors: [503],
  async handle(request) {
    const { endpointHealth, models, reads, clock } = parts
    const nowMs = clock.now()
    await parts.generations.flush()
    const [histories, latencies] = await reads.run(request, 'getProvidersHealth', async () => [
      await endpointHealth.read(nowMs),
      await endpointHealth.latencies(nowMs),
    ])
    const served = models.list().flatMap((model) => model.endpoints.map((endpoint) => ({ model, endpoint })))
    const bySlug = Map.groupBy(served, ({ endpoint }) => endpoint.provider.slug)
    const data = models.providers().map((provider) => {
      const endpoints = (bySlug.get(provider.slug) ?? []).map((one) => endpointResource(one, { histories, latencies, nowMs }, parts))
      return providerResource(provider, endpoints, parts)
    })
    return jsonResponse({ data: reachOf(request).isOperator ? data : data.map(forTenant) })
  },
})

/** A provider's sentence may quote the request of another workspace, and the credentials are the operator's. */
const forTenant = (provider: Resource): Resource => ({
  ...withoutSentence(provider),
  credentials: [],
  endpoints: provider.endpoints.map(withoutSentence),
})

const withoutSentence = <Of extends Pick<Resource, 'last_error'>>(of: Of): Of => ({
  ...of,
  last_error: of.last_error === null ? null : { ...of.last_error, message: null },
})

interface Seen {
  readonly histories: ReadonlyMap<string, EndpointHistory>
  readonly latencies: ReadonlyMap<string, ModelLatency>
  readonly nowMs: number
}

const endpointResource = (
  { model, endpoint }: { readonly model: Model; readonly endpoint: ModelEndpoint },
  { histories, latencies, nowMs }: Seen,
  { health }: ProviderHealthParts,
): EndpointResource => {
  const key = endpointKey(model, endpoint)
  const history = histories.get(key)
  const now = health.of(key)
  const strip = slotsUntil(nowMs).map((slot) => ({ at: `${slot}:00.000Z`, ok: 0, failed: 0, ...history?.slots.get(slot) }))
  const wasAsked = strip.some(({ ok, failed }) => ok + failed > 0)
  return {
    model: model.id,
    tag: endpoint.tag,
    status: statusOf(now, failsLately(history, strip, nowMs), wasAsked),
    uptime: uptimeOf(strip),
    ttft: latencies.get(`${model.id} ${endpoint.provider.slug}`) ?? { p50: null, p95: null },
    strip,
    breaker: {
      state: now.breaker,
      until: now.breaker === 'open' && now.retryAfterSeconds !== null ? isoTimestamp(nowMs + now.retryAfterSeconds * 1000) : null,
    },
    last_error: history?.lastError ?? null,
  }
}

const statusOf = (now: EndpointHealth, failsNow: boolean, wasAsked: boolean): Resource['status'] => {
  if (now.breaker === 'open') return 'down'
  if (failsNow || now.troubled || now.cooling || now.breaker === 'half-open') return 'degraded'
  return wasAsked ? 'ok' : 'unused'
}

const providerResource = (provider: Provider, endpoints: readonly EndpointResource[], { credentials }: ProviderHealthParts): Resource => {
  const strip = (endpoints[0]?.strip ?? []).map(({ at }, index) => ({
    at,
    ok: sum(endpoints, ({ strip: own }) => own[index]?.ok ?? 0),
    failed: sum(endpoints, ({ strip: own }) => own[index]?.failed ?? 0),
  }))
  const errors = endpoints.flatMap(({ last_error }) => last_error ?? []).toSorted((a, b) => (a.at < b.at ? 1 : -1))
  const breakers = endpoints.map(({ breaker }) => breaker)
  return {
    slug: provider.slug,
    name: provider.name,
    status: worst(endpoints.map(({ status }) => status)),
    uptime: uptimeOf(strip),
    strip,
    breaker: breakers.find(({ state }) => state === 'open') ??
      breakers.find(({ state }) => state === 'half-open') ?? { state: 'closed', until: null },
    last_error: errors[0] ?? null,
    credentials: credentials
      .states(provider)
      .map(({ label, refusedAt, restsUntil }) => ({ label, refused_at: refusedAt, rests_until: restsUntil })),
    endpoints: [...endpoints],
  }
}

/** A provider is down if everything that was used of it is down, and degraded if some of it fails. */
const worst = (statuses: readonly Resource['status'][]): Resource['status'] => {
  const used = statuses.filter((status) => status !== 'unused')
  if (used.length === 0) return 'unused'
  if (used.every((status) => status === 'down')) return 'down'
  return used.every((status) => status === 'ok') ? 'ok' : 'degraded'
}

const sum = (endpoints: readonly EndpointResource[], count: (endpoint: EndpointResource) => number): number =>
  endpoints.reduce((all, endpoint) => all + count(endpoint), 0)

const uptimeOf = (strip: Resource['strip']): number | null => {
  const ok = strip.reduce((all, slot) => all + slot.ok, 0)
  const all = ok + strip.reduce((failed, slot) => failed + slot.failed, 0)
  return all === 0 ? null : Math.round((ok / all) * 10_000) / 100
}
