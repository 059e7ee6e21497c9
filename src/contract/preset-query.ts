/** The query parameters of the lists of presets, of their versions and of their history. An empty parameter counts as absent. */
import { z } from 'zod'

import { cursorText } from './cursor.ts'
import { keyHash } from './key-hash.ts'
import { wholeNumber } from './paging.ts'
import { preset, presetWithVersion } from './preset.ts'
import { presetLabel, presetStatus } from './preset-name.ts'
import { split } from './split.ts'
import { usageSums } from './usage.ts'
import { validate } from './validate.ts'

export const presetsQuery = {
  q: z.string().max(200).optional().meta({ description: 'Part of the slug or of the name, in upper or lower case.' }),
  status: presetStatus.optional(),
  include: z.enum(['usage', 'summary', 'usage,summary']).optional().meta({
    description:
      '`usage`: what each preset was used for in the last 24 hours, in whole hours. `summary`: what it serves, and who changed it last.',
  }),
  cursor: cursorText.optional().meta({ description: 'With `count=false`: `next_cursor` of the answer before.' }),
}

const summary = z
  .object({
    live_version: z.int().meta({ description: 'The version that is served by its slug alone.' }),
    model: z.string().nullable().meta({ description: 'Of that version; null where it names none, or its configuration is very long.' }),
    splits: z.array(split).nullable().meta({ description: 'The versions of a running rollout; null where none runs.' }),
    last_change: z
      .object({
        at: z.iso.datetime(),
        user_id: z.string().nullable(),
        user_name: z.string().nullable().meta({ description: 'What the person is called in the workspace.' }),
        key_hash: keyHash.nullable().meta({ description: 'Null where no key was used, as by a person who is signed in.' }),
        key_name: z.string().nullable(),
      })
      .nullable()
      .meta({
        description: 'By the audit log: of the preset, its versions, labels and rollout. Null where it has none, and for members.',
      }),
  })
  .meta({ id: 'PresetSummary' })

export type PresetSummary = z.output<typeof summary>

export const presetInclude = z.enum(['summary']).optional().meta({ description: '`summary`: what it serves, and who changed it last.' })

export const readPresetInclude = (query: URLSearchParams): 'summary' | undefined =>
  validate(presetInclude, query.get('include') || undefined, ['include'])

const givenSummary = summary.optional().meta({ description: 'With `include=summary`.' })

export const readPreset = presetWithVersion.extend({ summary: givenSummary }).meta({ id: 'ReadPreset' })

export type ReadPresetResource = z.output<typeof readPreset>

export const listedPreset = preset
  .extend({
    usage: z.object(usageSums).optional().meta({ description: 'With `include=usage`.' }),
    summary: givenSummary,
  })
  .meta({ id: 'ListedPreset' })

export type ListedPresetResource = z.output<typeof listedPreset>

const presetsFilter = z.object(presetsQuery)

export const readPresetsQuery = (query: URLSearchParams): z.output<typeof presetsFilter> =>
  validate(presetsFilter, {
    q: query.get('q') || undefined,
    status: query.get('status') || undefined,
    include: query.get('include') || undefined,
    cursor: query.get('cursor') || undefined,
  })

export const versionOrder = z.enum(['asc', 'desc']).optional().meta({ description: 'desc: newest first.' })

export const readVersionOrder = (query: URLSearchParams): 'asc' | 'desc' =>
  validate(versionOrder, query.get('order') || undefined, ['order']) ?? 'asc'

const MOVES_DEFAULT = 50

export const movesQuery = {
  label: presetLabel.optional().meta({ description: 'Only the moves of this label.' }),
  cursor: wholeNumber(1, 999_999_999).optional().meta({ description: '`next_cursor` of the answer before.' }),
  limit: wholeNumber(1, 100)
    .optional()
    .meta({ description: `How many entries to answer, at most 100; ${MOVES_DEFAULT} when absent.` }),
}

const movesFilter = z.object(movesQuery)

export const readMovesQuery = (query: URLSearchParams): { label: string | null; before: number | null; limit: number } => {
  const given = Object.keys(movesQuery).map((name) => [name, query.get(name) || undefined])
  const { label, cursor, limit } = validate(movesFilter, Object.fromEntries(given))
  return { label: label ?? null, before: cursor === undefined ? null : Number(cursor), limit: Number(limit ?? MOVES_DEFAULT) }
}
