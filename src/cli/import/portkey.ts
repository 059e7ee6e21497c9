/** Portkey's configs: one, a list of them, or the answer of its API. */
import { SettingError } from '../../config.ts'
import { isObject, type JsonObject, type JsonValue, listOf, membersOf } from '../../lib/json/json.ts'
import { parseValue } from '../as-code/document-file.ts'
import { wordIn } from './members.ts'
import type { ImportReader, Place, PlannedPreset } from './import-plan.ts'
import { isNamed, isServed, keyVariable, modelIdOf, providerOf, uniqueSlug, unserved } from './names.ts'

export const readPortkey: ImportReader = (value, root, fileName) => {
  const slugs = new Set<string>()
  const configs = configsOf(value, root, fileName)
  if (configs.length === 0) throw new SettingError('the file holds no config of Portkey: expected "strategy" and "targets", or "provider".')
  const guardrails: JsonObject[] = []
  const presets = configs.flatMap(({ name, config, place }) => {
    guardrails.push(...guardrailsOf(name, config, place))
    return presetsOf(name, config, place, slugs)
  })
  return { presets, guardrails }
}

interface Named {
  readonly name: string
  readonly config: JsonObject
  readonly place: Place
}

const configsOf = (value: unknown, place: Place, name: string): readonly Named[] => {
  if (Array.isArray(value)) return value.flatMap((item: unknown, at) => configsOf(item, place.at(at), `${name}-${at + 1}`))
  if (!isObject(value)) return []
  const own = [value['name'], value['slug'], value['id']].find((one) => typeof one === 'string' && one !== '')
  const named = typeof own === 'string' ? own : name
  if (isObject(value['config']) || typeof value['config'] === 'string') {
    const inner: unknown = typeof value['config'] === 'string' ? parseValue('the config', value['config']) : value['config']
    return configsOf(inner, place.at('config'), named)
  }
  for (const list of ['data', 'configs'])
    if (typeof value[list] === 'object' && value[list] !== null) return configsOf(value[list], place.at(list), named)
  const isConfig = ['strategy', 'targets', 'provider', 'virtual_key', 'override_params'].some((sign) => sign in value)
  return isConfig ? [{ name: named, config: value as JsonObject, place }] : []
}

/** The provider and model that a target uses. `provider` is null if the client chooses it. */
interface Target {
  readonly provider: string | null
  readonly model: string | null
  readonly params: JsonObject
}

const presetsOf = (name: string, config: JsonObject, place: Place, slugs: Set<string>): readonly PlannedPreset[] => {
  const strategy = membersOf(config['strategy'])
  if (strategy['mode'] === 'conditional') return conditionalPresets(config, strategy, place, slugs)
  return presetOf({ name, place }, targetsOf(config, place), strategy, slugs)
}

const presetOf = (
  { name, place }: Pick<Named, 'name' | 'place'>,
  targets: readonly Target[],
  strategy: JsonObject,
  slugs: Set<string>,
): readonly PlannedPreset[] => {
  const [first] = targets
  if (first === undefined) {
    place.cannot(`${name}: none of its targets can be asked here`)
    return []
  }
  if (targets.some(({ params }) => JSON.stringify(params) !== JSON.stringify(first.params)))
    place.changed(`${name}: settings of the first target hold for all`)
  const models = targets.flatMap(({ model }) => model ?? [])
  const providers = [...new Set(targets.flatMap(({ provider }) => provider ?? []))]
  const nameless = models.length === 0 ? [] : targets.filter(({ model }) => model === null)
  for (const { provider } of nameless)
    place.cannot(`${name}: the target ${provider ?? ''} without a model is left out: add its model to the fallbacks of the preset`)
  const [model, ...fallbacks] = [...new Set(models)]
  const order = { order: providers, allow_fallbacks: strategy['mode'] === 'loadbalance' }
  if (models.length === 0) place.changed(`${name}: the client names the model; the preset holds the order of the providers`)
  const slug = uniqueSlug(name, slugs)
  place.taken(`${name}: preset ${slug}${model === undefined ? '' : ` for ${[model, ...fallbacks].join(', then ')}`}`)
  const config = {
    ...(model === undefined ? {} : { model }),
    ...(fallbacks.length === 0 ? {} : { models: fallbacks }),
    ...(models.length === 0 && providers.length > 0 ? { provider: order } : {}),
    ...first.params,
  } as JsonObject
  return [{ slug, ...(slug === name ? {} : { name }), versions: [{ shape: 'chat', systemPrompt: null, config }] }]
}

