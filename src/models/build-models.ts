/**
 * The models of this installation, for the enabled providers: the shipped catalogue, overridden by imported prices, and both overridden by
 * the operator's file.
 */
import { nearestHint } from '../lib/text/nearest-name.ts'
import { layerImports, type CatalogueImport, type PriceSource } from './catalogue-imports.ts'
import type { Catalogue, EndpointEntry, ModelEntry, ProviderEntry } from './catalogue-schema.ts'
import { createModels, plainEndpoint, type DormantProvider, type Models } from './models.ts'
import { pricesAt } from './regional-prices.ts'
import type { DataPolicy, Model, ModelEndpoint, Provider } from './model.ts'

export interface OperatorEntries {
  readonly providers: Readonly<Record<string, ProviderEntry>>
  readonly models: Readonly<Record<string, ModelEntry>>
}

/** The operator's file refers to something that does not exist, or cannot be used. `message` is one sentence. */
export class CatalogueError extends Error {
  override readonly name = 'CatalogueError'

  /** True if the fault is in the environment, and in no file. */
  readonly isOfVariable: boolean

  constructor(message: string, isOfVariable = false) {
    super(message)
    this.isOfVariable = isOfVariable
  }
}

/** `variables`: the environment. `builtIn`: models that need no account at a provider. Throws CatalogueError. */
export const buildModels = (
  catalogue: Pick<Catalogue, 'as_of' | 'providers' | 'models'>,
  operator: OperatorEntries,
  variables: Readonly<Record<string, string | undefined>>,
  builtIn: readonly Model[],
  imports: readonly CatalogueImport[] = [],
): Models => {
  const layered = layerImports(catalogue.models, imports)
  const listed = new Set(Object.values(operator.models).flatMap(({ endpoints }) => (endpoints ?? []).map(({ provider }) => provider)))
  const providers = enabledProviders(catalogue.providers, operator.providers, variables, listed)
  const known = new Set([...Object.keys(catalogue.providers), ...Object.keys(operator.providers)])
  const models: Model[] = []
  const dormant = new Map<string, readonly string[]>()
  for (const id of new Set([...Object.keys(operator.models), ...Object.keys(layered.models)])) {
    const own = operator.models[id] ?? {}
    for (const { provider } of own.endpoints ?? []) {
      if (!known.has(provider))
        throw new CatalogueError(
          `models: "${id}" names the provider "${provider}", which is not defined under providers.${nearestHint([...known], provider)}`,
        )
    }
    if (own.endpoints === undefined && layered.models[id] === undefined)
      throw new CatalogueError(
        `models: "${id}" needs endpoints: the catalogue does not know it.${nearestHint(Object.keys(layered.models), id)}`,
      )
    const entry = { ...layered.models[id], ...own }
    const origin = operator.models[id] !== undefined ? 'operator' : layered.added.has(id) ? 'import' : undefined
    const sourceOf = (endpoint: EndpointEntry): PriceSource =>
      own.endpoints === undefined ? (layered.sourceOf(endpoint) ?? { from: 'catalogue', asOf: catalogue.as_of }) : OPERATORS
    const model = modelOf(id, entry, providers, origin, sourceOf)
    if (model === null) dormant.set(id, enablingVariables(entry, catalogue.providers))
    else models.push(model)
  }
  models.sort((a, b) => b.created - a.created || (a.id < b.id ? -1 : 1))
  const dormantProviders = new Map(
    Object.entries(catalogue.providers).flatMap(([slug, entry]): [string, DormantProvider][] => {
      const variable = enablingVariable(entry)
      return providers.has(slug) || variable === undefined ? [] : [[slug, { variable, anyModel: entry.any_model === true }]]
    }),
  )
  return createModels([...models, ...builtIn], [...providers.values()], dormant, dormantProviders)
}

const OPERATORS: PriceSource = { from: 'operator', asOf: null }

