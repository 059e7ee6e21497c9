import { expect, test } from 'bun:test'

import { ABSENT_MEMBERS, recordedGeneration, withoutAbsent } from './generation.ts'

test('a record that is stored without its absent members is told as it was', () => {
  const record = {
    ...Object.fromEntries(Object.keys(recordedGeneration.shape).map((name) => [name, 'something'])),
    ...ABSENT_MEMBERS,
    // No provider was asked, which is not the same as nobody knows.
    provider_responses: [],
  }
  const stored = withoutAbsent(record)
  expect(Object.values(stored)).not.toContain(null)
  expect(Object.keys(stored).length).toBeLessThan(Object.keys(record).length / 2)
  expect({ ...ABSENT_MEMBERS, ...stored }).toEqual(record)
})
