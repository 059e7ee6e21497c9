/** One entry of `model_list`: the provider of the operator's file that serves it, its key, its address and its prices. */
import { scaledDecimal } from '../../../lib/decimal.ts'
import type { JsonObject, JsonValue } from '../../../lib/json/json.ts'
import { dollars } from '../../../lib/money.ts'
import type { Place } from '../import-plan.ts'
import { wordIn } from '../members.ts'
import { addressOfProvider, azureAddress, cataloguePrices, dialectsOf, isKeyless, keyVariable, providerOf, slugOf } from '../names.ts'

/** A deployment that serves one of LiteLLM's public names. */
export interface Deployment {
  readonly provider: string
  /** The entry for the operator's file, if the catalogue's own provider is not enough. */
  readonly providerEntry: JsonObject | null
  /** True if the provider is the catalogue's, whose models it serves. */
  readonly isCatalogues: boolean
  readonly upstreamModel: string
  readonly prices: JsonObject | null
  readonly isEmbedding: boolean
  readonly params: JsonObject
  readonly place: Place
}

/** Providers that some deployment asks as the catalogue does, with the key of its variable. */
export const usualProviders = (list: readonly JsonObject[]): ReadonlySet<string> =>
  new Set(
    list.flatMap((params) => {
      const provider = providerOf(upstreamOf(params).word)
      return provider !== null && baseOf(params, provider) === null && isUsualKey(provider, keyOfDeployment(params)) ? provider : []
    }),
  )

interface Places {
  /** The slug of each address and key seen so far. */
  readonly places: Map<string, string>
  /** These providers keep their slug for the key of the catalogue's variable. */
  readonly usual: ReadonlySet<string>
}

export const deploymentOf = (params: JsonObject, info: JsonObject, place: Place, { places, usual }: Places): Deployment | null => {
  const inParams = (name: string): Place => place.at('litellm_params', name)
  if (wordIn(params['model']).startsWith('os.environ/'))
    return inParams('model').cannot('the model is in a variable: write its name here, and import again')
  const { word, upstreamModel } = upstreamOf(params)
  const known = providerOf(word)
  const base = baseOf(params, known)
  if (known === null && base === null)
    return inParams('model').cannot(`the provider ${word} is not known here; give it an api_base that speaks Chat Completions`)
  const provider = known ?? slugOf(word.toLowerCase())
  const address = base === null ? null : addressOf(base, provider, params, place)
  if (base !== null && address === null)
    return inParams('api_base').cannot('api_base is not the address of a provider, which has neither a password nor a query')
  if (provider === 'azure' && address === null)
    place.changed('set AZURE_OPENAI_BASE_URL to the address of your resource, such as https://NAME.openai.azure.com/openai/v1')
  const given = keyOfDeployment(params)
  const isLiteral = given !== null && !/^\$\{\w+\}(?::\$\{\w+\})*$/.test(given)
  const target = `${provider} ${address ?? ''} ${given ?? ''}`
  const isAtVendor = known !== null && ownBaseOf(params) === null
  const isUsual = isUsualKey(provider, given) && address === null
  const isFree = !usual.has(provider) && !isTaken(provider, places)
  const slug = places.get(target) ?? (isAtVendor && (isUsual || isFree) ? provider : freeSlug(provider, address, places))
  places.set(target, slug)
  if (isLiteral)
    inParams('api_key').changed(
      params['api_key'] == null
        ? `the AWS key pair stands in the file as it is: set the variable ${keyVariable(slug)} to ACCESS_KEY_ID:SECRET_ACCESS_KEY`
        : `the key stands in the file as it is: set the variable ${keyVariable(slug)} to it`,
    )
  if (given === null && isAtVendor && !isKeyless(provider) && keyVariable(provider) !== `${word.toUpperCase()}_API_KEY`)
    place.changed(`the key of ${provider} is the variable ${keyVariable(provider)} here`)
  // The variable is that of the slug: a key of one address must not be the key that is sent to another.
  const key = isLiteral ? variableText(slug) : (given ?? (isAtVendor && !isKeyless(provider) ? variableText(provider) : null))
  const members = {
    ...(address === null ? {} : { base_url: address }),
    ...(key === null || (slug === provider && isUsualKey(provider, key)) ? {} : { api_key: key }),
  }
  // A provider without a variable for its key is enabled by the file alone.
  const isEnabled = Object.keys(members).length === 0 && !isKeyless(provider)
  const changes = isEnabled ? null : members
  return {
    provider: slug,
    providerEntry: slug === provider ? changes : { ...ownEntry(provider, known, base), ...members },
    isCatalogues: slug === provider && known !== null,
    upstreamModel,
    prices: pricesOf(info, params) ?? (slug !== provider && isAtVendor ? cataloguePrices(provider, upstreamModel) : null),
    isEmbedding: info['mode'] === 'embedding',
    params,
    place,
  }
}

/** The catalogue does not know the slug, so the entry says what the catalogue says of the provider. */
const ownEntry = (provider: string, known: string | null, base: string | null): JsonObject => ({
  dialects: [...dialectsOf(provider)].filter((dialect) => base === null || known !== 'openai' || dialect === 'openai-chat'),
  ...(base === null ? { base_url: addressOfProvider(provider) } : {}),
})

const isUsualKey = (provider: string, key: string | null): boolean => key === null || key === variableText(provider)

