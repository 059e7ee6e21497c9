/** The types of a translation of preset fields. */
import type { ClientDialect } from '../canonical/call.ts'
import type { JsonValue } from '../lib/json/json.ts'

export interface Translation {
  readonly from: ClientDialect
  readonly to: ClientDialect
  /** Called for each path of the preset that the other interface does not support. */
  readonly lost: (path: string) => void
  /** Called for each path whose value could only be approximated. */
  readonly changed: (path: string, message: string) => void
}

/** Converts the values at the paths of one interface to those at the paths of another, both in the order of SPELLINGS; null for none. */
export type Translate = (values: readonly JsonValue[], translation: Translation) => readonly JsonValue[]
