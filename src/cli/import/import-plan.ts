/** The outcome of a file of another product here, and what is said of each of its places. */
import type { PresetShape } from '../../contract/preset.ts'
import type { JsonObject } from '../../lib/json.ts'

/** `taken`: means the same here. `changed`: means nearly the same, in the words of the sentence. `cannot`: is left out. */
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
  /** The place of the version that is served; the last one when absent. */
  readonly designated?: number
}

/** Limits of a key, by the names of the management API. The key itself cannot be moved. */
export interface PlannedKey {
  readonly name: string
  readonly limits: JsonObject
}

export interface ImportPlan {
  readonly presets: readonly PlannedPreset[]
  readonly guardrails: readonly JsonObject[]
  readonly keys: readonly PlannedKey[]
  /** The part that belongs into the operator's file. */
  readonly file: JsonObject
}

export type Path = readonly (string | number)[]

/**
 * Reads a file's value, and says what becomes of each place. `fileName`, without its ending, names what has no name in the file.
 * Throws SettingError where the file is something else.
 */
export type ImportReader = (
  value: unknown,
  report: (path: Path, outcome: Outcome, says: string) => void,
  fileName: string,
) => Partial<ImportPlan>
