/** The query parameters of the key list (docs/contract/keys-and-workspaces.md#key-list). */
import { z } from 'zod'

import { NO_CURSOR } from './cursor.ts'
import { KEY_SORTS, type KeyFilter, type KeySort } from './key-filter.ts'
import { wholeNumber } from './paging.ts'
import { validate } from './validate.ts'
import { inWorkspace } from './in-workspace.ts'
import { jsonIn } from '../lib/json/json.ts'

const position = z.tuple([z.enum(KEY_SORTS), z.string().max(512), z.string().max(64)])

export const keyListQuery = {
  q: z
    .string()
    .max(200)
    .optional()
    .meta({ description: 'A part of the name, or of the id, name or address of the holder, the last characters of the key, or its hash.' }),
  kind: z.enum(['management', 'inference']).optional(),
  purpose: z
    .enum(['playground', 'application'])
    .optional()
    .meta({ description: "Keys that the service made: for a person's playground, or for an application that the person allowed." }),
  status: z.enum(['active', 'disabled', 'expired', 'all']).optional().meta({
    description: 'Keys that work, that are disabled, that have expired, or all of them; those that are not disabled when absent.',
  }),
  user_id: z.string().max(256).optional().meta({ description: 'Keys of this person.' }),
  sort: z
    .enum(KEY_SORTS)
    .optional()
    .meta({ description: 'By name from the first letter on, else from the latest on; `created_at` when absent.' }),
  cursor: z.string().max(4096).optional().meta({ description: '`next_cursor` of the answer before.' }),
  limit: wholeNumber(1, 100).optional().meta({ description: 'How many keys to answer, at most 100, as many when absent.' }),
  include_disabled: z.enum(['true', 'false']).optional(),
  offset: z
    .string()
    .regex(/^\d{1,9}$/, 'Use a whole number.')
    .optional()
    .meta({ description: 'How many keys to pass over. A cursor is the better way.' }),
  ...inWorkspace,
}

const LIMIT = 100

/** Throws `invalid_request` naming the parameter. */
export const readKeyQuery = (query: URLSearchParams): KeyFilter & { readonly offset: number; readonly limit: number } => {
  const given = validate(z.object(keyListQuery), Object.fromEntries([...query].filter(([, value]) => value !== '')))
  const sort = given.sort ?? 'created_at'
  return {
    q: given.q ?? null,
    kind: given.kind ?? null,
    purpose: given.purpose ?? null,
    status: given.status ?? (given.include_disabled === 'true' ? 'all' : 'enabled'),
    userId: given.user_id ?? null,
    sort,
    after: given.cursor === undefined ? null : readCursor(given.cursor, sort),
    offset: Number(given.offset ?? 0),
    limit: Number(given.limit ?? LIMIT),
  }
}

export const keyCursor = (sort: KeySort, value: string, hash: string): string =>
  Buffer.from(JSON.stringify([sort, value, hash])).toString('base64url')

const readCursor = (text: string, sort: KeySort): KeyFilter['after'] => {
  const [sorted, value, hash] = validate(cursor, text, ['cursor'])
  if (sorted !== sort) validate(z.never('This cursor is of a list that is ordered otherwise.'), text, ['cursor'])
  return { value, hash }
}

const cursor = z.string().transform((text, context) => {
  const parsed = position.safeParse(jsonIn(Buffer.from(text, 'base64url').toString()))
  if (parsed.success) return parsed.data
  context.addIssue({ code: 'custom', message: NO_CURSOR })
  return z.NEVER
})
