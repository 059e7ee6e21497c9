/** The arguments of a translation of preset fields, and the translation of one setting. */
import type { ClientDialect } from '../canonical/call.ts'
import type { JsonValue } from '../lib/json.ts'

export interface Translation {
  readonly from: ClientDialect
  readonly to: ClientDialect
  /** Called for each path of the preset that the other interface cannot take. */
  readonly lost: (path: string) => void
  /** Called for each path whose value could only be kept nearly. */
  readonly changed: (path: string, message: string) => void
}

/** The values at the paths of one interface as those at the paths of another, both in the order of SPELLINGS; null for none. */
export type Translate = (values: readonly JsonValue[], translation: Translation) => readonly JsonValue[]
