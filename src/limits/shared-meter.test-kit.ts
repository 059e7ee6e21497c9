import type { Clock } from '../lib/clock.ts'
import { createSharedMeter, type SharedMeter } from './shared-meter.ts'

/** A meter of a process that counts on its own. */
export const ownMeter = (clock: Clock): SharedMeter =>
  createSharedMeter({ clock, store: null, nodes: () => 1, timeoutMs: () => 50, onAway: () => undefined })
