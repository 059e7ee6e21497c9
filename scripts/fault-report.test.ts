import { expect, test } from 'bun:test'

import { existsSync } from 'node:fs'
import { join } from 'node:path'

import { FAULT_FILES } from './fault-report.ts'

test('every file that the table of faults names is there, so that moving one is noticed before the end of a whole run', () => {
  expect(FAULT_FILES.filter((file) => !existsSync(join(import.meta.dirname, '..', file)))).toEqual([])
})
