/** The upstream connection of one inference across its attempts: opened, stopped, left to drain, and closed in time. */
import { GatewayError } from '../../errors.ts'
import type { Clock } from '../../lib/clock.ts'
import type { AttemptLog } from './attempt-log.ts'

/** How long, in milliseconds, the rest of an answer is read for its usage after the client has left. */
const DRAIN_MS = 30_000

export class Connection {
  readonly #log: AttemptLog
  readonly #clock: Clock
  #controller: AbortController | null = null
  #stopReason: GatewayError | null = null
  #cancelLimit: (() => void) | null = null
  #cancelDrain: (() => void) | null = null

  constructor(log: AttemptLog, clock: Clock) {
    this.#log = log
    this.#clock = clock
  }

  /**
   * Opens the connection of a new attempt. One controller serves both the client's leaving and every deadline, so that no listener has to
   * be removed.
   */
  open(): AbortController {
    const controller = new AbortController()
    this.#controller = controller
    if (this.#stopReason !== null) controller.abort(this.#stopReason)
    return controller
  }

  /** Stops the run after this many milliseconds, whatever it is doing. */
  limit(totalMs: number): void {
    this.#cancelLimit = this.#clock.after(totalMs, () =>
      this.stop(new GatewayError('timeout', `The answer took longer than its limit of ${Math.round(totalMs / 1000)} seconds.`)),
    )
  }

  /** Why the run was stopped; null if it was not. */
  get stopReason(): GatewayError | null {
    return this.#stopReason
  }

  /** True if the answer is no longer waited for: no further attempt is made. */
  get stopped(): boolean {
    return this.#stopReason !== null || this.#log.cancelled
  }

  /** Ends the answer with this error and closes the upstream. */
  stop(reason: GatewayError): void {
    if (this.#log.ended || this.#stopReason !== null) return
    this.#stopReason = reason
    this.#controller?.abort(reason)
  }

  /** The client has left: closes the upstream at once, or, if the provider bills anyway, after it has sent the usage. */
  leave(): void {
    if (this.#log.ended || this.#log.cancelled) return
    this.#log.leave()
    const stop = (): void => this.stop(new GatewayError('timeout', 'The client closed the connection.'))
    if (this.#drains) this.#cancelDrain = this.#clock.after(DRAIN_MS, stop)
    else stop()
  }

  /** The run has ended: cancels its deadlines. */
  close(): void {
    this.#cancelLimit?.()
    this.#cancelDrain?.()
  }

  /** True if an answer that the client left is read to its end (the provider's `on_cancel`). */
  get #drains(): boolean {
    return this.#log.abandoned && this.#log.current?.planned.endpoint.provider.onCancel === 'drain'
  }
}
