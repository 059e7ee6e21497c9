/** The end position of a list page, as an opaque text. The next page begins after it, whatever was added in the meantime. */
import { z } from 'zod'

import { jsonIn } from '../lib/json/json.ts'

/** A position in a list with the newest entries first: ordered by time, and by id within one millisecond. */
export interface Position {
  readonly createdAt: string
  readonly id: string
}

export const NO_CURSOR = 'This is no cursor of a list: pass on `next_cursor` as it was answered.'

const position = z.tuple([z.iso.datetime({ precision: 3 }), z.string().min(1).max(128)])

export const cursorText = z
  .string()
  .max(512)
  .transform((text, context): Position => {
    const parsed = position.safeParse(decoded(text))
    if (parsed.success) return { createdAt: parsed.data[0], id: parsed.data[1] }
    context.addIssue({ code: 'custom', message: NO_CURSOR })
    return z.NEVER
  })

export const cursorOf = ({ createdAt, id }: Position): string => Buffer.from(JSON.stringify([createdAt, id])).toString('base64url')

const decoded = (text: string): unknown => {
  const json = Buffer.from(text, 'base64url').toString()
  // Other base64url spellings of the same bytes are refused, so each position has exactly one text.
  return Buffer.from(json).toString('base64url') === text ? jsonIn(json) : undefined
}

/** A page of a list that only grows and that is never counted. */
export const pageOf = <Item extends z.ZodType>(item: Item) =>
  z.object({ data: z.array(item), next_cursor: z.string().nullable().meta({ description: 'Null at the end, and there only.' }) })
