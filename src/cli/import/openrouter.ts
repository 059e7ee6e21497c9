/** The answers of OpenRouter's management API: presets, keys and guardrails, alone or together in one object. */
import { SettingError } from '../../config.ts'
import { createGuardrailBody } from '../../contract/guardrail.ts'
import { inSentences } from '../../contract/issue-sentence.ts'
import { faultsOf } from '../../contract/validate.ts'
import { type PresetShape } from '../../contract/preset.ts'
import { presetSlug } from '../../contract/preset-name.ts'
import { isObject, type JsonObject, type JsonValue, membersOf } from '../../lib/json/json.ts'
import { PERSISTED_FIELDS } from '../../request-fields/preset-fields.ts'
import { guardrailKind } from '../as-code/guardrail-kind.ts'
import { wordIn } from './members.ts'
import type { ImportReader, Place, PlannedKey, PlannedPreset } from './import-plan.ts'

export const readOpenrouter: ImportReader = (value, root) => {
  const presets: PlannedPreset[] = []
  const keys: PlannedKey[] = []
  const guardrails: JsonObject[] = []
  const entries = entriesOf(value, root)
  for (const { entry, place } of entries) {
    if (typeof entry['slug'] === 'string' && ('designated_version' in entry || 'designated_version_id' in entry)) {
      const preset = presetOf(entry, place)
      if (preset !== null) presets.push(preset)
    } else if (typeof entry['hash'] === 'string') keys.push(keyOf(entry, place))
    else if (typeof entry['name'] === 'string' && GUARDRAIL_SIGNS.some((sign) => sign in entry)) {
      const guardrail = guardrailOf(entry, place)
      if (guardrail !== null) guardrails.push(guardrail)
    } else place.cannot('this is neither a preset, a key nor a guardrail of OpenRouter')
  }
  if (entries.length === 0)
    throw new SettingError('the file holds no answer of OpenRouter: expected "data", or "presets", "keys" and "guardrails".')
  return { presets, keys, guardrails }
}

const LISTS = ['data', 'presets', 'keys', 'guardrails']

const entriesOf = (value: unknown, place: Place): readonly { entry: JsonObject; place: Place }[] => {
  if (Array.isArray(value)) return value.flatMap((item: unknown, at) => entriesOf(item, place.at(at)))
  if (!isObject(value)) return []
  const lists = LISTS.filter((list) => typeof value[list] === 'object' && value[list] !== null)
  return lists.length > 0 ? lists.flatMap((list) => entriesOf(value[list], place.at(list))) : [{ entry: value as JsonObject, place }]
}

const presetOf = (entry: JsonObject, place: Place): PlannedPreset | null => {
  const { slug, name, description, status } = entry
  const version = entry['designated_version']
  if (!presetSlug.safeParse(slug).success) return place.cannot(`the slug ${wordIn(slug)} is not a valid slug here`)
  if (status === 'archived') return place.cannot(`the preset ${wordIn(slug)} is archived`)
  if (!isObject(version))
    return place.cannot(`the list does not hold what the preset ${wordIn(slug)} is: export it with GET /presets/${wordIn(slug)}`)
  const config = membersOf(version['config'])
  const shape = shapeOf(config)
  const kept = Object.entries(config).filter(
    ([field, value]) => value !== null && (PERSISTED_FIELDS[shape].includes(field) || field === 'system'),
  )
  for (const field of Object.keys(config))
    if (config[field] !== null && !kept.some(([one]) => one === field))
      place.at('designated_version', 'config', field).cannot(`${field} is no setting that a preset keeps here`)
  const secret = JSON.stringify(config).includes('***')
  if (secret) place.at('designated_version', 'config').changed('a credential was hidden by the export: set it again')
  place.taken(`preset ${wordIn(slug)}`)
  return {
    slug: wordIn(slug),
    ...(typeof name === 'string' ? { name } : {}),
    ...(typeof description === 'string' ? { description } : {}),
    versions: [
      {
        shape,
        systemPrompt: typeof version['system_prompt'] === 'string' ? version['system_prompt'] : null,
        config: Object.fromEntries(kept),
      },
    ],
  }
}

/** The interface is recognised by the names of fields that only it has; most fields are the same in all. */
const shapeOf = (config: JsonObject): PresetShape => {
  const only = (shape: PresetShape, others: readonly PresetShape[]): boolean =>
    Object.keys(config).some(
      (field) => PERSISTED_FIELDS[shape].includes(field) && others.every((other) => !PERSISTED_FIELDS[other].includes(field)),
    )
  if (only('responses', ['chat', 'messages'])) return 'responses'
  return only('messages', ['chat', 'responses']) ? 'messages' : 'chat'
}

const LIMITS = ['limit', 'limit_reset', 'include_byok_in_limit', 'disabled', 'expires_at'] as const

const keyOf = (entry: JsonObject, place: Place): PlannedKey => {
  const name = typeof entry['name'] === 'string' ? entry['name'] : wordIn(entry['label'])
  const limits = Object.fromEntries(
    LIMITS.flatMap((field): [string, JsonValue][] =>
      entry[field] == null || entry[field] === false ? [] : [[field, entry[field] ?? null]],
    ),
  )
  place.changed(`limits of the key ${JSON.stringify(name)}; the key itself cannot be moved, clients need a new one`)
  return { name, limits }
}

const GUARDRAIL_SIGNS = ['allowed_models', 'allowed_providers', 'limit_usd', 'enforce_zdr', 'content_filters', 'content_filter_builtins']

const guardrailOf = (entry: JsonObject, place: Place): JsonObject | null => {
  const fields = Object.entries(entry).filter(
    ([field, value]) => value !== null && field in createGuardrailBody.shape && field !== 'workspace_id',
  )
  const given = Object.fromEntries(fields)
  const outcome = createGuardrailBody.safeParse(given, inSentences)
  if (!outcome.success) {
    const [issue] = outcome.error.issues.flatMap((each) => faultsOf(createGuardrailBody, given, each))
    const steps = (issue?.path ?? []).map((step) => (typeof step === 'number' ? step : wordIn(step)))
    return place.at(...steps).cannot(`guardrail ${wordIn(entry['name'])}: ${issue?.message ?? 'not valid'}`)
  }
  place.taken(`guardrail ${wordIn(entry['name'])}; assign it to keys or members`)
  return guardrailKind.read(given, '').document
}
