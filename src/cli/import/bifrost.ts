/** Bifrost's config.json: providers with their keys, and its governance rules for virtual keys. */
import { SettingError } from '../../config.ts'
import { isObject, type JsonObject, type JsonValue, membersOf, objectsIn, textOf } from '../../lib/json/json.ts'
import { wordIn } from './members.ts'
import type { ImportReader, Place, PlannedKey } from './import-plan.ts'
import { addressOfProvider, anyModelOf, azureAddress, dialectsOf, keyVariable, providerOf, slugOf } from './names.ts'
import { wordSet } from '../../lib/text/word-set.ts'

export const readBifrost: ImportReader = (value, root) => {
  if (!isObject(value) || !(isObject(value['providers']) || isObject(value['governance'])))
    throw new SettingError('the file is no configuration of Bifrost: expected "providers" or "governance".')
  const config = value as JsonObject
  const providers: Record<string, JsonValue> = {}
  const models: Record<string, JsonValue> = {}
  for (const [word, entry] of Object.entries(membersOf(config['providers']))) {
    const made = providerEntryOf(word, membersOf(entry), root.at('providers', word))
    if (made === null) continue
    providers[made.slug] = made.entry
    Object.assign(models, made.models)
  }
  const governance = membersOf(config['governance'])
  root.leaveOut(config, SECTIONS)
  root.at('governance').leaveOut(governance, GOVERNANCE, GOVERNANCE_SAID)
  const keys = objectsIn(governance['virtual_keys'])
  return {
    keys: keys.map((entry, at) => keyOf(entry, governance, root.at('governance', 'virtual_keys', at))),
    guardrails: keys.flatMap((entry, at) => guardrailOf(entry, root.at('governance', 'virtual_keys', at))),
    file: {
      ...(Object.keys(providers).length === 0 ? {} : { providers }),
      ...(Object.keys(models).length === 0 ? {} : { models }),
    },
  }
}

const SECTIONS: ReadonlySet<string> = new Set(['$schema', 'providers', 'governance', 'version'])
const GOVERNANCE: ReadonlySet<string> = new Set(['virtual_keys', 'budgets', 'rate_limits'])
const GOVERNANCE_SAID: Readonly<Record<string, string>> = {
  teams: 'teams and customers are workspaces here',
  customers: 'teams and customers are workspaces here',
  routing_rules: 'routing_rules: a preset has models and providers in order, and a rollout splits requests',
}

interface Made {
  readonly slug: string
  readonly entry: JsonObject
  /** Models of the file: names of deployments that differ from the model's. */
  readonly models: JsonObject
}

const providerEntryOf = (word: string, entry: JsonObject, place: Place): Made | null => {
  const network = membersOf(entry['network_config'])
  const custom = membersOf(entry['custom_provider_config'])
  const listed = providerOf(word)
  const known = listed ?? providerOf(wordIn(custom['base_provider_type'] ?? ''))
  const slug = listed ?? slugOf(word.toLowerCase())
  const keys = objectsIn(entry['keys']).flatMap((key, at) => {
    if (key['enabled'] !== false) return { key, at }
    place.at('keys', at).cannot(`the key ${wordIn(key['name'])} is disabled, and is left out`)
    return []
  })
  const base = typeof network['base_url'] === 'string' ? environmentText(network['base_url']) : addressIn(keys, place.at('keys'))
  if (known === null && base === null) return place.cannot(`the provider ${word} is not known here, and has no base_url`)
  const taken = new Set(keys.flatMap(({ key }) => namedVariables(key) ?? []))
  const unique = [...new Set(keys.flatMap(({ key, at }) => keyText(key, slug, taken, place.at('keys', at))))]
  const limits = Object.keys(network).filter((name) => /timeout|retr|conns|idle/.test(name))
  const limitsSaid = Object.fromEntries(limits.map((name) => [name, `${name}: time limits and retries are those of the service`]))
  place.at('network_config').change(network, { base_url: null, ...limitsSaid })
  place.at('custom_provider_config').leaveOut(custom, CUSTOM_MEMBERS)
  place.leaveOut(entry, PROVIDER_MEMBERS)
  if (slug === 'azure' && base === null)
    place.changed('set AZURE_OPENAI_BASE_URL to the address of your resource, such as https://NAME.openai.azure.com/openai/v1')
  if (slug === 'azure' && base?.startsWith('${') === true)
    place.changed(`the variable in ${base} must hold an address without a path: /openai/v1 follows it`)
  if (slug !== word) place.changed(`${word}/NAME is called ${slug}/NAME here`)
  place.taken(`provider ${word}${slug === word ? '' : ` as ${slug}`} with ${unique.length} key${unique.length === 1 ? '' : 's'}`)
  const usual = listed === null && known !== null ? addressOfProvider(known) : null
  const address = base === null ? usual : addressOf(base, known)
  return {
    slug,
    models: Object.fromEntries(keys.flatMap(({ key, at }) => deploymentsOf(key, slug, place.at('keys', at)))),
    entry: {
      ...(listed !== null ? {} : { dialects: [...dialectsOf(known ?? slug)] }),
      ...(address === null ? {} : { base_url: address }),
      ...(unique.length === 0 ? {} : { api_key: unique.length === 1 ? (unique[0] ?? '') : unique }),
      ...anyModelOf(slug),
    },
  }
}

