/** Measures a read repeatedly and returns a row of a table, with a hash of what it found. */
import { createHash } from 'node:crypto'

import { systemClock } from '../src/lib/clock.ts'

const ROUNDS = 15

export const READS_HEAD = '| read | first ms | p50 ms | max ms | records |\n|---|--:|--:|--:|--:|\n'

/** `ids`: the pattern of the ids in the answer, all of which are counted. */
export const measureReads =
  (ids: RegExp) =>
  async (name: string, read: () => Promise<unknown>): Promise<void> => {
    const times: number[] = []
    let found: unknown
    for (let round = 0; round < ROUNDS; round += 1) {
      const startMs = systemClock.monotonicMs()
      found = await read()
      times.push(systemClock.monotonicMs() - startMs)
    }
    const [first = 0] = times
    const sorted = times.toSorted((a, b) => a - b)
    const shown = [first, sorted[Math.floor(ROUNDS / 2)] ?? 0, sorted.at(-1) ?? 0].map((ms) => ms.toFixed(1))
    process.stdout.write(`| ${name} | ${shown.join(' | ')} | ${idsIn(found, ids)} |\n`)
  }

/** The number of records found, and a hash of their ids in order, which must be the same on each engine. */
const idsIn = (found: unknown, form: RegExp): string => {
  const ids = JSON.stringify(found).match(form) ?? []
  return ids.length === 0 ? '0' : `${ids.length} (${createHash('sha256').update(ids.join()).digest('hex').slice(0, 6)})`
}
