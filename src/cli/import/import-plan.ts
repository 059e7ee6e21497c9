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

/** A place in the file, and what becomes of it: `taken`, `changed` or `cannot`. */
export interface Place {
  /** A place within this one. */
  at(...steps: Path): Place
  taken(says: string): void
  changed(says: string): void
  /** Returns null, for a reader that has nothing of this place. */
  cannot(says: string): null
  /** Leaves out each member that is not `known`. `said`: sentences that say what to do instead. */
  leaveOut(members: JsonObject, known: ReadonlySet<string>, said?: Readonly<Record<string, string>>): void
  /** `said`: a sentence for each member that changes, and null for one that is reported elsewhere; any other is left out. */
  change(members: JsonObject, said: Readonly<Record<string, string | null>>): void
}

export type Path = readonly (string | number)[]

export const placeIn = (report: (finding: { path: Path; outcome: Outcome; says: string }) => void, path: Path = []): Place => {
  const at = (...steps: Path): Place => placeIn(report, [...path, ...steps])
  return {
    at,
    taken: (says) => report({ path, outcome: 'taken', says }),
    changed: (says) => report({ path, outcome: 'changed', says }),
    cannot(says) {
      report({ path, outcome: 'cannot', says })
      return null
    },
    leaveOut(members, known, said = {}) {
      for (const name of Object.keys(members)) if (!known.has(name)) at(name).cannot(said[name] ?? without(name))
    },
    change(members, said) {
      for (const name of Object.keys(members)) {
        const says = said[name]
        if (says === undefined) at(name).cannot(without(name))
        else if (says !== null) at(name).changed(says)
      }
    },
  }
}

const without = (name: string): string => `${name} has no counterpart`

/**
 * Reads a file's value, and reports what becomes of each place. `fileName`, without its extension, names objects that have no name
 * in the file. Throws SettingError if the file is something else.
 */
export type ImportReader = (value: unknown, root: Place, fileName: string) => Partial<ImportPlan>
