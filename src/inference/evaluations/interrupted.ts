/** The reasons for which an evaluation makes no more requests. */
import type { EvaluationEnd } from '../../storage/presets/evaluation-store.ts'
import { StorageConflict, StorageUnavailable } from '../../storage/storage-errors.ts'

/** No more requests are made: the process ends, someone cancelled, or the money is used up. */
export class Interrupted extends Error {
  override readonly name = 'Interrupted'
  /** How the evaluation ends as a result; null if it continues elsewhere. */
  readonly end: EvaluationEnd | null

  constructor(end: EvaluationEnd | null) {
    super('The evaluation was interrupted.')
    this.end = end
  }
}

/** Not a reason to end an evaluation: it continues once storage is available again. */
export const isStorageAway = (thrown: unknown): boolean => thrown instanceof StorageUnavailable || thrown instanceof StorageConflict