/** One preset for each model name that a condition asks for. */
const conditionalPresets = (config: JsonObject, strategy: JsonObject, place: Place, slugs: Set<string>): readonly PlannedPreset[] => {
  const targets = new Map(
    listOf(config['targets']).flatMap((target, at): [string, { target: JsonObject; place: Place }][] =>
      isObject(target) && typeof target['name'] === 'string' ? [[target['name'], { target, place: place.at('targets', at) }]] : [],
    ),
  )
  const around = cacheOf(config, place)
  const conditions = listOf(strategy['conditions'])
  if (typeof strategy['default'] === 'string')
    place.at('strategy', 'default').cannot(`a model that no condition names is served as it is, not by ${strategy['default']}`)
  return conditions.flatMap((condition, at) => {
    const query = isObject(condition) ? membersOf(condition['query']) : {}
    const asked = isObject(query['params.model']) ? query['params.model']['$eq'] : undefined
    const then = isObject(condition) ? targets.get(wordIn(condition['then'])) : undefined
    if (typeof asked !== 'string' || Object.keys(query).length !== 1 || then === undefined) {
      place.at('strategy', 'conditions', at).cannot('only a condition that the model equals a name can be kept: as a preset of that name')
      return []
    }
    const inner = isObject(then.target['strategy']) ? then.target['strategy'] : {}
    return presetOf({ name: asked, place: then.place }, targetsOf(then.target, then.place, around), inner, slugs)
  })
}

/**
 * In the order in which they are asked; nested targets take the place of their parent. `outer` are
 * settings of the enclosing config, which apply here too.
 */
const targetsOf = (config: JsonObject, place: Place, outer: JsonObject = {}): readonly Target[] => {
  reportMembers(config, place)
  const around = { ...outer, ...cacheOf(config, place) }
  const { targets } = config
  if (!Array.isArray(targets)) return [targetOf(config, place, around)].filter((target) => target !== null)
  const strategy = membersOf(config['strategy'])
  if (strategy['mode'] === 'loadbalance')
    place.at('strategy').changed('weights become an order: the heaviest is asked first, the others where it fails')
  const weighted = (targets as readonly JsonValue[]).map((target, at) => ({
    target,
    at,
    weight: isObject(target) && typeof target['weight'] === 'number' ? target['weight'] : 1,
  }))
  const ordered = strategy['mode'] === 'loadbalance' ? weighted.toSorted((a, b) => b.weight - a.weight) : weighted
  return ordered.flatMap(({ target, at }) => (isObject(target) ? targetsOf(target, place.at('targets', at), around) : []))
}

const targetOf = (config: JsonObject, place: Place, around: JsonObject): Target | null => {
  if (config['custom_host'] !== undefined) return place.at('custom_host').cannot(OWN_HOST)
  const params = membersOf(config['override_params'])
  const { model: asked, ...settings } = params
  const at = typeof asked === 'string' ? /^@([^/]+)\/(.+)$/.exec(asked) : null
  const word = wordIn(config['provider'] ?? '').replace(/^@/, '') || (at?.[1] ?? '')
  const upstream = at?.[2] ?? (typeof asked === 'string' ? asked : null)
  const virtualKey = wordIn(config['virtual_key'])
  const provider = word === '' ? providerAtStart(virtualKey) : (providerOf(word) ?? providerAtStart(word))
  if (word === '' && provider !== null)
    place.at('virtual_key').changed(`the virtual key ${virtualKey} is taken for one of ${provider}, by its name`)
  if (word !== '' && provider === null)
    return place.at('provider').cannot(`the provider ${word} is not known here; add it to your file, then name its model`)
  if (provider === null && upstream === null)
    return place.cannot('the target names neither a provider nor a model: a virtual key alone says neither')
  if (provider !== null) place.changed(`the key of ${provider} is the variable ${keyVariable(provider)} here`)
  const model = upstream === null || provider === null ? upstream : modelIdOf(provider, upstream)
  if (model !== null && (provider === null ? !isNamed(model) : !isServed(provider, model)))
    place.at('override_params', 'model').changed(unserved(model))
  return { provider, model, params: { ...around, ...settings } }
}

