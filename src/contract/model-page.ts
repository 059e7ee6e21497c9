/** The two ways to page through the list of models: by offset, as this API does, and by id, as Anthropic's clients do. */
import { z } from 'zod'

import { paging, wholeNumber } from './paging.ts'
import { invalidField, validate } from './validate.ts'

/** Model pickers read the whole list at once, so it is paged only if a client asks for it. */
const LIMIT_MAX = 1000

export const placePaging = paging({ limitMax: LIMIT_MAX, limitDefault: null })

const id = z.string().max(256).optional()

export const cursorQuery = {
  after_id: id.meta({ description: "For clients of Anthropic's API: what comes after this id." }),
  before_id: id.meta({ description: "For clients of Anthropic's API: what comes before this id." }),
}

const cursorSchema = z.object({ limit: wholeNumber(1, LIMIT_MAX).optional(), ...cursorQuery })

export interface CursorPage<Item> {
  readonly items: readonly Item[]
  /** True if there is more in the reading direction. */
  readonly hasMore: boolean
}

/** Throws `invalid_request` for a cursor that is not in the list, since it is unknown what follows it. */
export const cursorPage = <Item extends { readonly id: string }>(all: readonly Item[], query: URLSearchParams): CursorPage<Item> => {
  const given = (name: string): string | undefined => query.get(name) || undefined
  const {
    limit,
    after_id: after,
    before_id: before,
  } = validate(cursorSchema, {
    limit: given('limit'),
    after_id: given('after_id'),
    before_id: given('before_id'),
  })
  if (after !== undefined && before !== undefined) throw invalidField('before_id', 'Use after_id or before_id, not both.')
  const most = limit === undefined ? all.length : Number(limit)
  if (before !== undefined) {
    const end = placeOf(all, before, 'before_id')
    const start = Math.max(0, end - most)
    return { items: all.slice(start, end), hasMore: start > 0 }
  }
  const start = after === undefined ? 0 : placeOf(all, after, 'after_id') + 1
  return { items: all.slice(start, start + most), hasMore: start + most < all.length }
}

const placeOf = (all: readonly { readonly id: string }[], cursor: string, path: string): number => {
  const place = all.findIndex((item) => item.id === cursor)
  if (place < 0) throw invalidField(path, `There is no model "${cursor}" in this list.`)
  return place
}
