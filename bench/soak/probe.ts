/**
 * Loaded into the service before its own code: on SIGUSR2 it collects garbage and writes the remaining counts to the file of SOAK_PROBE.
 */
import { renameSync, writeFileSync } from 'node:fs'

import { heapStats } from 'bun:jsc'

export interface Probe {
  readonly residentBytes: number
  readonly heapBytes: number
  /** The number of objects of each kind. */
  readonly objects: Readonly<Record<string, number>>
  /** The number of listeners for each event of the process. */
  readonly listeners: Readonly<Record<string, number>>
}

const file = process.env['SOAK_PROBE'] ?? ''

process.on('SIGUSR2', () => {
  Bun.gc(true)
  const { heapSize, objectTypeCounts } = heapStats()
  const probe: Probe = {
    residentBytes: process.memoryUsage.rss(),
    heapBytes: heapSize,
    objects: objectTypeCounts,
    listeners: Object.fromEntries(process.eventNames().map((name) => [String(name), process.listenerCount(name)])),
  }
  writeFileSync(`${file}.draft`, JSON.stringify(probe))
  renameSync(`${file}.draft`, file)
})
