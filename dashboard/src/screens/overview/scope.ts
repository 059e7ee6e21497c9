import type { TimeRange } from '../../range.ts'

/** The range that every part of the screen asks within. */
export interface Scope {
  readonly range: TimeRange
  readonly workspace: string | undefined
}
