import type { Clock } from '../lib/clock.ts'
import { createSharedMeter, type SharedMeter } from './shared-meter.ts'

/** A process that counts by itself. */
export const ownMeter = (clock: Clock): SharedMeter =>
  createSharedMeter({ clock, store: null, nodes: () => 1, timeoutMs: () => 50, onAway: () => undefined })
