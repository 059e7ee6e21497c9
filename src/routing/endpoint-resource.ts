/**
 * The endpoints of a model as the API lists them (docs/contract/models.md#endpoints). Values that are neither known nor measured are null.
 */
import type { ProviderDialect } from '../canonical/provider-dialects.ts'
import type { EndpointResource, ModelEndpoints } from '../contract/model.ts'
import { modelResource, pricingOf, pricingSource } from '../models/model-resource.ts'
import type { Models } from '../models/models.ts'
import { endpointKey } from './candidate.ts'
import type { HealthView } from './health.ts'
import type { Percentiles } from './sliding-histogram.ts'
import type { EndpointHealth } from './endpoint-health.ts'
import type { Model, ModelEndpoint } from '../models/model.ts'

export const endpointsResource = (model: Model, health: HealthView, nowMs: number): ModelEndpoints => {
  const { id, name, created, architecture } = modelResource(model)
  return {
    id,
    name,
    created,
    description: '',
    architecture,
    endpoints: model.endpoints.map((endpoint) => endpointResource(model, endpoint, health, nowMs)),
  }
}

/** Every endpoint that is known to retain nothing of what it is sent. */
export const zdrEndpoints = (models: Models, health: HealthView, nowMs: number): EndpointResource[] =>
  models
    .list()
    .flatMap((model) =>
      model.endpoints
        .filter(({ dataPolicy }) => dataPolicy.retains === false)
        .map((endpoint) => endpointResource(model, endpoint, health, nowMs)),
    )

const endpointResource = (model: Model, endpoint: ModelEndpoint, health: HealthView, nowMs: number): EndpointResource => {
  const seen = health.of(endpointKey(model, endpoint))
  const { uptime, last30m } = seen
  const hasToolChoice = endpoint.supportedParameters.includes('tool_choice')
  return {
    name: `${endpoint.provider.name} | ${model.id}`,
    model_id: model.id,
    model_name: model.name,
    provider_name: endpoint.provider.name,
    tag: endpoint.tag,
    context_length: endpoint.contextLength ?? model.contextLength ?? 0,
    max_completion_tokens: endpoint.maxCompletionTokens,
    max_prompt_tokens: null,
    pricing: pricingOf(endpoint.prices),
    pricing_source: pricingSource(endpoint.pricesFrom, nowMs),
    quantization: endpoint.quantization,
    service_tier: endpoint.serviceTier,
    data_policy: { training: endpoint.dataPolicy.training, retains: endpoint.dataPolicy.retains },
    supported_parameters: [...endpoint.supportedParameters],
    supports_tool_choice: { auto: hasToolChoice, function: hasToolChoice, none: hasToolChoice, required: hasToolChoice },
    supports_implicit_caching: cachesByItself(endpoint),
    supports_voice_cloning: false,
    supports_diarization: false,
    native_tools: nativeTools(endpoint),
    status: statusOf(seen),
    uptime_last_5m: percentage(uptime.last5m),
    uptime_last_30m: percentage(uptime.last30m),
    uptime_last_1d: percentage(uptime.last1d),
    latency_last_30m: rounded(last30m.latencyMs),
    throughput_last_30m: rounded(last30m.tokensPerSecond),
  }
}

/** True if caching has a price of its own and no dialect of the provider has marks for what to cache. */
const cachesByItself = ({ prices, provider: { dialects } }: ModelEndpoint): boolean =>
  prices?.cache_read !== undefined && !dialects.some((dialect) => dialect === 'anthropic' || dialect === 'bedrock')

/** The names of the searches that providers run themselves. */
const OWN_SEARCH: Readonly<Partial<Record<ProviderDialect, string>>> = {
  'openai-responses': 'web_search',
  anthropic: 'web_search_20250305',
  google: 'google_search',
}

/** Searches of a provider are known by their price. */
const nativeTools = ({ prices, provider: { dialects } }: ModelEndpoint): EndpointResource['native_tools'] => {
  const type =
    prices?.web_search === undefined ? undefined : dialects.map((dialect) => OWN_SEARCH[dialect]).find((name) => name !== undefined)
  return type === undefined ? {} : { 'openrouter:web_search': { type } }
}

const statusOf = ({ breaker, troubled, cooling }: EndpointHealth): number => {
  if (breaker === 'open') return -2
  return troubled || cooling || breaker === 'half-open' ? -1 : 0
}

const percentage = (share: number | null): number | null => (share === null ? null : Math.round(share * 10_000) / 100)

const rounded = (percentiles: Percentiles | null): Percentiles | null => {
  if (percentiles === null) return null
  const tenths = (value: number): number => Math.round(value * 10) / 10
  const { p50, p75, p90, p99 } = percentiles
  return { p50: tenths(p50), p75: tenths(p75), p90: tenths(p90), p99: tenths(p99) }
}
