/** The table of fault cases, with the results of their tests. */
import { FAULT_CASES, type FaultCase } from '../test/faults/cases.ts'
import type { TestResult } from './run-tests.ts'

export const FAULT_FILES: readonly string[] = [...new Set(Object.values(FAULT_CASES).flatMap((cases) => cases.map(({ file }) => file)))]

interface Outcome {
  readonly passed: number
  readonly failed: number
  readonly skipped: number
}

const outcomeOf = ({ file, shown }: FaultCase, results: readonly TestResult[]): Outcome => {
  const own = results.filter((result) => result.file === file && shown.test(result.name))
  const count = (outcome: TestResult['outcome']): number => own.filter((result) => result.outcome === outcome).length
  return { passed: count('passed'), failed: count('failed'), skipped: count('skipped') }
}

/** Prints the table, and returns the number of cases without a passing test or with a failed one. */
export const reportFaults = (results: readonly TestResult[]): number => {
  let cases = 0
  let bad = 0
  for (const [area, faults] of Object.entries(FAULT_CASES)) {
    console.log(`\n${area}`)
    for (const fault of faults) {
      const { passed, failed, skipped } = outcomeOf(fault, results)
      const isFine = failed === 0 && passed > 0
      cases += 1
      if (!isFine) bad += 1
      console.log(
        `  ${isFine ? 'ok  ' : 'FAIL'} ${fault.fault} → ${fault.expected} (${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''})`,
      )
    }
  }
  console.log(`\n${cases} cases of faults: ${cases - bad} as expected, ${bad} not`)
  return bad
}
