/** LiteLLM's config.yaml, and the keys that its `GET /key/list?return_full_object=true` returns. */
import { SettingError } from '../../config.ts'
import { scaledDecimal } from '../../lib/decimal.ts'
import { isObject, type JsonObject, type JsonValue, listOf, objectsIn } from '../../lib/json.ts'
import { dollars } from '../../lib/money.ts'
import { objectIn, wordIn } from './members.ts'
import type { ImportReader, Path, PlannedKey, PlannedPreset } from './import-plan.ts'
import { dialectsOf, isServed, keyVariable, modelIdOf, providerOf, slugOf } from './names.ts'

type Report = Parameters<ImportReader>[1]

export const readLitellmConfig: ImportReader = (value, report) => {
  if (!isObject(value) || !(Array.isArray(value['model_list']) || Array.isArray(value['keys'])))
    throw new SettingError('the file is no configuration of LiteLLM: expected "model_list", or "keys" of GET /key/list.')
  const config = value as JsonObject
  const groups = groupsOf(objectsIn(config['model_list']), report)
  const file = fileOf(groups, config, report)
  for (const section of Object.keys(config)) if (!SECTIONS.has(section)) report([section], 'cannot', `${section} has no counterpart`)
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
  'guardrails',
  'keys',
  'total_count',
  'current_page',
  'total_pages',
])

/** A deployment that serves one of LiteLLM's public names. */
interface Deployment {
  readonly provider: string
  /** The entry for the operator's file, if the catalogue's own provider is not enough. */
  readonly providerEntry: JsonObject | null
  readonly upstreamModel: string
  readonly prices: JsonObject | null
  readonly isEmbedding: boolean
  readonly params: JsonObject
  readonly path: Path
}

type Groups = ReadonlyMap<string, readonly Deployment[]>

const groupsOf = (list: readonly JsonObject[], report: Report): Groups => {
  const groups = new Map<string, Deployment[]>()
  const places = new Map<string, string>()
  for (const [at, entry] of list.entries()) {
    const path: Path = ['model_list', at]
    const name = entry['model_name']
    const params = objectIn(entry['litellm_params'])
    if (typeof name !== 'string' || typeof params['model'] !== 'string') {
      report(path, 'cannot', 'needs model_name and litellm_params.model')
      continue
    }
    if (name.includes('*')) {
      report(path, 'changed', `${name}: every model of an enabled provider answers to its id; no entry is needed`)
      continue
    }
    const info = objectIn(entry['model_info'])
    const mode = wordIn(info['mode'] ?? '')
    if (mode !== '' && !MODES.has(mode)) {
      report([...path, 'model_info', 'mode'], 'cannot', `${name}: ${mode} is not served here`)
      continue
    }
    const deployment = deploymentOf(params, info, path, places, report)
    if (deployment !== null) groups.set(name, [...(groups.get(name) ?? []), deployment])
  }
  return groups
}

/** Modes of models that are reached by a preset, and `embedding`, which is reached by the id of the model. */
const MODES: ReadonlySet<string> = new Set(['chat', 'completion', 'responses', 'embedding'])

/** `places` maps each address and key seen so far to its slug. */
const deploymentOf = (params: JsonObject, info: JsonObject, path: Path, places: Map<string, string>, report: Report): Deployment | null => {
  const model = wordIn(params['model'])
  const slash = model.indexOf('/')
  const custom = typeof params['custom_llm_provider'] === 'string' ? params['custom_llm_provider'] : null
  const word = custom ?? (slash < 0 ? 'openai' : model.slice(0, slash))
  const known = providerOf(word)
  const upstreamModel = custom === null && slash >= 0 ? model.slice(slash + 1) : model
  const base = textOf(params['api_base'] ?? params['base_url'])
  if (known === null && base === null) {
    report(
      [...path, 'litellm_params', 'model'],
      'cannot',
      `the provider ${word} is not known here; give it an api_base that speaks Chat Completions`,
    )
    return null
  }
  const provider = known ?? slugOf(word.toLowerCase())
  const given = textOf(params['api_key'])
  const isLiteral = given !== null && !given.startsWith('${')
  const place = `${provider} ${base ?? ''} ${given ?? ''}`
  const isUsual = given === null || given === variableText(provider) || (isLiteral && !isTaken(provider, places))
  const slug = places.get(place) ?? (base === null && known !== null && isUsual ? provider : freeSlug(provider, base, places))
  places.set(place, slug)
  // The variable is that of the slug: a key of one address must not be the key that is sent to another.
  const key = isLiteral ? variableText(slug) : given
  if (isLiteral)
    report(
      [...path, 'litellm_params', 'api_key'],
      'changed',
      `the key stands in the file as it is: set the variable ${keyVariable(slug)} to it`,
    )
  const entry =
    slug === provider
      ? null
      : {
          dialects: [...dialectsOf(provider)].filter((dialect) => base === null || known !== 'openai' || dialect === 'openai-chat'),
          ...(base === null ? {} : { base_url: addressOf(base, provider, params, path, report) }),
          ...(key === null ? {} : { api_key: key }),
        }
  return {
    provider: slug,
    providerEntry: entry,
    upstreamModel,
    prices: pricesOf(info, params),
    isEmbedding: info['mode'] === 'embedding',
    params,
    path,
  }
}