/** The variables of which the operator must set one for the model to be served. */
const enablingVariables = (entry: ModelEntry, providers: Readonly<Record<string, ProviderEntry>>): string[] =>
  (entry.endpoints ?? []).flatMap(({ provider }) => enablingVariable(providers[provider]) ?? [])

const enablingVariable = (provider: ProviderEntry | undefined): string | undefined => provider?.api_key_env ?? provider?.base_url_env

const enabledProviders = (
  catalogue: Readonly<Record<string, ProviderEntry>>,
  operator: Readonly<Record<string, ProviderEntry>>,
  variables: Readonly<Record<string, string | undefined>>,
  listed: ReadonlySet<string>,
): Map<string, Provider> => {
  const providers = new Map<string, Provider>()
  for (const slug of new Set([...Object.keys(catalogue), ...Object.keys(operator)])) {
    const own = operator[slug]
    const entry: ProviderEntry = { ...catalogue[slug], ...own }
    const variable = (name: string | undefined): string | undefined => (name === undefined ? undefined : variables[name] || undefined)
    const keys = own?.api_key === undefined ? [variable(entry.api_key_env)].filter((key) => key !== undefined) : [own.api_key].flat()
    checkKeys(keys, slug, own?.api_key === undefined ? entry.api_key_env : undefined)
    const address = own?.base_url ?? variable(entry.base_url_env) ?? entry.base_url
    const enabled = own !== undefined || (entry.api_key_env === undefined ? variable(entry.base_url_env) !== undefined : keys.length > 0)
    if (!enabled) continue
    if (address === undefined || entry.dialects === undefined) {
      throw new CatalogueError(
        `providers: "${slug}" needs ${address === undefined ? 'a base_url' : 'dialects'}: the catalogue does not know it.` +
          nearestHint(Object.keys(catalogue), slug),
      )
    }
    providers.set(slug, {
      slug,
      name: entry.name ?? slug,
      dialects: entry.dialects,
      baseUrl: normalAddress(address, {
        slug,
        entry,
        variable: own?.base_url === undefined ? entry.base_url_env : undefined,
        known: catalogue[slug]?.base_url,
      }),
      apiKeys: keys,
      // If neither the catalogue knows a server nor the operator's file lists its models, any model name is accepted.
      anyModel: entry.any_model ?? (catalogue[slug] === undefined && !listed.has(slug)),
      ...(entry.stored_objects === undefined ? {} : { storedObjects: entry.stored_objects }),
      ...(entry.on_cancel === undefined ? {} : { onCancel: entry.on_cancel }),
      ...(entry.data_policy === undefined ? {} : { dataPolicy: policyOf(entry.data_policy) }),
    })
  }
  return providers
}

/** A copied placeholder or a trailing line end would make every request fail, far from the cause. */
const checkKeys = (keys: readonly string[], slug: string, variable: string | undefined): void => {
  if (keys.every((key) => /^[\x21-\x7e]+$/.test(key))) return
  const where = variable ?? `providers.${slug}.api_key`
  const says = `${where}: the key holds a character that no header can carry; use it exactly as the provider shows it.`
  throw new CatalogueError(says, variable !== undefined)
}

interface AddressSource {
  readonly slug: string
  readonly entry: ProviderEntry
  /** Absent where the file has the address. */
  readonly variable: string | undefined
  /** The catalogue's own address of this provider. */
  readonly known: string | undefined
}

/**
 * Users of Ollama write addresses such as `OLLAMA_HOST=127.0.0.1:11434`: a scheme and the path of the compatible API are added; also for
 * `192.168.1.5`, `:11434` and `http://gpu-box:11434`. Any other address with a scheme is used unchanged.
 * A provider with a key gets no scheme added: plain http would send the key in clear text.
 */
