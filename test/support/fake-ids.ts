/** Predictable ids for tests: they count from one. */
import type { IdSource } from '../../src/lib/id.ts'

export const createFakeIds = (): IdSource => {
  let count = 0
  return {
    uuid: () => `00000000-0000-4000-8000-${String((count += 1)).padStart(12, '0')}`,
    prefixed: (prefix) => `${prefix}-${(count += 1)}`,
    bytes(length) {
      count += 1
      return Uint8Array.from({ length }, (_, index) => (count * 31 + index * 7) % 256)
    },
  }
}
