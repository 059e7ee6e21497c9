import { expect, test } from 'bun:test'
import fc from 'fast-check'

import { LARGE_BYTES } from '../../lib/steps.ts'
import { rowGroups } from './row-groups.ts'

test('property: groups hold all rows in their order, none is longer than a step unless it is one row, and neighbours would not fit into one', () => {
  fc.assert(
    fc.property(fc.array(fc.oneof(fc.nat(2000), fc.nat(2 * LARGE_BYTES)), { maxLength: 2000 }), (rows) => {
      const groups = rowGroups(rows, (bytes) => bytes)
      const sum = (group: readonly number[]): number => group.reduce((all, bytes) => all + bytes, 0)
      expect(groups.flat()).toEqual(rows)
      for (const [at, group] of groups.entries()) {
        expect(group.length === 1 || sum(group) <= LARGE_BYTES).toBe(true)
        expect(group.length).toBeLessThanOrEqual(500)
        const next = groups[at + 1]
        if (next !== undefined && group.length < 500) expect(sum(group) + next[0]).toBeGreaterThan(LARGE_BYTES)
      }
    }),
  )
})