/** LiteLLM knows the provider of some names without a prefix; any other is OpenAI's. */
const BARE_NAMES: readonly (readonly [RegExp, string])[] = [
  [/^claude-/, 'anthropic'],
  [/^gemini-/, 'vertex_ai'],
  [/^(?:(?:us|eu|apac|global)\.)?(?:anthropic|amazon|meta|mistral|cohere|ai21|deepseek)\./, 'bedrock'],
]

/** How LiteLLM asks, which its names of models begin with; it is no part of the name. */
const ROUTES: Readonly<Record<string, RegExp>> = {
  openai: /^responses\//,
  azure: /^(?:responses|o_series|gpt5_series)\//,
  bedrock: /^(?:converse|invoke|converse_like)\//,
}

const upstreamOf = (params: JsonObject): { word: string; upstreamModel: string } => {
  const model = wordIn(params['model'])
  const slash = model.indexOf('/')
  const custom = typeof params['custom_llm_provider'] === 'string' ? params['custom_llm_provider'] : null
  const word = custom ?? (slash < 0 ? (BARE_NAMES.find(([form]) => form.test(model))?.[1] ?? 'openai') : model.slice(0, slash))
  const named = slash >= 0 && (custom === null || custom === model.slice(0, slash)) ? model.slice(slash + 1) : model
  return { word, upstreamModel: named.replace(ROUTES[providerOf(word) ?? ''] ?? /^$/, '') }
}

export const ownBaseOf = (params: JsonObject): string | null => textOf(params['api_base']) ?? textOf(params['base_url'])

/** The region of a deployment at Bedrock is its address. */
const baseOf = (params: JsonObject, known: string | null): string | null => {
  const base = ownBaseOf(params)
  const region = textOf(params['aws_region_name'])
  return base === null && known === 'bedrock' && region !== null ? `https://bedrock-runtime.${region}.amazonaws.com` : base
}

/** An AWS key pair is one text here. */
const keyOfDeployment = (params: JsonObject): string | null => {
  const key = textOf(params['api_key'])
  const pair = AWS_KEY.flatMap((name) => textOf(params[name]) ?? [])
  return key === null && pair.length > 1 ? pair.join(':') : key
}

export const AWS_KEY = ['aws_access_key_id', 'aws_secret_access_key', 'aws_session_token'] as const

const isTaken = (slug: string, places: ReadonlyMap<string, string>): boolean => [...places.values()].includes(slug)

const freeSlug = (provider: string, base: string | null, places: ReadonlyMap<string, string>): string => {
  const host = base === null ? null : (URL.parse(base)?.hostname ?? null)
  const [first, second] = host === null || /^[\d.]+$/.test(host) ? [] : host.split('.')
  const wanted = slugOf(`${provider}-${(first === 'bedrock-runtime' ? second : first) ?? 'own'}`.toLowerCase())
  let free = wanted
  for (let number = 2; isTaken(free, places); number += 1) free = `${wanted}-${number}`
  return free
}

/** The path that follows the address of a server that the operator runs. */
const SUFFIXES: ReadonlyMap<string, string> = new Map([
  ['azure', '/openai/v1'],
  ['ollama', '/v1'],
])

/** Null if no request can be sent there, or if it has a password in it, which belongs into no file. */
const addressOf = (base: string, provider: string, params: JsonObject, place: Place): string | null => {
  if (params['api_version'] !== undefined)
    place.at('litellm_params', 'api_version').changed("Azure's path /openai/v1 is used, which needs no api_version")
  const variable = /^\$\{(\w+)\}$/.exec(base)?.[1]
  const suffix = SUFFIXES.get(provider) ?? ''
  if (variable !== undefined) {
    if (suffix !== '')
      place.at('litellm_params', 'api_base').changed(`the variable ${variable} must hold an address without a path: ${suffix} follows it`)
    return `${base}${suffix}`
  }
  const url = URL.parse(base)
  if (url === null || !/^https?:$/.test(url.protocol) || url.username !== '' || url.password !== '') return null
  if (url.search !== '' && provider !== 'azure') return null
  const trimmed = (provider === 'azure' ? azureAddress(base) : base)
    .replace(/\?.*$/, '')
    .replace(/(?:\/v1\/messages|\/chat\/completions)?\/*$/, '')
  // LiteLLM uses Ollama's own API, whose address has no path; Chat Completions are below /v1.
  return provider === 'ollama' && !trimmed.endsWith('/v1') ? `${trimmed}/v1` : trimmed
}

const textOf = (value: JsonValue | undefined): string | null => (typeof value === 'string' && value !== '' ? environmentText(value) : null)

/** `os.environ/NAME` becomes `${NAME}`. */
const environmentText = (value: string): string => value.replace(/^os\.environ\/([A-Za-z_][A-Za-z0-9_]*)$/, '${$1}')

export const variableText = (provider: string): string => `\${${keyVariable(provider)}}`

export const PRICES = {
  prompt: 'input_cost_per_token',
  completion: 'output_cost_per_token',
  cache_read: 'cache_read_input_token_cost',
  cache_write: 'cache_creation_input_token_cost',
} as const

/** Converts dollars per token to dollars per million tokens, rounded to whole nano-dollars. */
const pricesOf = (info: JsonObject, params: JsonObject): JsonObject | null => {
  const prices = Object.entries(PRICES).flatMap(([ours, theirs]) => {
    const price = params[theirs] ?? info[theirs]
    const nanos = typeof price === 'number' || typeof price === 'string' ? scaledDecimal(wordIn(price), 15) : null
    return nanos === null || nanos < 0 ? [] : [[ours, dollars(nanos)] as const]
  })
  const found = Object.fromEntries(prices)
  return found['prompt'] === undefined || found['completion'] === undefined ? null : found
}
