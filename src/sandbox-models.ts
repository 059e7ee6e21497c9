/** The sandbox in the catalogue's terms. Its models go the same way as any other's: routing, failover, prices, records. */
import type { Model, ModelEndpoint, Provider } from './models/models.ts'
import { SANDBOX_MODELS } from './providers/sandbox/models.ts'

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

const FREE = { prompt: 0, completion: 0 }

export const sandboxModels: readonly Model[] = SANDBOX_MODELS.map(({ id, name, contextLength, supportedParameters }) => {
  const endpoint = (by: Provider): ModelEndpoint => ({ provider: by, upstreamModel: id, prices: FREE, maxCompletionTokens: null })
  return {
    id,
    name,
    created: 0,
    contextLength,
    inputModalities: ['text'],
    outputModalities: ['text'],
    supportedParameters,
    endpoints: id === 'sandbox/flaky' ? [endpoint(SANDBOX), endpoint(SPARE)] : [endpoint(SANDBOX)],
  }
})
