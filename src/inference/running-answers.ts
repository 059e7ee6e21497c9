/** The runs that are being answered: when the service stops, it ends them with an error that their clients can read. */
import type { GatewayError } from '../errors.ts'
import type { Connection } from './run/connection.ts'

type Stoppable = Pick<Connection, 'stop'>

export interface RunningAnswers {
  readonly size: number
  began(run: Stoppable): void
  ended(run: Stoppable): void
  /** Ends every run with this error, including runs that begin afterwards. */
  stop(reason: GatewayError): void
}

export const createRunningAnswers = (): RunningAnswers => {
  const running = new Set<Stoppable>()
  let stopped: GatewayError | null = null
  return {
    get size() {
      return running.size
    },
    began(run) {
      running.add(run)
      if (stopped !== null) run.stop(stopped)
    },
    ended: (run) => void running.delete(run),
    stop(reason) {
      stopped = reason
      for (const run of running) run.stop(reason)
    },
  }
}
