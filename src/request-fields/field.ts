/**
 * One top-level field of a client's request. Each interface has a table with a row for each of its fields (chat.ts, responses.ts,
 * messages.ts), and every other list of fields is derived from these tables.
 */
import type { z } from 'zod'

import type { SettingName } from '../canonical/settings.ts'
import type { TaggedList } from './tagged-list.ts'

/**
 * A setting; `conversation`, `tools`, `toolChoice`, `outputFormat`: what an encoder reads of a prompt besides the settings;
 * `fallbackModels`: further models, which routing reads; `service`: anything else that addresses this service and is sent to no
 * provider; `written`: the service writes it in the provider's form; `refused`: it refers to something stored, and nothing is
 * stored here; `none`: only providers of the same dialect understand it.
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
  /**
   * The schema of a present value; null is the same as absent for every field. Without a schema the field is neither checked nor
   * described.
   */
  readonly schema?: z.ZodType
  /** For a list whose items carry a tag: a fault is reported within the shape that the tag names, and unknown items are accepted. */
  readonly items?: TaggedList
  /** If several fields of one table have the same meaning, the first one is written, and read if both are sent. */
  readonly means?: FieldMeaning | readonly FieldMeaning[]
  /** The members of the setting that the field sets by itself; all of them if absent. */
  readonly sets?: readonly string[]
  /** The meanings of individual members, by name. */
  readonly members?: Readonly<Record<string, FieldMeaning>>
  /**
   * `keep`: a preset stores it. `control`: a preset stores it for its own use. `check`: a preset does not store it, but refuses a
   * faulty value. If absent, a preset ignores the field.
   */
  readonly presets?: 'keep' | 'control' | 'check'
  /** A model that supports the field lists one of these names (`supported_parameters`). */
  readonly parameters?: readonly string[]
  /** Other fields whose effect this field changes: a preset that locks one of those locks this field too. */
  readonly changes?: readonly string[]
  /** The warning for a client that sends the field, which is left out wherever the request goes. */
  readonly warning?: string
  /** Why an inference request may not carry the field, if a preset's body may. */
  readonly refusal?: string
  /** Validation leaves the field to the reader of prompts, because a conversation may be megabytes. */
  readonly readLater?: true
}

export type FieldTable = Readonly<Record<string, RequestField>>
