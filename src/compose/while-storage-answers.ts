/** The last writes of a process wait for storage no longer than a supervisor waits for the process (decisions/0010). */
import type { Clock } from '../lib/clock.ts'
import { repeat } from '../lib/repeat.ts'

const ASK_MS = 1000
/**
 * Together with the time that an answer may take, the default of `--drain-seconds` and what
 * balancers need, this is less than the 45 s of deploy/.
 */
const PATIENCE_MS = 4000

/**
 * Resolves to true if `work` has ended, or to false if storage has not answered for too long and the rest
 * of the work is given up. Rejects as `work` does.
 */
export const whileStorageAnswers = (
  work: Promise<void>,
  state: () => Promise<string | null>,
  clock: Clock,
  onError: (thrown: unknown) => void,
): Promise<boolean> => {
  const gone = Promise.withResolvers<boolean>()
  let answeredMs = clock.monotonicMs()
  const ask = async (): Promise<void> => {
    if ((await state()) === null) answeredMs = clock.monotonicMs()
    else if (clock.monotonicMs() - answeredMs >= PATIENCE_MS) gone.resolve(false)
  }
  const stop = repeat(clock, ASK_MS, ask, onError)
  return Promise.race([work.then(() => true), gone.promise]).finally(stop)
}
