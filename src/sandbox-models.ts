/** The sandbox as entries of the catalogue. Its models are treated like any others: routing, failover, prices, records. */
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
/** A second provider, so that failover has an endpoint to go to. */
const SPARE = provider('sandbox-spare', 'Sandbox Spare')

/** Models of these providers fail on purpose, which says nothing about their health. */
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
    // Models that fail are not meant to be chosen, and there are two of them for each type of error.
    ...(plays === 'error' ? { listed: false } : {}),
  }
})
