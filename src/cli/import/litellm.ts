/** LiteLLM's config.yaml, and the keys that its `GET /key/list?return_full_object=true` returns. */
import { SettingError } from '../../config.ts'
import { scaledDecimal } from '../../lib/decimal.ts'
import { isObject, type JsonObject, type JsonValue, listOf, objectsIn } from '../../lib/json/json.ts'
import { dollars } from '../../lib/money.ts'
import { objectIn, wordIn } from './members.ts'
import type { ImportReader, Path, PlannedKey, PlannedPreset } from './import-plan.ts'
import {
  addressOfProvider,
  anyModelOf,
  azureAddress,
  cataloguePrices,
  dialectsOf,
  isKeyless,
  isServed,
  keyVariable,
  modelIdOf,
  providerOf,
  slugOf,
  uniqueSlug,
} from './names.ts'

type Report = Parameters<ImportReader>[1]

export const readLitellmConfig: ImportReader = (value, report) => {
  if (!isObject(value) || !['model_list', 'keys', 'include'].some((list) => Array.isArray(value[list])))
    throw new SettingError('the file is no configuration of LiteLLM: expected "model_list", or "keys" of GET /key/list.')
  const config = value as JsonObject
  const { groups, open } = listedIn(config, report)
  const file = fileOf(groups, open, config, report)
  for (const section of Object.keys(config))
    if (!SECTIONS.has(section)) report([section], 'cannot', SECTIONS_SAID[section] ?? `${section} has no counterpart`)
  reportSettings(config, report)
  return {
    presets: presetsOf(groups, config, report),
    guardrails: objectsIn(config['guardrails']).flatMap((entry, at) => guardrailOf(entry, ['guardrails', at], report)),
    keys: objectsIn(config['keys']).map((entry, at) => keyOf(entry, ['keys', at], report)),
    file,
  }
}

const SECTIONS: ReadonlySet<string> = new Set([
  'model_list',
  'litellm_settings',
  'router_settings',
  'general_settings',
  'environment_variables',
  'credential_list',
  'guardrails',
  'keys',
  'total_count',
  'current_page',
  'total_pages',
])

const SECTIONS_SAID: Readonly<Record<string, string>> = {
  include: 'include: import the files that are named here one by one',
  search_tools: 'search_tools: web search is a tool of the service, which a request or a preset asks for',
}

/** A deployment that serves one of LiteLLM's public names. */
interface Deployment {
  readonly provider: string
  /** The entry for the operator's file, if the catalogue's own provider is not enough. */
  readonly providerEntry: JsonObject | null
  /** True if the provider is the catalogue's, whose models it serves. */
  readonly isCatalogues: boolean
  readonly upstreamModel: string
  readonly prices: JsonObject | null
  readonly isEmbedding: boolean
  readonly params: JsonObject
  readonly path: Path
}

/** One of LiteLLM's public names. */
interface Group {
  /** The name of the preset, which no other group has. */
  readonly slug: string
  readonly deployments: Deployment[]
}

type Groups = ReadonlyMap<string, Group>

interface Listed {
  readonly groups: Groups
  /** Providers all of whose models are asked for by their names. */
  readonly open: readonly Deployment[]
}

const listedIn = (config: JsonObject, report: Report): Listed => {
  const groups = new Map<string, Group>()
  const open: Deployment[] = []
  const slugs = new Set<string>()
  const credentials = credentialsIn(config, report)
  const entries = objectsIn(config['model_list']).map((entry) => ({
    entry,
    params: withCredential(objectIn(entry['litellm_params']), credentials),
  }))
  const places = { places: new Map<string, string>(), usual: usualProviders(entries.map(({ params }) => params)) }
  for (const [at, { entry, params }] of entries.entries()) {
    const path: Path = ['model_list', at]
    const name = entry['model_name']
    if (typeof name !== 'string' || typeof params['model'] !== 'string') {
      report(path, 'cannot', 'needs model_name and litellm_params.model')
      continue
    }
    const info = objectIn(entry['model_info'])
    const mode = wordIn(info['mode'] ?? '')
    if (mode !== '' && !MODES.has(mode)) {
      report([...path, 'model_info', 'mode'], 'cannot', `${name}: ${mode} is not served here`)
      continue
    }
    if (params['model'] === '*' && ownBaseOf(params) === null) {
      report(path, 'changed', `${name}: every model of an enabled provider answers to its id; no entry is needed`)
      continue
    }
    const deployment = deploymentOf(params, info, path, places, report)
    if (deployment === null) continue
    reportInfo(name, info, path, report)
    if (name.includes('*')) {
      open.push(deployment)
      report(
        path,
        'changed',
        `${name}: every model of ${deployment.provider} answers to ${deployment.provider}/NAME; one that the catalogue lacks has no price`,
      )
      continue
    }
    const group = groups.get(name) ?? { slug: uniqueSlug(name, slugs), deployments: [] }
    group.deployments.push(deployment)
    groups.set(name, group)
  }
  return { groups, open }
}

