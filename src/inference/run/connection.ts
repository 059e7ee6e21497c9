/** The upstream connection of one inference, from attempt to attempt: opened, stopped, left to drain, closed in time. */
import { GatewayError } from '../../errors.ts'
import type { Clock } from '../../lib/clock.ts'
import type { AttemptLog } from './attempt-log.ts'

/** How long the rest of an answer is read for its usage once the client has left. */
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

  /** For a new attempt. One controller serves the client's leaving and every deadline: nothing has to be unhooked. */
  open(): AbortController {
    const controller = new AbortController()
    this.#controller = controller
    if (this.#stopReason !== null) controller.abort(this.#stopReason)
    return controller
  }

  /** Stops the run, whatever it is doing, after this long. */
  limit(totalMs: number): void {
    this.#cancelLimit = this.#clock.after(totalMs, () =>
      this.stop(new GatewayError('timeout', `The answer took longer than its limit of ${Math.round(totalMs / 1000)} seconds.`)),
    )
  }

  /** Why it was stopped; null where it was not. */
  get stopReason(): GatewayError | null {
    return this.#stopReason
  }

  /** The answer is no longer waited for: no other attempt is made. */
  get stopped(): boolean {
    return this.#stopReason !== null || this.#log.cancelled
  }

  /** Ends the answer with this error, and closes the upstream. */
  stop(reason: GatewayError): void {
    if (this.#log.ended || this.#stopReason !== null) return
    this.#stopReason = reason
    this.#controller?.abort(reason)
  }

  /** The client is gone: the upstream is closed, now or, where the provider bills all the same, when it has sent the usage. */
  leave(): void {
    if (this.#log.ended || this.#log.cancelled) return
    this.#log.leave()
    const stop = (): void => this.stop(new GatewayError('timeout', 'The client closed the connection.'))
    if (this.#drains) this.#cancelDrain = this.#clock.after(DRAIN_MS, stop)
    else stop()
  }

  /** The run has ended: no deadline is left. */
  close(): void {
    this.#cancelLimit?.()
    this.#cancelDrain?.()
  }

  /** An answer that the client left is read to its end (the provider's `on_cancel`). */
  get #drains(): boolean {
    return this.#log.abandoned && this.#stopReason === null && this.#log.current?.planned.endpoint.provider.onCancel === 'drain'
  }
}
