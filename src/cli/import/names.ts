/** The names that other products use for providers and models. */
import shipped from '../../models/catalogue-data.json' with { type: 'json' }
import { definedOnly } from '../../lib/defined-only.ts'
import type { JsonObject } from '../../lib/json/json.ts'
import type { Catalogue } from '../../models/catalogue-schema.ts'
import { unservedModel } from '../../models/models.ts'
import { createVendorNames } from '../../models/vendor-names.ts'
import { newModelId } from '../../models/price-lists/provider-names.ts'
import { presetSlug } from '../../contract/preset-name.ts'

const CATALOGUE = shipped as Catalogue

const PROVIDERS: Readonly<Record<string, string>> = {
  gemini: 'google',
  'google-ai-studio': 'google',
  'azure-openai': 'azure',
  azure_ai: 'azure',
  bedrock_converse: 'bedrock',
  'amazon-bedrock': 'bedrock',
  'mistral-ai': 'mistral',
  together_ai: 'together',
  'together-ai': 'together',
  fireworks_ai: 'fireworks',
  'fireworks-ai': 'fireworks',
  'perplexity-ai': 'perplexity',
  'x-ai': 'xai',
  dashscope: 'alibaba',
  hosted_vllm: 'vllm',
  lm_studio: 'lmstudio',
  ollama_chat: 'ollama',
}

/** Null if the catalogue has no such provider. */
export const providerOf = (name: string): string | null => {
  const slug = PROVIDERS[name] ?? name
  return Object.hasOwn(CATALOGUE.providers, slug) ? slug : null
}

/** The variable for the provider's key, according to the catalogue. */
export const keyVariable = (provider: string): string =>
  CATALOGUE.providers[provider]?.api_key_env ?? `${provider.toUpperCase().replace(/[^A-Z0-9]+/g, '_')}_API_KEY`

/** True if the provider needs no key, and so is enabled by its address or by the operator's file. */
export const isKeyless = (provider: string): boolean => {
  const entry = CATALOGUE.providers[provider]
  return entry !== undefined && entry.api_key_env === undefined
}

/** The member that lets requests name any model of a provider, where the catalogue does not say so already. */
export const anyModelOf = (provider: string): JsonObject => (CATALOGUE.providers[provider]?.any_model === true ? {} : { any_model: true })

const AZURE_HOST = /\.(?:openai|cognitiveservices|services\.ai)\.azure\.com$/

/** The address of an Azure resource, which other products may write with the path of a deployment; any other address stays as it is. */
export const azureAddress = (address: string): string => {
  const url = URL.parse(address)
  if (/^\$\{\w+\}$/.test(address)) return `${address}/openai/v1`
  return url !== null && AZURE_HOST.test(url.hostname) && !url.pathname.startsWith('/anthropic') ? `${url.origin}/openai/v1` : address
}

export const addressOfProvider = (provider: string): string => CATALOGUE.providers[provider]?.base_url ?? ''

export const dialectsOf = (provider: string): readonly string[] => CATALOGUE.providers[provider]?.dialects ?? ['openai-chat']

const NAMES = createVendorNames(Object.keys(CATALOGUE.models).map(unservedModel))

/** The catalogue's id for a provider's own name; if there is none, the id that any model of the provider would get. */
export const modelIdOf = (provider: string, upstreamModel: string): string => {
  const known = Object.entries(CATALOGUE.models).find(([, { endpoints }]) =>
    endpoints.some((endpoint) => endpoint.provider === provider && endpoint.model === upstreamModel),
  )
  if (known !== undefined) return known[0]
  // Names may differ by a date at the end, or by a dash where the catalogue has a dot.
  const alike = NAMES.modelsOf(upstreamModel).filter(({ id }) =>
    CATALOGUE.models[id]?.endpoints.some((endpoint) => endpoint.provider === provider),
  )
  if (alike.length === 1 && alike[0] !== undefined) return alike[0].id
  return CATALOGUE.providers[provider]?.any_model === true ? `${provider}/${upstreamModel}` : newModelId(provider, upstreamModel)
}

/** Prices from the catalogue for a provider's own name of a model; null if there are none. */
export const cataloguePrices = (provider: string, upstreamModel: string): JsonObject | null => {
  const id = modelIdOf(provider, upstreamModel)
  const prices = CATALOGUE.models[id]?.endpoints.find((endpoint) => endpoint.provider === provider)?.prices
  return prices === undefined ? null : (definedOnly(prices) as JsonObject)
}

/** Says what to do about a model for which the service would answer 404. */
export const unserved = (id: string): string => `the model ${id} is not known here: add it to "models" of your patchbay.yaml`

/** False if the service answers 404 for the model until it is in the operator's file. */
export const isServed = (provider: string, id: string): boolean =>
  Object.hasOwn(CATALOGUE.models, id) || CATALOGUE.providers[provider]?.any_model === true

/** True if the catalogue has a model that a request may call by this name. */
export const isNamed = (name: string): boolean => NAMES.modelsOf(name).length > 0

/** Turns a name into a slug: characters that a slug may not contain become dashes. A name of nothing else is not a slug of dashes. */
export const slugOf = (name: string): string => {
  const slug = name.replace(/[^A-Za-z0-9._~-]+/g, '-').slice(0, 128)
  return /[A-Za-z0-9]/.test(slug) && presetSlug.safeParse(slug).success ? slug : 'imported'
}

/** Two names may differ only in characters that become dashes: the second one gets a number. */
export const uniqueSlug = (name: string, taken: Set<string>): string => {
  const wanted = slugOf(name)
  let free = wanted
  for (let number = 2; taken.has(free); number += 1) free = `${wanted.slice(0, 120)}-${number}`
  taken.add(free)
  return free
}
