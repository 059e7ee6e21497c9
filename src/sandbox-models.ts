/** The sandbox in the catalogue's terms. Its models go the same way as any other's: routing, failover, prices, records. */
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
/** A second one, so that what fails once has somewhere to go. */
const SPARE = provider('sandbox-spare', 'Sandbox Spare')

/** Models that fail here fail on purpose: it is no sign of their health. */
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
    // A model that fails is not one to pick, and there are twice as many of these as there are types of error.
    ...(plays === 'error' ? { listed: false } : {}),
  }
})
