/** The models of this installation: the shipped catalogue, with the operator's file over it, for the providers that are enabled. */
import type { Catalogue, EndpointEntry, ModelEntry, ProviderEntry } from './catalogue-schema.ts'
import { createModels, type Model, type ModelEndpoint, type Models, type Provider } from './models.ts'

export interface OperatorEntries {
  readonly providers: Readonly<Record<string, ProviderEntry>>
  readonly models: Readonly<Record<string, ModelEntry>>
}

/** A name in the operator's file that leads nowhere. `message` is one sentence. */
export class CatalogueError extends Error {
  override readonly name = 'CatalogueError'
}

/** `variables`: what the environment holds. `builtIn`: models that need no provider's account. Throws CatalogueError. */
export const buildModels = (
  catalogue: Pick<Catalogue, 'providers' | 'models'>,
  operator: OperatorEntries,
  variables: Readonly<Record<string, string | undefined>>,
  builtIn: readonly Model[],
): Models => {
  const providers = enabledProviders(catalogue.providers, operator.providers, variables)
  const known = new Set([...Object.keys(catalogue.providers), ...Object.keys(operator.providers)])
  const models: Model[] = []
  for (const id of new Set([...Object.keys(operator.models), ...Object.keys(catalogue.models)])) {
    const own = operator.models[id] ?? {}
    for (const { provider } of own.endpoints ?? []) {
      if (!known.has(provider))
        throw new CatalogueError(`models: "${id}" names the provider "${provider}", which is not defined under providers.`)
    }
    const model = modelOf(id, { ...catalogue.models[id], ...own }, providers)
    if (model !== null) models.push(model)
  }
  models.sort((a, b) => b.created - a.created || (a.id < b.id ? -1 : 1))
  const listed = new Set(Object.values(operator.models).flatMap(({ endpoints }) => (endpoints ?? []).map(({ provider }) => provider)))
  return createModels(
    [...models, ...builtIn],
    [...providers.values()].map((provider) => ({ ...provider, anyModel: provider.anyModel && !listed.has(provider.slug) })),
  )
}

const enabledProviders = (
  catalogue: Readonly<Record<string, ProviderEntry>>,
  operator: Readonly<Record<string, ProviderEntry>>,
  variables: Readonly<Record<string, string | undefined>>,
): Map<string, Provider> => {
  const providers = new Map<string, Provider>()
  for (const slug of new Set([...Object.keys(catalogue), ...Object.keys(operator)])) {
    const own = operator[slug]
    const entry: ProviderEntry = { ...catalogue[slug], ...own }
    const variable = (name: string | undefined): string | undefined => (name === undefined ? undefined : variables[name] || undefined)
    const keys = own?.api_key === undefined ? [variable(entry.api_key_env)].filter((key) => key !== undefined) : [own.api_key].flat()
    const address = own?.base_url ?? variable(entry.base_url_env) ?? entry.base_url
    const enabled = own !== undefined || (entry.api_key_env === undefined ? variable(entry.base_url_env) !== undefined : keys.length > 0)
    if (!enabled) continue
    if (address === undefined || entry.dialects === undefined) {
      throw new CatalogueError(
        `providers: "${slug}" needs ${address === undefined ? 'a base_url' : 'dialects'}: the catalogue does not know it.`,
      )
    }
    providers.set(slug, {
      slug,
      name: entry.name ?? slug,
      dialects: entry.dialects,
      baseUrl: normalAddress(address),
      apiKeys: keys,
      // A server that the catalogue does not know lists its models nowhere.
      anyModel: entry.any_model ?? catalogue[slug] === undefined,
    })
  }
  return providers
}

/** `OLLAMA_HOST=127.0.0.1:11434` is how its users write an address: a scheme is added, and the path of its compatible API. */
const normalAddress = (address: string): string => {
  const full = /^https?:\/\//.test(address) ? address : `http://${address}`
  const url = new URL(full)
  const bare = !/^https?:\/\//.test(address) && url.pathname === '/'
  return (bare ? `${url.origin}/v1` : full).replace(/\/+$/, '')
}

const modelOf = (id: string, entry: ModelEntry, providers: ReadonlyMap<string, Provider>): Model | null => {
  const endpoints = (entry.endpoints ?? []).flatMap((endpoint) => {
    const provider = providers.get(endpoint.provider)
    return provider === undefined ? [] : [endpointOf(endpoint, provider)]
  })
  if (endpoints.length === 0) return null
  return {
    id,
    name: entry.name ?? id,
    created: entry.created ?? 0,
    contextLength: entry.context_length ?? null,
    inputModalities: entry.input_modalities ?? ['text'],
    outputModalities: entry.output_modalities ?? ['text'],
    supportedParameters: entry.supported_parameters ?? [],
    endpoints,
  }
}

const endpointOf = (entry: EndpointEntry, provider: Provider): ModelEndpoint => ({
  provider,
  upstreamModel: entry.model,
  prices: entry.prices ?? null,
  maxCompletionTokens: entry.max_completion_tokens ?? null,
})