const PROVIDER_MEMBERS: ReadonlySet<string> = new Set(['keys', 'network_config', 'custom_provider_config'])
const CUSTOM_MEMBERS: ReadonlySet<string> = new Set(['base_provider_type', 'is_key_less'])

/** Bifrost puts the version into the path; here it belongs to the address, but not to that of Google. */
const addressOf = (base: string, known: string | null): string => {
  const trimmed = base.replace(/\/+$/, '')
  if (known === 'azure') return azureAddress(trimmed)
  if (known === 'google') return trimmed.replace(/\/v1(?:beta)?$/, '')
  const isVersioned = known === 'perplexity' || /\/v\d+$/.test(trimmed)
  return !isVersioned && dialectsOf(known ?? '').includes('openai-chat') ? `${trimmed}/v1` : trimmed
}

/** `env.NAME` becomes `${NAME}`. */
const environmentText = (value: string): string => value.replace(/^env\.([A-Za-z_][A-Za-z0-9_]*)$/, '${$1}')

/** Null if no key has an address, or if their addresses differ: a provider has one. */
const addressIn = (keys: readonly { readonly key: JsonObject }[], place: Place): string | null => {
  const found = new Set(
    keys.flatMap(({ key }) =>
      ADDRESSES.flatMap(([config, member]) => {
        const given = environmentText(textOfValue(membersOf(key[config])[member]))
        if (given === '') return []
        return config === 'bedrock_key_config' ? `https://bedrock-runtime.${given}.amazonaws.com` : given
      }),
    ),
  )
  const [first = null, second] = found
  if (second === undefined) return first
  return place.cannot(`the keys have ${found.size} addresses: make one provider for each in your file, with its base_url and its keys`)
}

const ADDRESSES = [
  ['azure_key_config', 'endpoint'],
  ['bedrock_key_config', 'region'],
  ['ollama_key_config', 'url'],
  ['vllm_key_config', 'url'],
  ['sgl_key_config', 'url'],
] as const

/** Members of `…_key_config` that are read; the others are reported. */
const CONFIG_MEMBERS: ReadonlySet<string> = wordSet('endpoint url deployments api_version access_key secret_key session_token region')

/** A deployment with the name of its model is reached by that name. */
const deploymentsOf = (key: JsonObject, slug: string, place: Place): readonly [string, JsonValue][] =>
  Object.entries(key).flatMap(([config, value]) =>
    Object.entries(config.endsWith('_key_config') ? membersOf(membersOf(value)['deployments']) : {}).flatMap(
      ([model, deployment]): [string, JsonValue][] => {
        if (typeof deployment !== 'string' || deployment === model) return []
        place.at(config, 'deployments', model).changed(`${slug}/${model} is the deployment ${deployment}: add its prices in your file`)
        return [[`${slug}/${model}`, { endpoints: [{ provider: slug, model: deployment }] }]]
      },
    ),
  )

const KEY_MEMBERS: ReadonlySet<string> = new Set(['id', 'name', 'value', 'models', 'weight', 'enabled'])

/** A value is a text, or an object that says where it comes from. */
const textOfValue = (value: JsonValue | undefined): string => {
  if (!isObject(value)) return textOf(value)
  const variable = textOf(value['env_var'])
  return variable === '' ? textOf(value['value']) : `env.${variable.replace(/^env\./, '')}`
}

/** The key, or the parts of an AWS key pair, which is one text here. */
const partsOfKey = (key: JsonObject): readonly string[] => {
  const own = textOfValue(key['value'])
  const aws = membersOf(key['bedrock_key_config'])
  const pair = ['access_key', 'secret_key', 'session_token'].map((name) => textOfValue(aws[name])).filter((part) => part !== '')
  if (own !== '') return [own]
  return pair.length > 1 ? pair : []
}

const namedVariables = (key: JsonObject): readonly string[] | undefined => {
  const names = partsOfKey(key).map((part) => /^env\.([A-Za-z_][A-Za-z0-9_]*)$/.exec(part)?.[1])
  return names.every((name) => name !== undefined) ? names : undefined
}

