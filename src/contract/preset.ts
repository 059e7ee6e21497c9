/** Presets on the wire, and the part of a request body that a preset stores (docs/contract/presets.md#resource). */
import { z } from 'zod'

import { CLIENT_DIALECTS } from '../canonical/call.ts'
import { keyHash } from './key-hash.ts'
import { jsonValue } from './json-value.ts'
import { shownName, storedText } from './stored-text.ts'
import { namedValues } from './named-values.ts'
import { PRESET_LABELS_MAX, presetLabel, presetSlug, presetStatus } from './preset-name.ts'

const timestamp = z.iso.datetime().meta({ description: 'ISO 8601, UTC.' })

/** The interface whose body a version was saved from; it determines the field names of `config`. */
export const presetShape = z.enum(CLIENT_DIALECTS)

export const presetVersion = z
  .object({
    id: z.uuid(),
    preset_id: z.uuid(),
    version: z.int().min(1),
    config: z.record(z.string(), jsonValue),
    system_prompt: z.string().nullable(),
    creator_id: z.string(),
    created_at: timestamp,
    updated_at: timestamp,
    shape: presetShape.meta({ description: 'The interface whose body this version was saved from.' }),
    note: z.string().nullable().meta({ description: 'What its author wrote about it.' }),
    designated_at: timestamp
      .nullable()
      .meta({ description: 'When it was last made the version that the preset serves; null where it never was.' }),
  })
  .meta({ id: 'PresetVersion', description: 'One immutable version of a preset.' })

export const preset = z
  .object({
    id: z.uuid(),
    slug: presetSlug,
    name: z.string(),
    description: z.string().nullable(),
    status: presetStatus,
    status_updated_at: timestamp.nullable(),
    created_at: timestamp,
    updated_at: timestamp,
    creator_user_id: z.string(),
    workspace_id: z.uuid(),
    designated_version_id: z.uuid(),
    latest_version: z.int().min(1).meta({ description: 'The number of the newest version, which If-Match names.' }),
    labels: z.record(presetLabel, z.int().min(1)).meta({ description: 'Names for versions, usable as @preset/slug@label.' }),
    require_evaluation: z.boolean().meta({ description: 'A version goes live only once it has passed an evaluation.' }),
  })
  .meta({ id: 'Preset' })

export const presetWithVersion = preset.extend({ designated_version: presetVersion }).meta({ id: 'PresetWithDesignatedVersion' })

/** The response to a save. */
export const savedPreset = presetWithVersion
  .extend({
    saved_version: presetVersion
      .optional()
      .meta({ description: 'The version that this request wrote, where it is not the designated one: with designate=false.' }),
  })
  .meta({ id: 'SavedPreset' })

/** One step in the history of the served version and of the labels. */
export const presetMove = z
  .object({
    label: presetLabel.nullable().meta({ description: 'The label; null: the version that the preset itself serves.' }),
    from: z.int().min(1).nullable().meta({ description: 'Null where there was none.' }),
    to: z.int().min(1).nullable().meta({ description: 'Null where the label was removed.' }),
    moved_at: timestamp,
    user_id: z.string().nullable(),
    key_hash: keyHash.nullable().meta({ description: 'The management key that moved it.' }),
  })
  .meta({ id: 'PresetMove' })

/** Our own PATCH (docs/contract/presets.md#changes). An absent field is left unchanged; `null` clears it if it may be null. */
export const presetPatch = z
  .strictObject({
    name: shownName(200).optional(),
    description: storedText.max(2000).nullable().optional(),
    status: z.enum(['active', 'disabled', 'archived']).optional(),
    designated_version: z.int().min(1).optional().meta({ description: 'The number of the version to serve from now on.' }),
    labels: namedValues(presetLabel, z.int().min(1).nullable())
      .refine((labels) => Object.keys(labels).length <= 2 * PRESET_LABELS_MAX, `Name at most ${2 * PRESET_LABELS_MAX} labels.`)
      .optional()
      .meta({ description: 'Labels to set (a version number) or to remove (null); labels not named stay.' }),
    require_evaluation: z
      .boolean()
      .optional()
      .meta({ description: 'From now on a version must have passed an evaluation, or have been live before, to be designated.' }),
    confirm: z
      .boolean()
      .optional()
      .meta({ description: 'Needed to set, move or remove a label that the workspace protects (protected_labels).' }),
  })
  .meta({ id: 'PresetPatch', examples: [{ description: 'Answers customers.', designated_version: 3, labels: { staging: 4 } }] })

export type PresetResource = z.output<typeof preset>
export type PresetVersionResource = z.output<typeof presetVersion>
export type PresetWithVersion = z.output<typeof presetWithVersion>
export type SavedPreset = z.output<typeof savedPreset>
export type PresetMove = z.output<typeof presetMove>
export type PresetPatch = z.output<typeof presetPatch>
export type PresetShape = z.output<typeof presetShape>

/** The part of a request body that a preset stores: the persisted fields under their own names, and the system text. */
export interface PresetContent {
  readonly shape: PresetShape
  readonly config: PresetVersionResource['config']
  readonly systemPrompt: string | null
}
