/**
 * Encodes the settings of a request and the format of its answer as top-level fields of the dialect; field-rules.ts adapts them to a model.
 */
import type { OutputFormat } from '../../canonical/prompt.ts'
import type { SettingName } from '../../canonical/settings.ts'
import { definedOnly } from '../../lib/defined-only.ts'
import type { JsonObject, JsonValue } from '../../lib/json/json.ts'
import { settingFields } from '../../request-fields/request-fields.ts'
import { LOGPROBS_INCLUDED } from '../../request-fields/schemas/output.ts'
import { thinksNot } from '../thinking/effort.ts'
import { SETTING_OUTCOMES } from '../losses/loss-table.ts'
import type { OpenAiModel } from '../vendors/openai-model.ts'
import type { Translation } from '../losses/translation.ts'

export interface SettingsContext {
  readonly model: OpenAiModel
  /** The history contains thinking that goes back to the model. */
  readonly replaysThinking: boolean
  readonly format: OutputFormat
}

export interface EncodedSettings {
  readonly fields: JsonObject
  /** The client's path of each field. */
  readonly paths: Readonly<Record<string, string>>
}

export const encodeSettings = (translation: Translation, context: SettingsContext): EncodedSettings => {
  const fields = definedOnly({
    ...Object.fromEntries(PLAIN.map(([name, field]) => [field, translation.setting(name) as JsonValue | undefined])),
    reasoning: reasoning(translation),
    text: text(translation, context),
    include: include(translation, context),
    ...user(translation),
  })
  return { fields, paths: pathsOf(translation) }
}

/**
 * The settings that are fields of their own in this dialect and keep their values. `safetyIdentifier` is not among them, because each of
 * the two names of the end user may take the other's place.
 */
const PLAIN = [...settingFields('responses')].flatMap(([name, [field]]): [SettingName, string][] =>
  SETTING_OUTCOMES[name]['openai-responses'] === 'kept' && name !== 'safetyIdentifier' ? [[name, field]] : [],
)

/** The setting under which a loss of each of the dialect's fields is reported. */
const REPORTED_UNDER: Readonly<Record<string, SettingName>> = {
  ...Object.fromEntries(PLAIN.map(([name, field]) => [field, name])),
  reasoning: 'reasoning',
  'text.verbosity': 'verbosity',
}

const pathsOf = ({ prompt: { settings } }: Translation): Readonly<Record<string, string>> => {
  const paths = Object.fromEntries(Object.entries(REPORTED_UNDER).map(([field, name]) => [field, settings[name]?.field ?? name]))
  // Other dialects have fields of their own for what is asked for by `include` here.
  const included = settings.include ?? settings.logprobs ?? settings.topLogprobs
  return included === undefined ? paths : { ...paths, include: included.field }
}

/** Returns the setting in this service's form, which the field rules convert to the dialect's. */
const reasoning = (translation: Translation): JsonObject | undefined => {
  const value = translation.setting('reasoning')
  if (value === undefined) return undefined
  const { enabled, effort, maxTokens, summary, exclude } = value
  // `exclude` is always set, so that the rules treat even a wish for a bare effort as one in this service's form.
  return definedOnly({ enabled, effort, max_tokens: maxTokens, summary, exclude: exclude ?? false })
}

const text = (translation: Translation, context: SettingsContext): JsonObject | undefined => {
  const verbosity = translation.setting('verbosity')
  const format = outputFormat(context.format)
  return format === undefined && verbosity === undefined ? undefined : definedOnly({ format, verbosity })
}

const outputFormat = (format: OutputFormat): JsonObject | undefined => {
  if (format.type === 'text') return undefined
  if (format.type === 'json') return { type: 'json_object' }
  const { name, schema, strict, description } = format
  return definedOnly({ type: 'json_schema', name, description, schema: schema as JsonValue, strict })
}

/**
 * Thinking is always asked for in its encrypted form, so that the next request can send it back; but the API refuses that value of
 * `include` for a model that does not think.
 */
const include = (translation: Translation, { model, replaysThinking }: SettingsContext): readonly string[] | undefined => {
  const asked = translation.setting('reasoning')
  const reasons = model.reasons ?? (replaysThinking || (asked !== undefined && !thinksNot(asked)))
  const logprobs = translation.setting('logprobs') === true || translation.setting('topLogprobs') !== undefined
  const list = new Set(translation.setting('include'))
  if (reasons) list.add('reasoning.encrypted_content')
  if (logprobs) list.add(LOGPROBS_INCLUDED)
  return list.size === 0 ? undefined : [...list]
}

/** `user` is the older name of `safety_identifier`; it is used for a second identifier of the end user. */
const user = ({ setting }: Translation): JsonObject => {
  const older = setting('user')
  const newer = setting('safetyIdentifier')
  return newer === undefined ? definedOnly({ safety_identifier: older }) : definedOnly({ user: older, safety_identifier: newer })
}