/** `env.NAME` becomes `${NAME}`; a literal key in the file is not copied, and gets a variable that is not in `taken`. */
const keyText = (key: JsonObject, provider: string, taken: Set<string>, place: Place): readonly string[] => {
  if (Array.isArray(key['models']) && key['models'].length > 0 && key['models'][0] !== '*')
    place.at('models').cannot('a provider key serves all models of its provider')
  if (typeof key['weight'] === 'number' && key['weight'] !== 1)
    place.at('weight').changed('keys of a provider take turns; there is no weight')
  for (const name of Object.keys(key))
    if (name.endsWith('_key_config')) {
      for (const member of Object.keys(membersOf(key[name])))
        if (!CONFIG_MEMBERS.has(member))
          place
            .at(name, member)
            .cannot(
              `${member} has no counterpart: a provider has an address (base_url) and keys that are one text (${keyVariable(provider)})`,
            )
    } else if (!KEY_MEMBERS.has(name)) place.at(name).cannot(`${name} has no counterpart`)
  const parts = partsOfKey(key)
  if (parts.length === 0) return []
  const named = namedVariables(key)
  if (named !== undefined) return [named.map((name) => `\${${name}}`).join(':')]
  let variable = keyVariable(provider)
  for (let number = 2; taken.has(variable); number += 1) variable = `${keyVariable(provider)}_${number}`
  taken.add(variable)
  place
    .at('value')
    .changed(
      `the key stands in the file as it is: set the variable ${variable} to ${parts.length > 1 ? 'ACCESS_KEY_ID:SECRET_ACCESS_KEY' : 'it'}`,
    )
  return [`\${${variable}}`]
}

const RESETS: Readonly<Record<string, string>> = {
  '1d': 'daily',
  '24h': 'daily',
  '1w': 'weekly',
  '7d': 'weekly',
  '1M': 'monthly',
  '30d': 'monthly',
}

const keyOf = (entry: JsonObject, governance: JsonObject, place: Place): PlannedKey => {
  const name = typeof entry['name'] === 'string' ? entry['name'] : wordIn(entry['id'])
  const limits: Record<string, JsonValue> = {}
  const budget = linked(entry, 'budget', 'budgets', governance)
  if (typeof budget?.['max_limit'] === 'number') {
    limits['limit'] = budget['max_limit']
    const reset = RESETS[wordIn(budget['reset_duration'])]
    if (reset === undefined)
      place.changed(`a budget is daily, weekly, monthly or for life; ${wordIn(budget['reset_duration'])} becomes for life`)
    else limits['limit_reset'] = reset
  }
  const rate = linked(entry, 'rate_limit', 'rate_limits', governance)
  for (const [ours, theirs] of [
    ['rpm_limit', 'request'],
    ['tpm_limit', 'token'],
  ] as const) {
    const most = rate?.[`${theirs}_max_limit`]
    if (typeof most !== 'number') continue
    const every = wordIn(rate?.[`${theirs}_reset_duration`])
    if (every === '1m') limits[ours] = most
    else place.cannot(`a limit of ${most} ${theirs}s every ${every}: limits are by the minute`)
  }
  if (entry['is_active'] === false) limits['disabled'] = true
  if (objectsIn(entry['budgets']).length > 1) place.at('budgets').cannot('a key has one limit here: the first budget is kept')
  place.leaveOut(entry, VIRTUAL_KEY_MEMBERS)
  for (const owner of ['team_id', 'customer_id'])
    if (entry[owner] != null) place.at(owner).cannot('teams and customers are workspaces here')
  place.changed(`limits of the key ${JSON.stringify(name)}; the key itself cannot be moved, clients need a new one`)
  return { name, limits }
}

const VIRTUAL_KEY_MEMBERS: ReadonlySet<string> = wordSet(`
  id name value description is_active budget budgets budget_id rate_limit rate_limit_id provider_configs team_id
  customer_id
`)

/** Found by its id, or embedded in the entry. */
const linked = (entry: JsonObject, name: string, list: string, governance: JsonObject): JsonObject | undefined =>
  isObject(entry[name])
    ? entry[name]
    : (objectsIn(entry[list])[0] ?? objectsIn(governance[list]).find(({ id }) => id !== undefined && id === entry[`${name}_id`]))

const guardrailOf = (entry: JsonObject, place: Place): readonly JsonObject[] => {
  const configs = objectsIn(entry['provider_configs'])
  if (configs.length === 0) return []
  const name = `${wordIn(entry['name'] ?? entry['id'])} may use`
  const providers = configs.flatMap(({ provider }) =>
    typeof provider === 'string' ? (providerOf(provider) ?? slugOf(provider.toLowerCase())) : [],
  )
  if (configs.some(({ allowed_models: models }) => Array.isArray(models) && models.length > 0 && models[0] !== '*'))
    place.at('provider_configs').cannot('models are allowed by their ids here: add allowed_models to the guardrail')
  for (const [at, config] of configs.entries()) {
    const rest = ['weight', 'key_ids', 'budget', 'budgets', 'rate_limit'].filter((member) => config[member] !== undefined)
    if (rest.length > 0)
      place.at('provider_configs', at).cannot(`${rest.join(', ')} of a provider in a key: limits are those of the whole key`)
  }
  place.at('provider_configs').changed(`guardrail ${JSON.stringify(name)}: allowed providers; assign it to the key`)
  return [{ name, allowed_providers: providers }]
}
