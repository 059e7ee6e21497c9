/** Lists answer `{data, total_count}`, cut by `offset` and `limit` (contract 1.2). An empty parameter counts as absent. */
import { z } from 'zod'

import { validate } from './validate.ts'

const wholeNumber = (min: number, max: number, fallback: number) =>
  z
    .string()
    .regex(/^\d{1,9}$/, `Use a whole number from ${min} to ${max}.`)
    .refine((text) => Number(text) >= min && Number(text) <= max, `Use a whole number from ${min} to ${max}.`)
    .default(String(fallback))

export const pagingQuery = {
  offset: wholeNumber(0, 100_000_000, 0).meta({ description: 'How many entries to pass over.' }),
  limit: wholeNumber(1, 100, 50).meta({ description: 'How many entries to answer, at most 100.' }),
}

const pagingSchema = z.object(pagingQuery)

/** Throws `invalid_request` naming the parameter. */
export const readPaging = (query: URLSearchParams): { offset: number; limit: number } => {
  const { offset, limit } = validate(pagingSchema, { offset: query.get('offset') || undefined, limit: query.get('limit') || undefined })
  return { offset: Number(offset), limit: Number(limit) }
}

export const listOf = <Item extends z.ZodType>(item: Item) => z.object({ data: z.array(item), total_count: z.int() })
