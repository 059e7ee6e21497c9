/**
 * Sends comments on streams that have been silent for a while, so that load balancers and browsers keep them open. There is one timer for
 * all streams of the process, so an open stream costs only an entry in a set.
 */
import type { Clock } from '../../lib/clock.ts'

export interface KeepAlive {
  /** `ping` is called after each `silenceMs` without a call of `touch`; `stop` ends this. */
  watch(ping: () => void): { touch(): void; stop(): void }
}

const TICK_MS = 1000

export const createKeepAlive = (clock: Clock, silenceMs: number): KeepAlive => {
  const streams = new Set<{ lastMs: number; ping: () => void }>()
  let ticking = false
  const tick = (): void => {
    const nowMs = clock.monotonicMs()
    for (const stream of streams) {
      if (nowMs - stream.lastMs < silenceMs) continue
      stream.lastMs = nowMs
      stream.ping()
    }
    ticking = streams.size > 0
    if (ticking) clock.after(TICK_MS, tick)
  }
  return {
    watch(ping) {
      const stream = { lastMs: clock.monotonicMs(), ping }
      streams.add(stream)
      if (!ticking) {
        ticking = true
        clock.after(TICK_MS, tick)
      }
      return {
        touch() {
          stream.lastMs = clock.monotonicMs()
        },
        stop: () => streams.delete(stream),
      }
    },
  }
}