/** Providers that some deployment asks as the catalogue does, with the key of its variable. */
const usualProviders = (list: readonly JsonObject[]): ReadonlySet<string> =>
  new Set(
    list.flatMap((params) => {
      const provider = providerOf(upstreamOf(params).word)
      return provider !== null && baseOf(params, provider) === null && isUsualKey(provider, keyOfDeployment(params)) ? provider : []
    }),
  )

/** The values of each name in `credential_list`. */
const credentialsIn = (config: JsonObject, report: Report): ReadonlyMap<string, JsonObject> =>
  new Map(
    objectsIn(config['credential_list']).map((entry, at) => {
      const name = wordIn(entry['credential_name'])
      report(['credential_list', at], 'taken', `the credential ${name} goes to the deployments that name it`)
      return [name, objectIn(entry['credential_values'])]
    }),
  )

const withCredential = (params: JsonObject, credentials: ReadonlyMap<string, JsonObject>): JsonObject => ({
  ...credentials.get(wordIn(params['litellm_credential_name'])),
  ...params,
})

const INFO_READ: ReadonlySet<string> = new Set([
  'mode',
  'id',
  'base_model',
  'input_cost_per_token',
  'output_cost_per_token',
  'cache_read_input_token_cost',
  'cache_creation_input_token_cost',
])

const reportInfo = (name: string, info: JsonObject, path: Path, report: Report): void => {
  if (info['access_groups'] !== undefined)
    report([...path, 'model_info', 'access_groups'], 'cannot', `${name}: who may use a model is a guardrail here: allowed_models`)
  const rest = Object.keys(info).filter((member) => !INFO_READ.has(member) && member !== 'access_groups')
  if (rest.length > 0)
    report([...path, 'model_info'], 'cannot', `${name}: what a model supports is in the catalogue or in your file, not ${rest.join(', ')}`)
}

/** Modes of models that are reached by a preset, and `embedding`, which is reached by the id of the model. */
const MODES: ReadonlySet<string> = new Set(['chat', 'completion', 'responses', 'embedding'])

interface Places {
  /** The slug of each address and key seen so far. */
  readonly places: Map<string, string>
  /** These providers keep their slug for the key of the catalogue's variable. */
  readonly usual: ReadonlySet<string>
}

