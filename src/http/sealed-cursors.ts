/**
 * Cursors of lists whose pages end once enough rows were looked through. The last row may be one that
 * the reader may not see, so the cursor is sealed.
 */
import { NO_CURSOR } from '../contract/cursor.ts'
import { invalidField } from '../contract/validate.ts'
import type { TextSeal } from '../storage/rows/seal.ts'

export interface SealedCursors {
  seal(cursor: string): string
  /** The same query with its cursor opened. Throws `invalid_request` if the cursor is not one of this list. */
  opened(query: URLSearchParams): URLSearchParams
}

export const sealedCursors = ({ seal, open }: TextSeal, list: string): SealedCursors => {
  const context = `cursor of ${list}`
  return {
    seal: (cursor) => Buffer.from(seal(cursor, context), 'base64').toString('base64url'),
    opened(query) {
      const given = query.get('cursor')
      if (given === null || given === '') return query
      const changed = new URLSearchParams(query)
      changed.set(
        'cursor',
        opening(() => open(given, context)),
      )
      return changed
    },
  }
}

const opening = (open: () => string): string => {
  try {
    return open()
  } catch {
    throw invalidField('cursor', NO_CURSOR)
  }
}
