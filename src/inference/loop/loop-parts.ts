import type { ScreenLimits } from '../../guardrails/screen-request.ts'
import type { Clock } from '../../lib/clock.ts'
import type { IdSource } from '../../lib/id.ts'
import type { AskModel } from '../../tools/ask.ts'
import type { SealedResults } from '../../tools/sealed-results.ts'
import type { ToolSettings } from '../../tools/settings.ts'
import type { Admitted } from '../admitted.ts'
import type { RunParts } from '../run/run.ts'

export interface LoopParts extends RunParts, Omit<ScreenLimits, 'clock'> {
  readonly clock: Clock
  readonly ids: IdSource
  /** Reads the settings as the configuration has them now. */
  readonly toolSettings: () => ToolSettings
  readonly sealedResults: SealedResults
  /** True if the process is about to end; loops then finish their answers without further calls. */
  readonly isDraining: () => boolean
  /** Aborted when the process has no time left for tools. */
  readonly toolsEnd: AbortSignal
  /** Called with faults of our own that do not end the answer. */
  readonly onFault: (thrown: unknown, doing: string) => void
  /** For tools that ask a model within this request. */
  readonly askModel: (outer: Admitted) => AskModel
}
