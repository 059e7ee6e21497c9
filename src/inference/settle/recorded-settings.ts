/**
 * The settings of a request that its record keeps, so that a preset can be made from it even if contents are not stored: the fields that a
 * preset keeps, without texts and secrets, and those of its preset that its body could not have. Large members are not even parsed.
 */
import { type Call, forEachDialect } from '../../canonical/call.ts'
import { secretsOf } from '../../canonical/preset-secrets.ts'
import { isObject, type JsonObject, type JsonValue } from '../../lib/json/json.ts'
import { PERSISTED_FIELDS } from '../../request-fields/preset-fields.ts'
import { fieldMeanings } from '../../request-fields/request-fields.ts'

export interface RecordedSettings {
  readonly settings: JsonObject
  /** Settings of the preset for which the interface has no field, by their paths in the preset. */
  readonly carried: JsonObject
  /** Fields that a preset would keep but that are in neither. */
  readonly leftOut: string[]
}

const SETTINGS_MAX = 2048
/** Longer strings are texts for a model or for people, not names. */
const WORD_MAX = 128

export const recordedSettings = ({ dialect, body, carried }: Pick<Call, 'dialect' | 'body' | 'carried'>): RecordedSettings => {
  const settings: Record<string, JsonValue> = {}
  const beside: Record<string, JsonValue> = {}
  const leftOut: string[] = []
  let room = SETTINGS_MAX - '{}'.length
  for (const name of body.keys) {
    if (!PERSISTED[dialect].has(name)) continue
    const held = body.rawHeld(name) ?? ''
    const size = Buffer.byteLength(held.slice(0, SETTINGS_MAX + 1)) + name.length + '"":,'.length
    const value = size > room || TEXTS[dialect].has(name) ? undefined : body.value(name)
    if (value === undefined) {
      if (held !== 'null') leftOut.push(name)
      continue
    }
    if (!isUnfit(value) && secretsOf(name, value).length === 0) {
      settings[name] = value
      room -= size
    } else leftOut.push(name)
  }
  for (const [path, value] of Object.entries(carried?.written ?? {})) {
    const size = Buffer.byteLength(JSON.stringify(value)) + path.length + '"":,'.length
    if (size > room || isUnfit(value)) leftOut.push(path)
    else {
      beside[path] = value
      room -= size
    }
  }
  return { settings, carried: beside, leftOut }
}

/** True for texts, and for whole numbers that were rounded, which no preset keeps. */
const isUnfit = (value: JsonValue): boolean => {
  if (typeof value === 'string') return value.length > WORD_MAX
  if (typeof value === 'number') return Number.isInteger(value) && !Number.isSafeInteger(value)
  if (Array.isArray(value)) return value.some(isUnfit)
  return isObject(value) && Object.values(value).some(isUnfit)
}

const PERSISTED = forEachDialect((client) => new Set(PERSISTED_FIELDS[client]))
/** Descriptions of tools are text, and a prediction is an answer. */
const TEXTS = forEachDialect(
  (client) => new Set(PERSISTED_FIELDS[client].filter((name) => name === 'prediction' || fieldMeanings(client, name).includes('tools'))),
)
