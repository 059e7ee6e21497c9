/** The result of reading another product's file, and the findings about its places. */
import type { PresetShape } from '../../contract/preset.ts'
import type { JsonObject } from '../../lib/json/json.ts'

/** `taken`: means the same here. `changed`: means nearly the same, as the sentence explains. `cannot`: is left out. */
export type Outcome = 'taken' | 'changed' | 'cannot'

export interface Finding {
  readonly line: number
  readonly outcome: Outcome
  readonly says: string
}

export interface PlannedVersion {
  readonly shape: PresetShape
  readonly systemPrompt: string | null
  readonly config: JsonObject
  readonly label?: string
}

export interface PlannedPreset {
  readonly slug: string
  readonly name?: string
  readonly description?: string
  /** In the order of their numbers. */
  readonly versions: readonly PlannedVersion[]
  /** The index of the version to serve; by default the last one. */
  readonly designated?: number
}

/** Limits of a key, with the field names of the management API. The key itself cannot be imported. */
export interface PlannedKey {
  readonly name: string
  readonly limits: JsonObject
}

export interface ImportPlan {
  readonly presets: readonly PlannedPreset[]
  readonly guardrails: readonly JsonObject[]
  readonly keys: readonly PlannedKey[]
  /** The part that belongs in the operator's file. */
  readonly file: JsonObject
}

export type Path = readonly (string | number)[]

/** Says what becomes of a place in the file. */
export type Report = (path: Path, outcome: Outcome, says: string) => void

/**
 * Reads a file's value, and reports what becomes of each place. `fileName`, without its extension, names objects that have no name
 * in the file. Throws SettingError if the file is something else.
 */
export type ImportReader = (value: unknown, report: Report, fileName: string) => Partial<ImportPlan>
