/** An answer as it is kept: what the client got, frame by frame, and the facts that are sent around it. */
import type { ClientDialect } from '../../canonical/call.ts'
import type { Frame } from '../../canonical/event.ts'
import type { Warning } from '../../canonical/warning.ts'
import type { JsonObject } from '../../lib/json.ts'

export interface CachedAnswer extends AnswerFacts {
  readonly frames: readonly KeptFrame[]
}

export interface AnswerFacts {
  /** The generation that the answer was first given to. */
  readonly sourceId: string
  /** The time when it was kept, by the wall clock, and for how long. */
  readonly keptMs: number
  readonly ttlSeconds: number
  readonly model: string
  readonly provider: string | null
  /** The losses of its translation. */
  readonly losses: readonly Warning[]
  /** The verdict of a judge on it; absent where no judge was asked. */
  readonly alignment?: JsonObject
}

export interface KeptFrame {
  readonly events: Frame['events']
  readonly native?: { readonly dialect: ClientDialect; readonly json: string }
}

/** `frames`: each as JSON text. */
export const writeCachedAnswer = (facts: AnswerFacts, frames: readonly string[]): string =>
  `${JSON.stringify(facts).slice(0, -1)},"frames":[${frames.join(',')}]}`