const isTaken = (slug: string, places: ReadonlyMap<string, string>): boolean => [...places.values()].includes(slug)

const freeSlug = (provider: string, base: string | null, places: ReadonlyMap<string, string>): string => {
  const host = base === null ? null : (URL.parse(base)?.hostname ?? null)
  const label = host === null || /^[\d.]+$/.test(host) ? null : host.split('.')[0]
  const wanted = slugOf(`${provider}-${label ?? 'own'}`.toLowerCase())
  let free = wanted
  for (let number = 2; isTaken(free, places); number += 1) free = `${wanted}-${number}`
  return free
}

const addressOf = (base: string, provider: string, params: JsonObject, path: Path, report: Report): string => {
  if (params['api_version'] !== undefined)
    report([...path, 'litellm_params', 'api_version'], 'changed', "Azure's path /openai/v1 is used, which needs no api_version")
  const trimmed = base.replace(/\/+$/, '')
  // LiteLLM uses Ollama's own API, whose address has no path; Chat Completions are below /v1.
  if (provider === 'ollama' && !trimmed.endsWith('/v1')) return `${trimmed}/v1`
  return trimmed.endsWith('.openai.azure.com') ? `${trimmed}/openai/v1` : trimmed
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
const idOf = (name: string, deployments: readonly Deployment[]): string => {
  const [only] = deployments
  const own = `litellm/${slugOf(name.replaceAll('/', '-'))}`
  if (deployments.length !== 1 || only === undefined || only.providerEntry !== null || only.prices !== null) return own
  const id = modelIdOf(only.provider, only.upstreamModel)
  return isServed(only.provider, id) ? id : own
}

const fileOf = (groups: Groups, config: JsonObject, report: Report): JsonObject => {
  const providers: Record<string, JsonValue> = {}
  const models: Record<string, JsonValue> = {}
  for (const [name, deployments] of groups) {
    for (const { provider, providerEntry } of deployments) if (providerEntry !== null) providers[provider] = providerEntry
    const id = idOf(name, deployments)
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
  for (const [name, deployments] of groups) {
    const [first] = deployments
    if (first === undefined) continue
    const settings = Object.fromEntries(
      SETTINGS.flatMap((field): [string, JsonValue][] => (first.params[field] == null ? [] : [[field, first.params[field] ?? null]])),
    )
    for (const { params, path } of deployments) {
      for (const field of Object.keys(params))
        if (field === 'aws_region_name') report([...path, 'litellm_params', field], 'changed', regionSaid(params))
        else if (!NAMING.has(field)) report([...path, 'litellm_params', field], 'cannot', `${field} of a deployment has no counterpart`)
      if (params !== first.params && SETTINGS.some((field) => JSON.stringify(params[field]) !== JSON.stringify(first.params[field])))
        report(path, 'changed', `settings of the first deployment of ${name} hold for all`)
    }
    const id = idOf(name, deployments)
    if (deployments.some(({ isEmbedding }) => isEmbedding)) {
      report(first.path, 'changed', `${name}: a preset makes no embeddings; clients ask for the model ${id}`)
      continue
    }
    const slug = slugOf(name)
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
        presets.push({ slug: slugOf(alias), versions: [version] })
      }
  }
  return presets
}

const regionSaid = ({ aws_region_name: region }: JsonObject): string =>
  `the region is part of the address: set BEDROCK_BASE_URL to https://bedrock-runtime.${environmentText(wordIn(region))}.amazonaws.com`

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
        const deployments = typeof target === 'string' ? groups.get(target) : undefined
        if (typeof target === 'string' && deployments !== undefined) return idOf(target, deployments)
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
    [...groups].map(([name, deployments]) => {
      const ids = new Set([...(any.get(name) ?? any.get(EVERY) ?? []), ...(context.get(name) ?? [])])
      ids.delete(idOf(name, deployments))
      const [first] = deployments
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

const keyOf = (entry: JsonObject, path: Path, report: Report): PlannedKey => {
  const name = [entry['key_alias'], entry['key_name'], entry['token']].find((one) => typeof one === 'string')
  const { max_budget: budget, budget_duration: duration, rpm_limit: rpm, tpm_limit: tpm, expires, blocked } = entry
  const reset = typeof duration === 'string' ? RESETS[duration] : undefined
  if (typeof duration === 'string' && reset === undefined)
    report([...path, 'budget_duration'], 'changed', `a budget is daily, weekly, monthly or for life; ${duration} becomes for life`)
  if (Array.isArray(entry['models']) && entry['models'].length > 0)
    report([...path, 'models'], 'cannot', 'models of a key are a guardrail here: allowed_models')
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
