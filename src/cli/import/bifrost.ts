/** Bifrost's config.json: providers with their keys, and its governance rules for virtual keys. */
import { SettingError } from '../../config.ts'
import { isObject, type JsonObject, type JsonValue, objectsIn, textOf } from '../../lib/json.ts'
import { objectIn, wordIn } from './members.ts'
import type { ImportReader, Path, PlannedKey } from './import-plan.ts'
import { dialectsOf, keyVariable, providerOf, slugOf } from './names.ts'

type Report = Parameters<ImportReader>[1]

export const readBifrost: ImportReader = (value, report) => {
  if (!isObject(value) || !(isObject(value['providers']) || isObject(value['governance'])))
    throw new SettingError('the file is no configuration of Bifrost: expected "providers" or "governance".')
  const config = value as JsonObject
  const providers: Record<string, JsonValue> = {}
  for (const [word, entry] of Object.entries(objectIn(config['providers']))) {
    const made = providerEntryOf(word, objectIn(entry), ['providers', word], report)
    if (made !== null) providers[made.slug] = made.entry
  }
  const governance = objectIn(config['governance'])
  for (const section of Object.keys(config)) if (!SECTIONS.has(section)) report([section], 'cannot', `${section} has no counterpart`)
  for (const section of Object.keys(governance))
    if (!GOVERNANCE.has(section)) report(['governance', section], 'cannot', `${section} has no counterpart`)
  const keys = objectsIn(governance['virtual_keys'])
  return {
    keys: keys.map((entry, at) => keyOf(entry, governance, ['governance', 'virtual_keys', at], report)),
    guardrails: keys.flatMap((entry, at) => guardrailOf(entry, ['governance', 'virtual_keys', at], report)),
    file: Object.keys(providers).length === 0 ? {} : { providers },
  }
}

const SECTIONS: ReadonlySet<string> = new Set(['$schema', 'providers', 'governance', 'version'])
const GOVERNANCE: ReadonlySet<string> = new Set(['virtual_keys', 'budgets', 'rate_limits'])

const providerEntryOf = (word: string, entry: JsonObject, path: Path, report: Report): { slug: string; entry: JsonObject } | null => {
  const network = objectIn(entry['network_config'])
  const custom = objectIn(entry['custom_provider_config'])
  const known = providerOf(word) ?? providerOf(wordIn(custom['base_provider_type'] ?? ''))
  const base = typeof network['base_url'] === 'string' ? network['base_url'].replace(/\/+$/, '') : null
  if (known === null && base === null) {
    report(path, 'cannot', `the provider ${word} is not known here, and has no base_url`)
    return null
  }
  const slug = providerOf(word) ?? slugOf(word.toLowerCase())
  const given = objectsIn(entry['keys'])
  const taken = new Set(given.flatMap((key) => namedVariable(key) ?? []))
  const keys = given.flatMap((key, at) => keyText(key, slug, taken, [...path, 'keys', at], report))
  const unique = [...new Set(keys)]
  for (const name of Object.keys(network))
    if (name !== 'base_url')
      report([...path, 'network_config', name], 'changed', `${name}: time limits and retries are those of the service`)
  for (const name of Object.keys(entry)) if (!PROVIDER_MEMBERS.has(name)) report([...path, name], 'cannot', `${name} has no counterpart`)
  report(path, 'taken', `provider ${word}${slug === word ? '' : ` as ${slug}`} with ${unique.length} key${unique.length === 1 ? '' : 's'}`)
  const isListed = providerOf(word) !== null
  return {
    slug,
    entry: {
      ...(isListed ? {} : { dialects: [...dialectsOf(known ?? slug)] }),
      ...(base === null ? {} : { base_url: known === 'openai' && !/\/v\d+$/.test(base) ? `${base}/v1` : base }),
      ...(unique.length === 0 ? {} : { api_key: unique.length === 1 ? (unique[0] ?? '') : unique }),
    },
  }
}

const PROVIDER_MEMBERS: ReadonlySet<string> = new Set(['keys', 'network_config', 'custom_provider_config'])