const normalAddress = (address: string, { slug, entry, variable, known }: AddressSource): string => {
  const scheme = /^([a-z][a-z\d+.-]*):\/\//i.exec(address)?.[1]?.toLowerCase()
  const hasScheme = scheme !== undefined
  const full = hasScheme ? address : `http://${address.startsWith(':') ? '127.0.0.1' : ''}${address}`
  const url = URL.parse(full)
  const mayLackScheme = entry.api_key_env === undefined
  const where = variable ?? `providers.${slug}.base_url`
  if (url === null || (hasScheme ? scheme !== 'http' && scheme !== 'https' : !mayLackScheme))
    throw new CatalogueError(
      `${where}: the address of "${slug}" is not a URL, such as ${known ?? 'http://127.0.0.1:8000/v1'}.`,
      variable !== undefined,
    )
  if (url.search !== '' || url.hash !== '')
    throw new CatalogueError(
      `${where}: the address of "${slug}" has a query or a fragment, after which no path can follow.`,
      variable !== undefined,
    )
  const isHost = !hasScheme || entry.base_url_env?.endsWith('_HOST') === true
  if (!isHost || url.pathname !== '/') return full.replace(/\/+$/, '')
  if (!hasScheme && !/:\d+\/?$/.test(address) && known !== undefined) url.port = new URL(known).port
  return `${url.origin}/v1`
}

const modelOf = (
  id: string,
  entry: ModelEntry,
  providers: ReadonlyMap<string, Provider>,
  origin: Model['origin'],
  sourceOf: (endpoint: EndpointEntry) => PriceSource,
): Model | null => {
  const endpoints = (entry.endpoints ?? []).flatMap((endpoint) => {
    const provider = providers.get(endpoint.provider)
    return provider === undefined ? [] : [endpointOf(endpoint, entry, provider, sourceOf(endpoint))]
  })
  if (endpoints.length === 0) return null
  return {
    id,
    name: entry.name ?? id,
    created: entry.created ?? 0,
    contextLength: entry.context_length ?? null,
    inputModalities: entry.input_modalities ?? null,
    outputModalities: entry.output_modalities ?? ['text'],
    supportedParameters: entry.supported_parameters ?? [],
    endpoints: withOwnTags(endpoints),
    firstTokenMs: entry.first_token_timeout === undefined ? null : entry.first_token_timeout * 1000,
    ...(origin === undefined ? {} : { origin }),
  }
}

const endpointOf = (entry: EndpointEntry, model: ModelEntry, provider: Provider, source: PriceSource): ModelEndpoint => {
  const variant = entry.variant ?? entry.service_tier
  return plainEndpoint(provider, entry.model, {
    tag: variant === undefined ? provider.slug : `${provider.slug}/${variant}`,
    // Prices of the operator are meant for the operator's own address.
    prices:
      entry.prices === undefined || source.from === 'operator'
        ? (entry.prices ?? null)
        : pricesAt(entry.prices, provider.baseUrl, model.created),
    ...(entry.prices === undefined ? {} : { pricesFrom: source }),
    maxCompletionTokens: entry.max_completion_tokens ?? null,
    contextLength: entry.context_length ?? model.context_length ?? null,
    quantization: entry.quantization ?? 'unknown',
    serviceTier: entry.service_tier ?? null,
    dataPolicy: policyOf(entry.data_policy, provider.dataPolicy),
    distillable: model.distillable ?? null,
    supportedParameters: entry.supported_parameters ?? model.supported_parameters ?? [],
  })
}

const policyOf = (entry: ProviderEntry['data_policy'], general?: DataPolicy): DataPolicy => ({
  training: entry?.training ?? general?.training ?? null,
  retains: entry?.retains ?? general?.retains ?? null,
})

/** If a provider is listed twice without a variant, its endpoints get numbers, so that each has its own health. */
const withOwnTags = (endpoints: readonly ModelEndpoint[]): ModelEndpoint[] => {
  const taken = new Set<string>()
  return endpoints.map((endpoint) => {
    let { tag } = endpoint
    for (let number = 2; taken.has(tag); number += 1) tag = `${endpoint.tag}${endpoint.tag.includes('/') ? '-' : '/'}${number}`
    taken.add(tag)
    return tag === endpoint.tag ? endpoint : { ...endpoint, tag }
  })
}
