/**
 * One top-level field of a client's request. Each interface has a table with a row for each of its fields (chat.ts,
 * responses.ts, messages.ts), and every other list of fields is worked out from these tables.
 */
import type { z } from 'zod'

import type { SettingName } from '../canonical/settings.ts'
import type { TaggedList } from './tagged-list.ts'

/**
 * A setting; `conversation`, `tools`, `toolChoice`, `outputFormat`: what an encoder reads of a prompt beside the settings;
 * `fallbackModels`: further models, which routing reads; `service`: anything else that addresses this service, and that no
 * provider gets; `written`: the service writes it in the provider's way; `refused`: nothing is stored here that it could
 * name; `none`: only providers of the same dialect have a word for it.
 */
export type FieldMeaning =
  | SettingName
  | 'conversation'
  | 'tools'
  | 'toolChoice'
  | 'outputFormat'
  | 'fallbackModels'
  | 'service'
  | 'written'
  | 'refused'
  | 'none'

export interface RequestField {
  /** The value when it is there; null is the same as absent for every field. Without one it is neither checked nor described. */
  readonly schema?: z.ZodType
  /** For a list whose items say what they are: a fault is reported within the shape that was meant, and unknown items pass. */
  readonly items?: TaggedList
  /** Where several fields of one table mean the same, the first one is written, and read where both are sent. */
  readonly means?: FieldMeaning | readonly FieldMeaning[]
  /** The meaning of its members by themselves, by their names. */
  readonly members?: Readonly<Record<string, FieldMeaning>>
  /**
   * `keep`: a preset stores it. `control`: a preset stores it, for itself. `check`: a preset does not store it, but a
   * faulty one is refused all the same. Without it, a preset does not look at the field.
   */
  readonly presets?: 'keep' | 'control' | 'check'
  /** A model that heeds the field states one of these names (`supported_parameters`). */
  readonly parameters?: readonly string[]
  /** Other fields whose effect it changes: a preset that locks one of those holds this field too. */
  readonly changes?: readonly string[]
  /** Why an inference request may not carry it, where a preset's body may. */
  readonly refusal?: string
  /** The conversation may be megabytes: validation leaves it to the reader of prompts. */
  readonly readLater?: true
}

export type FieldTable = Readonly<Record<string, RequestField>>
