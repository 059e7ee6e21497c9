/** Lists are paged by `offset` and `limit` (docs/contract/management.md#lists). A parameter that is empty, or `null`, counts as absent. */
import { z } from 'zod'

import type { GatewayError } from '../errors.ts'
import { invalidField, validate } from './validate.ts'

export interface Slice {
  readonly offset: number
  readonly limit: number
}

export interface Paging {
  /** The query parameters, for the description of a route. */
  readonly query: Readonly<Record<'offset' | 'limit', z.ZodType>>
  /** Throws `invalid_request` naming the parameter. */
  read(query: URLSearchParams): Slice
}

const OFFSET_MAX = 100_000_000

export const wholeNumber = (min: number, max: number) =>
  z
    .string()
    .regex(/^\d{1,9}$/, { error: `Use a whole number from ${min} to ${max}.`, abort: true })
    .refine((text) => Number(text) >= min && Number(text) <= max, `Use a whole number from ${min} to ${max}.`)

/** Without a default limit, the rest of the list is returned. */
export const paging = ({ limitMax, limitDefault }: { limitMax: number; limitDefault: number | null }): Paging => {
  const query = {
    offset: wholeNumber(0, OFFSET_MAX).optional().meta({ description: 'How many entries to pass over; 0 when absent.' }),
    limit: wholeNumber(1, limitMax)
      .optional()
      .meta({ description: `How many entries to answer, at most ${limitMax}; ${limitDefault ?? 'all'} when absent.` }),
  }
  const schema = z.object(query)
  return {
    query,
    read(given) {
      const { offset, limit } = validate(schema, { offset: wordIn(given, 'offset'), limit: wordIn(given, 'limit') })
      return { offset: Number(offset ?? 0), limit: limit === undefined ? (limitDefault ?? Number.POSITIVE_INFINITY) : Number(limit) }
    },
  }
}

/** Clients that know `offset` as nullable may write the word. */
const wordIn = (query: URLSearchParams, name: string): string | undefined => {
  const word = query.get(name)
  return word === null || word === '' || word === 'null' ? undefined : word
}

/** The bounds of most lists. */
export const listPaging = paging({ limitMax: 100, limitDefault: 50 })

/** Counting a large list takes long, and a client that pages by cursor needs no count. */
export const countQuery = {
  count: z.enum(['true', 'false']).optional().meta({
    description:
      '`false`: without `total_count`. Such a page looks through 20,000 entries at most for what no index finds, and may have few, or none, where it is not the last; `offset` is ignored.',
  }),
}

/** Throws `invalid_request` naming the parameter. */
export const wantsCount = (query: URLSearchParams): boolean =>
  validate(countQuery.count, query.get('count') || undefined, ['count']) !== 'false'

/** Thrown if too many rows before the offset would have to be read and skipped one by one. */
export const mustGoByCursor = (): GatewayError =>
  invalidField('offset', 'Too many rows come before it. Leave it out, and read on with `cursor`, the `next_cursor` of each page.')

export const listOf = <Item extends z.ZodType>(item: Item) => z.object({ data: z.array(item), total_count: z.int() })
