/** The queries of the lists of presets, of their versions and of their history. An empty parameter counts as absent. */
import { z } from 'zod'

import { cursorText } from './cursor.ts'
import { wholeNumber } from './paging.ts'
import { preset, presetLabel, presetStatus } from './preset.ts'
import { usageSums } from './usage.ts'
import { validate } from './validate.ts'

export const presetsQuery = {
  q: z.string().max(200).optional().meta({ description: 'Part of the slug or of the name, in upper or lower case.' }),
  status: presetStatus.optional(),
  include: z
    .literal('usage')
    .optional()
    .meta({ description: '`usage`: what each preset was used for in the last 24 hours, in whole hours.' }),
  cursor: cursorText.optional().meta({ description: 'With `count=false`: `next_cursor` of the answer before.' }),
}

/** As the list has it. */
export const listedPreset = preset
  .extend({ usage: z.object(usageSums).optional().meta({ description: 'With `include=usage`.' }) })
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