const KEY_MEMBERS: ReadonlySet<string> = new Set(['id', 'name', 'value', 'models', 'weight', 'enabled'])

const textOfKey = ({ value }: JsonObject): string => textOf(isObject(value) ? (value['env_var'] ?? value['value']) : value)

const namedVariable = (key: JsonObject): string | undefined => /^env\.([A-Za-z_][A-Za-z0-9_]*)$/.exec(textOfKey(key))?.[1]

/** `env.NAME` becomes `${NAME}`; a literal key in the file is not copied, and gets a variable that is not in `taken`. */
const keyText = (key: JsonObject, provider: string, taken: Set<string>, path: Path, report: Report): readonly string[] => {
  if (Array.isArray(key['models']) && key['models'].length > 0 && key['models'][0] !== '*')
    report([...path, 'models'], 'cannot', 'a provider key serves all models of its provider')
  if (typeof key['weight'] === 'number' && key['weight'] !== 1)
    report([...path, 'weight'], 'changed', 'keys of a provider take turns; there is no weight')
  for (const name of Object.keys(key))
    if (!KEY_MEMBERS.has(name))
      report(
        [...path, name],
        'cannot',
        `${name} has no counterpart: a provider has an address (base_url) and keys that are one text (${keyVariable(provider)})`,
      )
  if (textOfKey(key) === '') return []
  const named = namedVariable(key)
  if (named !== undefined) return [`\${${named}}`]
  let variable = keyVariable(provider)
  for (let number = 2; taken.has(variable); number += 1) variable = `${keyVariable(provider)}_${number}`
  taken.add(variable)
  report([...path, 'value'], 'changed', `the key stands in the file as it is: set the variable ${variable} to it`)
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

const keyOf = (entry: JsonObject, governance: JsonObject, path: Path, report: Report): PlannedKey => {
  const name = typeof entry['name'] === 'string' ? entry['name'] : wordIn(entry['id'])
  const limits: Record<string, JsonValue> = {}
  const budget = linked(entry, 'budget', 'budgets', governance)
  if (typeof budget?.['max_limit'] === 'number') {
    limits['limit'] = budget['max_limit']
    const reset = RESETS[wordIn(budget['reset_duration'])]
    if (reset === undefined)
      report(path, 'changed', `a budget is daily, weekly, monthly or for life; ${wordIn(budget['reset_duration'])} becomes for life`)
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
    else report(path, 'cannot', `a limit of ${most} ${theirs}s every ${every}: limits are by the minute`)
  }
  if (entry['is_active'] === false) limits['disabled'] = true
  for (const owner of ['team_id', 'customer_id'])
    if (entry[owner] != null) report([...path, owner], 'cannot', 'teams and customers are workspaces here')
  report(path, 'changed', `limits of the key ${JSON.stringify(name)}; the key itself cannot be moved, clients need a new one`)
  return { name, limits }
}

/** Found by its id, or embedded in the entry. */
const linked = (entry: JsonObject, name: string, list: string, governance: JsonObject): JsonObject | undefined =>
  isObject(entry[name])
    ? entry[name]
    : (objectsIn(entry[list])[0] ?? objectsIn(governance[list]).find(({ id }) => id !== undefined && id === entry[`${name}_id`]))

const guardrailOf = (entry: JsonObject, path: Path, report: Report): readonly JsonObject[] => {
  const configs = objectsIn(entry['provider_configs'])
  if (configs.length === 0) return []
  const name = `${wordIn(entry['name'] ?? entry['id'])} may use`
  const providers = configs.flatMap(({ provider }) =>
    typeof provider === 'string' ? (providerOf(provider) ?? slugOf(provider.toLowerCase())) : [],
  )
  if (configs.some(({ allowed_models: models }) => Array.isArray(models) && models.length > 0 && models[0] !== '*'))
    report([...path, 'provider_configs'], 'cannot', 'models are allowed by their ids here: add allowed_models to the guardrail')
  report([...path, 'provider_configs'], 'changed', `guardrail ${JSON.stringify(name)}: allowed providers; assign it to the key`)
  return [{ name, allowed_providers: providers }]
}
