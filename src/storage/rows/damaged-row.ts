import type { z } from 'zod'

import type { Steps } from '../../lib/steps.ts'
import type { Schema } from '../tables/schema.ts'

/** A stored row that cannot be read again: the request that needs it is not at fault (decisions/0260). */
export class DamagedRow extends Error {
  override readonly name = 'DamagedRow'
  readonly id: string

  constructor(table: keyof Schema, id: string, cause: unknown) {
    super(
      `The row "${id}" of the table ${table} cannot be read. If another version of Patchbay or another root secret wrote it, run the service with those; otherwise it is damaged: restore a backup.`,
      { cause },
    )
    this.id = id
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

/** Parses stored JSON. A value of another form than the schema's is damaged too: a rule or a limit in it would be lost without a word (decisions/0260). */
export const readStoredJson = <Read>(table: keyof Schema, id: string, schema: z.ZodType<Read>, text: string): Read =>
  readStored(table, id, () => schema.parse(JSON.parse(text)))

/** Like `readStored`, in steps. */
export function* readStoredInSteps<Read>(table: keyof Schema, id: string, reading: Steps<Read>): Steps<Read> {
  try {
    return yield* reading
  } catch (cause) {
    throw new DamagedRow(table, id, cause)
  }
}

/** Rows that have nothing to do with each other: those that can be read, and what is wrong with the others. */
export interface ReadRows<Read> {
  readonly read: readonly Read[]
  readonly damaged: readonly DamagedRow[]
}

/** `read` throws DamagedRow for a row that cannot be read, which keeps none of the others back (decisions/0248). */
export const readEach = <Row, Read>(rows: readonly Row[], read: (row: Row) => Read): ReadRows<Read> => {
  const found: Read[] = []
  const damaged: DamagedRow[] = []
  for (const row of rows) {
    try {
      found.push(read(row))
    } catch (thrown) {
      if (!(thrown instanceof DamagedRow)) throw thrown
      damaged.push(thrown)
    }
  }
  return { read: found, damaged }
}

/** Null if the row is damaged, where it is only shown: in the audit log when an object is removed, or beside others in a list (decisions/0248). */
export const shownIfReadable = <Shown>(show: () => Shown): Shown | null => readEach([show], (read) => read()).read[0] ?? null
