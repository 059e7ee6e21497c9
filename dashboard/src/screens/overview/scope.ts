import type { TimeRange } from '../../range.ts'

/** The range and workspace that every part of the screen queries. */
export interface Scope {
  readonly range: TimeRange
  readonly workspace: string | undefined
}
