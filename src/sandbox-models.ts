/** The sandbox as providers and models of the catalogue. Its models are treated like any others: routing, failover, prices, records. */
import { plainEndpoint } from './models/models.ts'
import { SANDBOX_MODELS } from './providers/sandbox/models.ts'
import type { Model, ModelEndpoint, Provider } from './models/model.ts'

const provider = (slug: string, name: string): Provider => ({
  slug,
  name,
  dialects: ['sandbox'],
  baseUrl: 'sandbox:',
  apiKeys: [],
  anyModel: false,
})

const SANDBOX = provider('sandbox', 'Sandbox')
/** A second provider, so that a request that fails once has a fallback. */
const SPARE = provider('sandbox-spare', 'Sandbox Spare')

/** Models that fail here do so on purpose, so failures say nothing about their health. */
export const SANDBOX_PROVIDERS: ReadonlySet<string> = new Set([SANDBOX.slug, SPARE.slug])

const FREE = { prompt: 0, completion: 0 }

export const sandboxModels: readonly Model[] = SANDBOX_MODELS.map(({ id, name, contextLength, supportedParameters, plays }) => {
  const endpoint = (by: Provider): ModelEndpoint =>
    plainEndpoint(by, id, {
      prices: FREE,
      contextLength,
      dataPolicy: { training: false, retains: false },
      distillable: true,
      supportedParameters,
    })
  return {
    id,
    name,
    created: 0,
    contextLength,
    inputModalities: ['text'],
    outputModalities: ['text'],
    supportedParameters,
    endpoints: id === 'sandbox/flaky' ? [endpoint(SANDBOX), endpoint(SPARE)] : [endpoint(SANDBOX)],
    origin: 'service',
    // Nobody chooses a model that only fails, and there are two of these for each type of error.
    ...(plays === 'error' ? { listed: false } : {}),
  }
})
