/**
 * Comments on streams that have been silent for a while, so that balancers and browsers keep them open. One timer for
 * all streams of the process, not one for each: an open stream costs a map entry.
 */
import type { Clock } from '../lib/clock.ts'

export interface KeepAlive {
  /** `ping` is called after each `silenceMs` in which `touch` was not; the answer ends it. */
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