const OWN_HOST =
  'the target asks an address of its own, and is left out: add a provider with this base_url to your patchbay.yaml, then its model to the preset'

/** Portkey's slugs are chosen by people, who begin them with the provider more often than not. */
const providerAtStart = (slug: string): string | null => providerOf(slug) ?? providerOf(slug.split('-')[0] ?? '')

const TTL_MAX_SECONDS = 86_400

/** Portkey keeps answers for seven days if no lifetime is set. */
const cacheOf = (config: JsonObject, place: Place): JsonObject => {
  const { cache } = config
  if (cache === undefined) return {}
  const { mode, max_age: seconds } = membersOf(cache)
  const where = place.at('cache')
  if (mode !== 'simple' && mode !== 'semantic') {
    where.cannot('this mode of the cache has no counterpart')
    return {}
  }
  const isWithin = typeof seconds === 'number' && seconds >= 1 && seconds <= TTL_MAX_SECONDS
  const ttl = isWithin ? Math.floor(seconds) : TTL_MAX_SECONDS
  if (mode === 'semantic') where.changed(`the same request is answered from the cache for ${ttl} s; one that is alike is not`)
  else if (isWithin) where.taken(`the response cache, for ${ttl} s`)
  else where.changed(`the response cache, for ${ttl} s: a day is the longest here`)
  return { cache_enabled: true, cache_ttl_seconds: ttl }
}

const reportMembers = (config: JsonObject, place: Place): void => {
  place.change(config, MEMBERS)
  if (membersOf(config['strategy'])['on_status_codes'] !== undefined)
    place.at('strategy', 'on_status_codes').changed('a failure moves on by its cause, not by a list of statuses')
}

const MEMBERS: Readonly<Record<string, string | null>> = {
  strategy: null,
  targets: null,
  provider: null,
  virtual_key: null,
  api_key: null,
  override_params: null,
  weight: null,
  name: null,
  slug: null,
  id: null,
  input_guardrails: null,
  output_guardrails: null,
  before_request_hooks: null,
  after_request_hooks: null,
  retry: 'a failure moves on to the next key, provider and model by its cause; there is no number to set',
  request_timeout: 'time limits are in the file: timeouts.total',
  cache: null,
  custom_host: null,
}

const SIDES = {
  input_guardrails: 'input',
  before_request_hooks: 'input',
  output_guardrails: 'output',
  after_request_hooks: 'output',
} as const

const guardrailsOf = (name: string, config: JsonObject, place: Place): readonly JsonObject[] => {
  const filters: JsonObject[] = []
  for (const [member, side] of Object.entries(SIDES)) {
    for (const [at, entry] of listOf(config[member]).entries()) {
      const where = place.at(member, at)
      const made = isObject(entry) ? filtersOf(entry, side) : []
      if (made.length === 0) where.cannot('this check has no counterpart; one that is named by an id is not in the file')
      else where.taken(`a filter of the guardrail ${name}; assign it to keys`)
      filters.push(...made)
    }
  }
  const inner = listOf(config['targets']).flatMap((target, at) =>
    isObject(target) ? guardrailsOf(`${name} ${at + 1}`, target, place.at('targets', at)) : [],
  )
  return [...(filters.length === 0 ? [] : [{ name, content_filters: filters }]), ...inner]
}

const filtersOf = (entry: JsonObject, side: string): JsonObject[] => {
  const action = entry['deny'] === true ? 'block' : 'flag'
  const words = isObject(entry['default.contains']) ? entry['default.contains'] : {}
  const rule = isObject(entry['default.regexMatch']) ? entry['default.regexMatch']['rule'] : undefined
  const listed = Array.isArray(words['words'])
    ? (words['words'] as readonly JsonValue[]).filter((word) => typeof word === 'string' && word !== '')
    : []
  return [
    ...(listed.length > 0 && words['operator'] === 'none'
      ? [{ pattern: listed.map((word) => escaped(wordIn(word))).join('|'), action, applies_to: side }]
      : []),
    ...(typeof rule === 'string' ? [{ pattern: rule, action, applies_to: side }] : []),
  ]
}

const escaped = (word: string): string => word.replace(/[.*+?^${}()|[\]\\/]/g, '\\$&')