const deploymentOf = (params: JsonObject, info: JsonObject, path: Path, { places, usual }: Places, report: Report): Deployment | null => {
  if (wordIn(params['model']).startsWith('os.environ/')) {
    report([...path, 'litellm_params', 'model'], 'cannot', 'the model is in a variable: write its name here, and import again')
    return null
  }
  const { word, upstreamModel } = upstreamOf(params)
  const known = providerOf(word)
  const base = baseOf(params, known)
  if (known === null && base === null) {
    report(
      [...path, 'litellm_params', 'model'],
      'cannot',
      `the provider ${word} is not known here; give it an api_base that speaks Chat Completions`,
    )
    return null
  }
  const provider = known ?? slugOf(word.toLowerCase())
  const address = base === null ? null : addressOf(base, provider, params, path, report)
  if (base !== null && address === null) {
    report(
      [...path, 'litellm_params', 'api_base'],
      'cannot',
      'api_base is not the address of a provider, which has neither a password nor a query',
    )
    return null
  }
  if (provider === 'azure' && address === null)
    report(path, 'changed', 'set AZURE_OPENAI_BASE_URL to the address of your resource, such as https://NAME.openai.azure.com/openai/v1')
  const given = keyOfDeployment(params)
  const isLiteral = given !== null && !/^\$\{\w+\}(?::\$\{\w+\})*$/.test(given)
  const place = `${provider} ${address ?? ''} ${given ?? ''}`
  const isAtVendor = known !== null && ownBaseOf(params) === null
  const isUsual = isUsualKey(provider, given) && address === null
  const isFree = !usual.has(provider) && !isTaken(provider, places)
  const slug = places.get(place) ?? (isAtVendor && (isUsual || isFree) ? provider : freeSlug(provider, address, places))
  places.set(place, slug)
  if (isLiteral)
    report(
      [...path, 'litellm_params', 'api_key'],
      'changed',
      params['api_key'] == null
        ? `the AWS key pair stands in the file as it is: set the variable ${keyVariable(slug)} to ACCESS_KEY_ID:SECRET_ACCESS_KEY`
        : `the key stands in the file as it is: set the variable ${keyVariable(slug)} to it`,
    )
  if (given === null && isAtVendor && !isKeyless(provider) && keyVariable(provider) !== `${word.toUpperCase()}_API_KEY`)
    report(path, 'changed', `the key of ${provider} is the variable ${keyVariable(provider)} here`)
  // The variable is that of the slug: a key of one address must not be the key that is sent to another.
  const key = isLiteral ? variableText(slug) : (given ?? (isAtVendor && !isKeyless(provider) ? variableText(provider) : null))
  const members = {
    ...(address === null ? {} : { base_url: address }),
    ...(key === null || (slug === provider && isUsualKey(provider, key)) ? {} : { api_key: key }),
  }
  // A provider without a variable for its key is enabled by the file alone.
  const isEnabled = Object.keys(members).length === 0 && !isKeyless(provider)
  return {
    provider: slug,
    providerEntry: slug !== provider ? { ...ownEntry(provider, known, base), ...members } : isEnabled ? null : members,
    isCatalogues: slug === provider && known !== null,
    upstreamModel,
    prices: pricesOf(info, params) ?? (slug !== provider && isAtVendor ? cataloguePrices(provider, upstreamModel) : null),
    isEmbedding: info['mode'] === 'embedding',
    params,
    path,
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

const ownBaseOf = (params: JsonObject): string | null => textOf(params['api_base']) ?? textOf(params['base_url'])

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

const AWS_KEY = ['aws_access_key_id', 'aws_secret_access_key', 'aws_session_token'] as const

const isTaken = (slug: string, places: ReadonlyMap<string, string>): boolean => [...places.values()].includes(slug)

const freeSlug = (provider: string, base: string | null, places: ReadonlyMap<string, string>): string => {
  const host = base === null ? null : (URL.parse(base)?.hostname ?? null)
  const [first, second] = host === null || /^[\d.]+$/.test(host) ? [] : host.split('.')
  const wanted = slugOf(`${provider}-${(first === 'bedrock-runtime' ? second : first) ?? 'own'}`.toLowerCase())
  let free = wanted
  for (let number = 2; isTaken(free, places); number += 1) free = `${wanted}-${number}`
  return free
}

/** Null if no request can be sent there, or if it has a password in it, which belongs into no file. */
const addressOf = (base: string, provider: string, params: JsonObject, path: Path, report: Report): string | null => {
  if (params['api_version'] !== undefined)
    report([...path, 'litellm_params', 'api_version'], 'changed', "Azure's path /openai/v1 is used, which needs no api_version")
  const variable = /^\$\{(\w+)\}$/.exec(base)?.[1]
  const suffix = provider === 'azure' ? '/openai/v1' : provider === 'ollama' ? '/v1' : ''
  if (variable !== undefined) {
    if (suffix !== '')
      report(
        [...path, 'litellm_params', 'api_base'],
        'changed',
        `the variable ${variable} must hold an address without a path: ${suffix} follows it`,
      )
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

const variableText = (provider: string): string => `\${${keyVariable(provider)}}`

const PRICES = {
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

/** The id under which a public name is served here. */
const idOf = ({ slug, deployments }: Group): string => {
  const [only] = deployments
  const own = `litellm/${slug}`
  if (deployments.length !== 1 || only === undefined || !only.isCatalogues || only.prices !== null) return own
  const id = modelIdOf(only.provider, only.upstreamModel)
  return isServed(only.provider, id) ? id : own
}

const fileOf = (groups: Groups, open: readonly Deployment[], config: JsonObject, report: Report): JsonObject => {
  const providers: Record<string, JsonValue> = {}
  const models: Record<string, JsonValue> = {}
  for (const { provider, providerEntry } of [...groups.values()].flatMap(({ deployments }) => deployments))
    if (providerEntry !== null) providers[provider] = providerEntry
  for (const { provider, providerEntry } of open) {
    const any = anyModelOf(provider)
    // An entry of the file enables a provider even if its variable is not set.
    const entry = providerEntry ?? (Object.keys(any).length === 0 ? null : { api_key: variableText(provider) })
    if (entry !== null) providers[provider] = { ...entry, ...any }
  }
  for (const group of groups.values()) {
    const { deployments } = group
    const id = idOf(group)
    if (!id.startsWith('litellm/')) continue
    for (const { provider, upstreamModel, prices, path } of deployments)
      if (prices === null && !isServed(provider, modelIdOf(provider, upstreamModel)))
        report(
          [...path, 'litellm_params', 'model'],
          'changed',
          `the price of ${upstreamModel} at ${provider} is not known: add prices to its endpoint of ${id} in your file`,
        )
    models[id] = {
      endpoints: deployments.map(({ provider, upstreamModel, prices }) => ({
        provider,
        model: upstreamModel,
        ...(prices === null ? {} : { prices }),
      })),
    }
  }
  const timeout = objectIn(config['litellm_settings'])['request_timeout'] ?? objectIn(config['router_settings'])['timeout']
  if (timeout !== undefined)
    report(['litellm_settings', 'request_timeout'], 'changed', 'the time limit is that of a whole request, all its attempts together')
  return {
    ...(Object.keys(providers).length === 0 ? {} : { providers }),
    ...(Object.keys(models).length === 0 ? {} : { models }),
    ...(typeof timeout === 'number' && timeout > 0 ? { timeouts: { total: timeout } } : {}),
  }
}

/** Parameters of a deployment that a preset keeps under the same name. */
const SETTINGS = [
  'temperature',
  'top_p',
  'max_tokens',
  'presence_penalty',
  'frequency_penalty',
  'seed',
  'stop',
  'response_format',
  'reasoning_effort',
  'tools',
  'tool_choice',
] as const

/** Parameters that identify the deployment, or that were reported already. */
const NAMING: ReadonlySet<string> = new Set([
  'model',
  'api_key',
  'api_base',
  'base_url',
  'api_version',
  'custom_llm_provider',
  'litellm_credential_name',
  'aws_region_name',
  ...AWS_KEY,
  ...Object.values(PRICES),
  ...SETTINGS,
])

const presetsOf = (groups: Groups, config: JsonObject, report: Report): readonly PlannedPreset[] => {
  const router = objectIn(config['router_settings'])
  const fallbacks = fallbacksOf(config, groups, report)
  for (const [alias, target] of Object.entries(objectIn(router['model_group_alias']))) {
    const named = wordIn(isObject(target) ? target['model'] : target)
    if (!groups.has(named))
      report(['router_settings', 'model_group_alias', alias], 'cannot', `${JSON.stringify(named)} is no model of this file`)
  }
  const sort = SORTS[wordIn(router['routing_strategy'])]
  const presets: PlannedPreset[] = []
  const slugs = new Set([...groups.values()].map(({ slug }) => slug))
  for (const [name, group] of groups) {
    const { deployments, slug } = group
    const [first] = deployments
    if (first === undefined) continue
    const settings = Object.fromEntries(
      SETTINGS.flatMap((field): [string, JsonValue][] => (first.params[field] == null ? [] : [[field, first.params[field] ?? null]])),
    )
    for (const { params, path } of deployments) {
      for (const field of Object.keys(params))
        if (!NAMING.has(field))
          report([...path, 'litellm_params', field], 'cannot', DEPLOYMENT_SAID[field] ?? `${field} of a deployment has no counterpart`)
      if (params !== first.params && SETTINGS.some((field) => JSON.stringify(params[field]) !== JSON.stringify(first.params[field])))
        report(path, 'changed', `settings of the first deployment of ${name} hold for all`)
    }
    const id = idOf(group)
    if (deployments.some(({ isEmbedding }) => isEmbedding)) {
      report(first.path, 'changed', `${name}: a preset makes no embeddings; clients ask for the model ${id}`)
      continue
    }
    if (slug !== name) report(first.path, 'changed', `${name} is no name of a preset: clients ask for @preset/${slug}`)
    report(first.path, 'taken', `${name}: preset ${slug} for ${id}${deployments.length > 1 ? ` with ${deployments.length} providers` : ''}`)
    const models = fallbacks.get(name) ?? []
    const version = {
      shape: 'chat',
      systemPrompt: null,
      config: {
        model: id,
        ...(models.length === 0 ? {} : { models: [...models] }),
        ...(sort === undefined ? {} : { provider: { sort } }),
        ...settings,
      },
    } as const
    presets.push({ slug, versions: [version] })
    for (const [alias, target] of Object.entries(objectIn(router['model_group_alias'])))
      if (target === name || (isObject(target) && target['model'] === name)) {
        report(['router_settings', 'model_group_alias', alias], 'taken', `${alias}: a preset with what ${name} has`)
        presets.push({ slug: uniqueSlug(alias, slugs), versions: [version] })
      }
  }
  return presets
}

/** Sentences that say what to do instead. */
const DEPLOYMENT_SAID: Readonly<Record<string, string>> = {
  rpm: 'rpm: requests are limited by key (rpm_limit), not by deployment',
  tpm: 'tpm: tokens are limited by key (tpm_limit), not by deployment',
  weight: 'weight: providers of a model are balanced by price; an order is provider.order of the preset',
  order: 'order: the order of providers is provider.order of the preset',
  timeout: 'timeout: time limits are those of the service, timeouts of your patchbay.yaml',
  stream_timeout: 'stream_timeout: time limits are those of the service, timeouts of your patchbay.yaml',
  max_budget: 'max_budget: budgets are those of keys, workspaces and guardrails',
  budget_duration: 'budget_duration: budgets are those of keys, workspaces and guardrails',
  aws_role_name: 'aws_role_name: Bedrock is asked with an API key or an AWS key pair',
  aws_profile_name: 'aws_profile_name: Bedrock is asked with an API key or an AWS key pair',
}

const SORTS: Readonly<Record<string, string>> = { 'latency-based-routing': 'latency', 'cost-based-routing': 'price' }

/** At most this many models follow the first. */
const FALLBACKS_MAX = 10

/** One entry of a list of fallbacks. */
interface FallbackEntry {
  readonly model: string
  readonly targets: JsonValue | undefined
  readonly path: Path
}

/**
 * LiteLLM reads one of the two sections, and in its list the first entry of a model. `*` is for models without one; its last entry counts,
 * and `default_fallbacks` become that. A model for a context that is too long comes after those for any failure, because there is one list
 * here.
 */
const fallbacksOf = (config: JsonObject, groups: Groups, report: Report): ReadonlyMap<string, readonly string[]> => {
  const read = (name: string): readonly FallbackEntry[] => {
    // An empty list counts as absent.
    const [section, passedOver] = ['router_settings', 'litellm_settings'].filter((one) => listOf(objectIn(config[one])[name]).length > 0)
    if (section === undefined) return []
    if (passedOver !== undefined) report([passedOver, name], 'cannot', `LiteLLM reads those of ${section} alone`)
    const given = objectIn(config[section])[name]
    if (name === 'default_fallbacks') return [{ model: EVERY, targets: given, path: [section, name] }]
    return [...objectsIn(given).entries()].flatMap(([at, entry]) =>
      Object.entries(entry).map(([model, targets]) => ({ model, targets, path: [section, name, at, model] })),
    )
  }
  const noted = (entries: readonly FallbackEntry[], isKnown: (model: string) => boolean): ReadonlyMap<string, readonly string[]> => {
    const found = new Map<string, readonly string[]>()
    for (const { model, targets, path } of entries) {
      const ids = listOf(targets).flatMap((target) => {
        const group = typeof target === 'string' ? groups.get(target) : undefined
        if (group !== undefined) return idOf(group)
        report(path, 'cannot', `${JSON.stringify(target)} is no model of this file`)
        return []
      })
      if (!isKnown(model)) report(path, 'cannot', `${model} is no model of this file`)
      else if (found.has(model)) report(path, 'cannot', `LiteLLM reads the ${model === EVERY ? 'last' : 'first'} entry of ${model} alone`)
      else if (ids.length > 0) {
        report(path, 'taken', `${model === EVERY ? 'a model without fallbacks of its own' : model} falls back to ${ids.join(', ')}`)
        found.set(model, ids)
      }
    }
    return found
  }
  const all = [...read('fallbacks'), ...read('default_fallbacks')]
  const lastForEvery = all.filter(({ model }) => model === EVERY).toReversed()
  const any = noted([...all.filter(({ model }) => model !== EVERY), ...lastForEvery], (model) => model === EVERY || groups.has(model))
  const context = noted(read('context_window_fallbacks'), (model) => groups.has(model))
  return new Map(
    [...groups].map(([name, group]) => {
      const ids = new Set([...(any.get(name) ?? any.get(EVERY) ?? []), ...(context.get(name) ?? [])])
      ids.delete(idOf(group))
      const [first] = group.deployments
      if (ids.size > FALLBACKS_MAX && first !== undefined)
        report(first.path, 'changed', `${name}: a preset has at most ${FALLBACKS_MAX} fallback models, and the rest is left out`)
      return [name, [...ids].slice(0, FALLBACKS_MAX)]
    }),
  )
}

/** In a list of fallbacks, any model. */
const EVERY = '*'

const reportSettings = (config: JsonObject, report: Report): void => {
  for (const section of ['litellm_settings', 'router_settings', 'general_settings']) {
    for (const name of Object.keys(objectIn(config[section]))) {
      const says = SETTINGS_SAID[name]
      if (says === undefined) report([section, name], 'cannot', `${name} has no counterpart`)
      else if (says !== null) report([section, name], 'changed', says)
    }
  }
  for (const name of Object.keys(objectIn(config['environment_variables'])))
    report(['environment_variables', name], 'changed', `set the variable ${name} where the service starts`)
}

/** Null means that the setting is reported elsewhere. */
const SETTINGS_SAID: Readonly<Record<string, string | null>> = {
  fallbacks: null,
  default_fallbacks: null,
  model_group_alias: null,
  request_timeout: null,
  timeout: null,
  routing_strategy:
    'providers are balanced by price, away from those that failed recently; latency-based and cost-based become the sort of each preset',
  callbacks: 'traces go to the destinations of a workspace, such as Langfuse or OpenTelemetry',
  success_callback: 'traces go to the destinations of a workspace, such as Langfuse or OpenTelemetry',
  failure_callback: 'traces go to the destinations of a workspace, such as Langfuse or OpenTelemetry',
  max_budget: 'a budget for all is that of the workspace: PUT /api/v1/workspaces/default/budgets/{interval}',
  budget_duration: 'a budget for all is that of the workspace: PUT /api/v1/workspaces/default/budgets/{interval}',
  num_retries: 'a failure moves on to the next key, provider and model by its cause; there is no number to set',
  context_window_fallbacks: 'these models are asked after any failure that another model may survive, not only where a context is too long',
  content_policy_fallbacks: 'a refusal does not move on to another model',
  drop_params: 'what a provider does not take is left out with a warning; `strict` refuses it',
  set_verbose: 'start the service with --log-level debug',
  cache: 'answers are kept where a preset says cache_enabled, or a request asks for it',
  cache_params: 'how long an answer is kept is cache_ttl_seconds of a preset; --redis-url shares them',
  json_logs: 'logs are JSON lines',
  master_key: 'management keys are made with "patchbay keys create --kind management"',
  database_url: 'start the service with --database-url and a database of its own',
  store_model_in_db: 'models are in the file, presets in the database',
  redis_host: 'start the service with --redis-url',
  redis_port: 'start the service with --redis-url',
  redis_password: 'start the service with --redis-url',
  key_management_system: 'keys are variables here: let your secret manager set them where the service starts',
  key_management_settings: 'keys are variables here: let your secret manager set them where the service starts',
  max_request_size_mb: 'the largest body is limits.max_body_bytes of your patchbay.yaml',
  retry_after: 'circuit breakers and cooldowns work by themselves',
  allowed_fails_policy: 'circuit breakers and cooldowns work by themselves',
  allowed_fails: 'circuit breakers and cooldowns work by themselves',
  cooldown_time: 'circuit breakers and cooldowns work by themselves',
  enable_pre_call_checks: 'context and parameters of a model are checked before it is asked, always',
}

const ENTITIES: Readonly<Record<string, string>> = {
  EMAIL_ADDRESS: 'email',
  PHONE_NUMBER: 'phone',
  US_SSN: 'ssn',
  CREDIT_CARD: 'credit-card',
  IP_ADDRESS: 'ip-address',
  PERSON: 'person-name',
  LOCATION: 'address',
}

const guardrailOf = (entry: JsonObject, path: Path, report: Report): readonly JsonObject[] => {
  const name = wordIn(entry['guardrail_name'])
  const params = objectIn(entry['litellm_params'])
  const kind = wordIn(params['guardrail'])
  const modes = [params['mode']].flat().map(wordIn)
  const [reads, writes] = [modes.some((mode) => mode === 'pre_call' || mode === 'during_call'), modes.includes('post_call')]
  const side = reads === writes ? {} : { applies_to: reads ? 'input' : 'output' }
  const filters: JsonObject[] = []
  if (kind === 'presidio') {
    const entities = objectIn(params['pii_entities_config'])
    for (const [entity, action] of Object.entries(entities)) {
      const slug = ENTITIES[entity]
      if (slug === undefined)
        report([...path, 'litellm_params', 'pii_entities_config', entity], 'cannot', `there is no filter for ${entity}`)
      else filters.push({ slug, action: action === 'BLOCK' ? 'block' : 'redact', ...side })
    }
    if (Object.keys(entities).length === 0) for (const slug of Object.values(ENTITIES)) filters.push({ slug, action: 'redact', ...side })
  } else if (kind === 'hide-secrets' || kind === 'hide_secrets') filters.push({ slug: 'secrets', action: 'redact', ...side })
  if (filters.length === 0) {
    report(path, 'cannot', `guardrail ${name}: ${kind} is an external service's; a moderation endpoint can ask it`)
    return []
  }
  report(
    path,
    'changed',
    `guardrail ${name}: filters of our own for the same${params['default_on'] === true ? '; assign it, or put it into the default guardrail' : '; assign it to keys'}`,
  )
  return [{ name, content_filter_builtins: filters }]
}

const RESETS: Readonly<Record<string, string>> = {
  '1d': 'daily',
  '24h': 'daily',
  '7d': 'weekly',
  '1w': 'weekly',
  '30d': 'monthly',
  '1mo': 'monthly',
}

const KEY_SAID: Readonly<Record<string, string>> = {
  team_id: 'a team is a workspace here: make it, and the key in it',
  max_parallel_requests: 'max_parallel_requests: how much runs at once is limited for the service, not by key',
  model_max_budget: 'model_max_budget: a budget is that of a key, a workspace or a guardrail, not of a model',
  guardrails: 'guardrails: assign the guardrail to the key',
}

/** LiteLLM lists every member of a key, most of them empty. */
const isSet = (value: JsonValue | undefined): boolean =>
  value != null && (typeof value === 'object' ? Object.keys(value).length > 0 : value !== '')

const keyOf = (entry: JsonObject, path: Path, report: Report): PlannedKey => {
  const name = [entry['key_alias'], entry['key_name'], entry['token']].find((one) => typeof one === 'string')
  const { max_budget: budget, budget_duration: duration, rpm_limit: rpm, tpm_limit: tpm, expires, blocked } = entry
  const reset = typeof duration === 'string' ? RESETS[duration] : undefined
  if (typeof duration === 'string' && reset === undefined)
    report([...path, 'budget_duration'], 'changed', `a budget is daily, weekly, monthly or for life; ${duration} becomes for life`)
  if (Array.isArray(entry['models']) && entry['models'].length > 0)
    report([...path, 'models'], 'cannot', 'models of a key are a guardrail here: allowed_models')
  for (const [member, says] of Object.entries(KEY_SAID)) if (isSet(entry[member])) report([...path, member], 'cannot', says)
  report(path, 'changed', `limits of the key ${JSON.stringify(name)}; the key itself cannot be moved, clients need a new one`)
  const limits = {
    limit: budget,
    limit_reset: reset,
    rpm_limit: rpm,
    tpm_limit: tpm,
    expires_at: expires,
    disabled: blocked === true ? true : undefined,
  }
  return {
    name: wordIn(name).slice(0, 200),
    limits: Object.fromEntries(
      Object.entries(limits).flatMap(([field, value]): [string, JsonValue][] => (value == null ? [] : [[field, value]])),
    ),
  }
}
