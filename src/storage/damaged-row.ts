import type { Steps } from '../lib/steps.ts'
import type { Schema } from './tables/schema.ts'

/** A stored row that cannot be read again: the request that needs it is not at fault (decisions/0260). */
export class DamagedRow extends Error {
  override readonly name = 'DamagedRow'

  constructor(table: keyof Schema, id: string, cause: unknown) {
    super(
      `The row "${id}" of the table ${table} cannot be read. If another version of Patchbay or another root secret wrote it, run the service with those; otherwise it is damaged: restore a backup.`,
      { cause },
    )
  }
}

/** Parses or opens what the row holds. Throws DamagedRow instead of whatever `read` throws. */
export const readStored = <Read>(table: keyof Schema, id: string, read: () => Read): Read => {
  try {
    return read()
  } catch (cause) {
    throw new DamagedRow(table, id, cause)
  }
}

/** Like `readStored`, in steps. */
export function* readStoredInSteps<Read>(table: keyof Schema, id: string, reading: Steps<Read>): Steps<Read> {
  try {
    return yield* reading
  } catch (cause) {
    throw new DamagedRow(table, id, cause)
  }
}
