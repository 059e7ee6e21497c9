/** An answer as it is cached: what the client got, frame by frame, and the facts that are sent with it. */
import type { ClientDialect } from '../../canonical/call.ts'
import type { Frame } from '../../canonical/event.ts'
import type { Warning } from '../../canonical/warning.ts'
import type { JsonObject } from '../../lib/json/json.ts'

export interface CachedAnswer extends AnswerFacts {
  readonly frames: readonly KeptFrame[]
}

export interface AnswerFacts {
  /** The generation to which the answer was first given. */
  readonly sourceId: string
  /** The time of caching by the wall clock, and below it the lifetime. */
  readonly keptMs: number
  readonly ttlSeconds: number
  readonly model: string
  readonly provider: string | null
  readonly losses: readonly Warning[]
  /** A judge's verdict on the answer; absent if no judge was asked. */
  readonly alignment?: JsonObject
}

export interface KeptFrame {
  readonly events: Frame['events']
  readonly native?: { readonly dialect: ClientDialect; readonly json: string }
}

export const writeCachedAnswer = (facts: AnswerFacts, frames: readonly string[]): string =>
  `${JSON.stringify(facts).slice(0, -1)},"frames":[${frames.join(',')}]}`
