/**
 * Translates a preset saved from one interface for use on another: its fields get the names and values of the other one
 * (docs/contract/presets.md#what-is-kept). The field tables say which settings have other names; this file translates their
 * values. A field with the same name on both sides is kept unchanged, and a field that the other interface lacks is left out with
 * a warning, unless it can be carried beside the body.
 */
import type { CarriedSettings, ClientDialect } from '../canonical/call.ts'
import { CARRIED_SETTINGS, type CarriedSetting, SETTINGS, type Settings } from '../canonical/settings.ts'
import type { OutputFormat } from '../canonical/prompt.ts'
import type { Warning } from '../canonical/warning.ts'
import type { PresetContent } from '../contract/preset.ts'
import { validate } from '../contract/validate.ts'
import { isObject, type JsonObject, type JsonValue } from '../lib/json/json.ts'
import type { Steps } from '../lib/steps.ts'
import type { FieldMeaning } from '../request-fields/field.ts'
import { PERSISTED_FIELDS, PRESET_CONTROLS, SYSTEM_BLOCKS_KEY } from '../request-fields/preset-fields.ts'
import { fieldMeanings } from '../request-fields/request-fields.ts'
import { askedTier } from '../request-fields/schemas/routing.ts'
import { pathsOf, SPELLINGS } from '../request-fields/setting-spellings.ts'
import { spokenStops } from './setting-reader.ts'
import { translateChances } from './translate-chances.ts'
import { translateReasoning } from './translate-reasoning.ts'
import { translateToolChoice, translateTools } from './translate-tools.ts'
import type { Translate, Translation } from './translation.ts'

/** Members of a request body, by name; null is the same as absent. */
export type Fields = Readonly<Record<string, JsonValue>>

export interface Translated {
  readonly fields: Fields
  readonly warnings: readonly Warning[]
  /** Settings that the other interface lacks and a provider may have. */
  readonly carried: CarriedSettings | undefined
}

/** Translates `config` without the entries that are not body fields: the controls of presets, and `system`. */
export function* translateConfig({ shape, config }: PresetContent, to: ClientDialect): Steps<Translated> {
  const fields = Object.fromEntries(Object.entries(config).filter(([field, value]) => !NOT_FIELDS.has(field) && value !== null))
  return shape === to ? { fields, warnings: [], carried: undefined } : yield* translateFields(fields, shape, to)
}

const NOT_FIELDS: ReadonlySet<string> = new Set([...Object.keys(PRESET_CONTROLS), SYSTEM_BLOCKS_KEY])

const keep: Translate = (values) => [firstOf(values)]

/**
 * Settings whose value differs between interfaces; every other setting is kept unchanged. Tools are translated in steps because
 * there may be thousands.
 */
const TRANSLATIONS: Readonly<Partial<Record<FieldMeaning, Translate>>> = {
  stop: (values, translation) => [translateStop(firstOf(values), translation)],
  outputFormat: (values, translation) => {
    const format = firstOf(values)
    return [isObject(format) ? translateFormat(format, translation) : null]
  },
  reasoning: translateReasoning,
  toolChoice: ([choice = null], translation) => [translateToolChoice(choice, translation)],
  // Only the restriction is carried over: parallel calls are the default of every interface.
  parallelToolCalls: ([flag = null], { from, to }) => {
    const restrained = from === 'messages' ? flag === true : flag === false
    return [restrained ? to === 'messages' : null]
  },
  fallbackModels: ([models = null, fallbacks = null]) => [
    models ?? (Array.isArray(fallbacks) ? fallbacks.flatMap((item: JsonValue) => (isObject(item) ? [item['model'] ?? null] : [])) : null),
  ],
  serviceTier: ([tier = null, speed = null], translation) => [translateTier(tier, speed, translation)],
  outputModalities: ([modalities = null], translation) => [translateModalities(modalities, translation)],
}

function* translateFields(given: Fields, from: ClientDialect, to: ClientDialect): Steps<Translated> {
  const warnings: Warning[] = []
  const carried: Carried = { written: {}, settings: {} }
  const translation: Translation = {
    from,
    to,
    lost: (field) =>
      warnings.push({ code: 'unsupported_field', field, message: `The preset's ${field} has no counterpart on ${to}; it was left out.` }),
    changed: (field, message) => warnings.push({ code: 'mapped_field', field, message }),
  }
  const { others: fields, asked } = translateChances(given, translation)
  const out: Record<string, JsonValue> = { ...asked }
  for (const [field, value] of Object.entries(fields)) {
    if (spelledPaths(from, field).length > 0) passOver(field, value, translation)
    else if (PERSISTED_FIELDS[to].includes(field) && meansTheSame(field, from, to)) out[field] = value
    else translation.lost(field)
  }
  for (const [meaning, spelling] of SPELLINGS) {
    const values = spelling[from].map((path) => valueAt(fields, path))
    const present = spelling[from].filter((_, index) => values[index] !== null)
    if (present.length === 0) continue
    if (spelling[to].length === 0) {
      if (isCarried(meaning)) carry(carried, meaning, firstOf(values), present[0])
      else for (const path of present) translation.lost(path)
    } else {
      const translated =
        meaning === 'tools'
          ? [Array.isArray(values[0]) ? yield* translateTools(values[0], translation) : null]
          : (TRANSLATIONS[meaning] ?? keep)(values, translation)
      for (const [index, value] of translated.entries()) put(out, spelling[to][index], value)
    }
  }
  if (to === 'messages') carryFormat(carried, fields, from)
  const choice = out['tool_choice']
  // A restriction on parallel calls needs a `tool_choice` to hold it, even alone; the choice `none` needs no restriction.
  if (isObject(choice)) out['tool_choice'] = choice['type'] === 'none' ? { type: 'none' } : { type: 'auto', ...choice }
  return { fields: out, warnings, carried: Object.keys(carried.written).length === 0 ? undefined : { shape: from, ...carried } }
}

