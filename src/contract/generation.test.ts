import { expect, test } from 'bun:test'

import { ABSENT_MEMBERS, withoutAbsent } from './generation.ts'

test('a record that is stored without its absent members is shown as it was', () => {
  const record = {
    ...ABSENT_MEMBERS,
    id: 'gen-1',
    warnings: [{ code: 'unsupported_field' }],
    // An empty list means that no provider was called, which differs from unknown (null).
    provider_responses: [],
  }
  const stored = withoutAbsent(record)
  expect(Object.values(stored)).not.toContain(null)
  expect(Object.keys(stored)).toEqual(['id', 'provider_responses', 'warnings'])
  expect({ ...ABSENT_MEMBERS, ...stored }).toEqual(record)
})