interface Carried {
  readonly written: Record<string, JsonValue>
  settings: Settings
  outputFormat?: OutputFormat
}

const isCarried = (meaning: FieldMeaning): meaning is CarriedSetting => CARRIED_SETTINGS.some((name) => name === meaning)

/** Throws `invalid_request` if the preset was saved with a value that the setting does not take. */
const carry = (carried: Carried, name: CarriedSetting, written: JsonValue, field = ''): void => {
  const given = validate(SETTINGS[name], name === 'stop' && typeof written === 'string' ? [written] : written, [field])
  const value = name === 'stop' ? spokenStops(validate(SETTINGS.stop, given, [field])) : given
  if (value === undefined) return
  carried.written[field] = written
  carried.settings = { ...carried.settings, [name]: { value, field } }
}

/** Messages has only schemas; other dialects have JSON without one. */
const carryFormat = (carried: Carried, fields: Fields, from: ClientDialect): void => {
  const [field = ''] = pathsOf(from, 'outputFormat')
  const format = valueAt(fields, field)
  if (!isObject(format) || format['type'] !== 'json_object') return
  carried.written[field] = format
  carried.outputFormat = { type: 'json' }
}

/** `context_management` is a field of OpenAI's and another one of Anthropic's. */
const meansTheSame = (field: string, from: ClientDialect, to: ClientDialect): boolean =>
  String(fieldMeanings(from, field)) === String(fieldMeanings(to, field))

const spelledPaths = (dialect: ClientDialect, field: string): string[] =>
  [...SPELLINGS.values()].flatMap((spelling) => spelling[dialect].filter((path) => path === field || path.startsWith(`${field}.`)))

/** Reports further members of a field whose members are settings of their own; these are not translated. */
const passOver = (field: string, value: JsonValue, { from, lost }: Translation): void => {
  const paths = spelledPaths(from, field)
  if (paths.includes(field) || !isObject(value)) return
  for (const [member, inner] of Object.entries(value)) {
    if (inner !== null && !paths.includes(`${field}.${member}`)) lost(`${field}.${member}`)
  }
}

const valueAt = (fields: Fields, path: string): JsonValue => {
  const [field = '', member] = path.split('.')
  const value = fields[field] ?? null
  if (member === undefined) return value
  return isObject(value) ? (value[member] ?? null) : null
}

const put = (fields: Record<string, JsonValue>, path: string | undefined, value: JsonValue): void => {
  if (path === undefined || value === null) return
  const [field = '', member] = path.split('.')
  if (member === undefined) fields[field] = value
  else fields[field] = { ...(isObject(fields[field]) ? fields[field] : {}), [member]: value }
}

const firstOf = (values: readonly JsonValue[]): JsonValue => values.find((value) => value !== null) ?? null

/** The chat interface accepts at most four stop texts (docs/contract/chat-completions.md#request). */
const CHAT_STOPS_MAX = 4

const translateStop = (stop: JsonValue, { to, changed }: Translation): JsonValue => {
  const stops = Array.isArray(stop) ? stop : [stop]
  if (to === 'messages' || stops.length <= CHAT_STOPS_MAX) return stops
  changed('stop_sequences', `Only the first ${CHAT_STOPS_MAX} were kept: this interface takes no more.`)
  return stops.slice(0, CHAT_STOPS_MAX)
}

/** Chat wraps the facts about a schema in an object, Responses does not, and Messages has only the schema. */
const translateFormat = (format: JsonObject, { from, to, lost }: Translation): JsonValue => {
  if (format['type'] !== 'json_schema') {
    // Text is the default; other formats, such as a grammar, belong to one interface.
    if (format['type'] === 'text') return null
    if (format['type'] === 'json_object') return to === 'messages' ? null : format
    lost(pathsOf(from, 'outputFormat')[0] ?? '')
    return null
  }
  const inner = from === 'chat' && isObject(format['json_schema']) ? format['json_schema'] : format
  const schema = inner['schema'] ?? {}
  if (to === 'messages') return { type: 'json_schema', schema: describedBy(schema, inner['description']) }
  const named = { name: 'response', ...(from === 'messages' ? { strict: true } : {}), ...without(inner, 'type'), schema }
  return to === 'chat' ? { type: 'json_schema', json_schema: named } : { type: 'json_schema', ...named }
}

/** Messages has no other place for the description of a format. */
const describedBy = (schema: JsonValue, description: JsonValue = null): JsonValue =>
  description === null || !isObject(schema) || Object.hasOwn(schema, 'description') ? schema : { ...schema, description }

const without = (object: JsonObject, key: string): JsonObject => Object.fromEntries(Object.entries(object).filter(([name]) => name !== key))

/**
 * `speed: "fast"` and `service_tier: "fast"` mean the same (docs/contract/messages.md#request); a provider's own tiers stay on its
 * interface.
 */
const translateTier = (tier: JsonValue, speed: JsonValue, { lost }: Translation): JsonValue => {
  if (tier === null || (tier === 'auto' && speed === 'fast')) return speed === 'fast' ? 'fast' : null
  if (speed === 'fast') lost('speed')
  if (askedTier.safeParse(tier).success) return tier
  lost('service_tier')
  return null
}

/** Responses supports only text and images (docs/contract/requests.md#shared-fields). */
const translateModalities = (modalities: JsonValue, { to, lost }: Translation): JsonValue => {
  if (to === 'chat' || !Array.isArray(modalities) || !modalities.includes('audio')) return modalities
  lost('modalities')
  return null
}
