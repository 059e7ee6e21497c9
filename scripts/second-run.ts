/**
 * Runs the files of failed tests once more, alone. On a busy machine a test may fail that passes by itself. Such a test must not hide the
 * results of the others, nor be forgotten, so it is printed with its reason.
 */
import type { TestResult, TestRun } from './run-tests.ts'

/** If more files fail, timing is not the cause. */
const FILES_MAX = 3

export interface SecondRun {
  /** A test that failed and then passed counts as passed. */
  readonly run: TestRun
  /** The tests that failed and then passed, with the reason of the first failure. */
  readonly unsteady: readonly TestResult[]
}

export const runFailedAgain = async (first: TestRun, runTests: (files: readonly string[]) => Promise<TestRun>): Promise<SecondRun> => {
  const failed = first.results.filter(({ outcome }) => outcome === 'failed')
  const files = [...new Set(failed.map(({ file }) => file))]
  // A failure without a name is a crash, or a file that could not be loaded.
  if (failed.length === 0 || failed.length !== first.failed || files.length > FILES_MAX) return { run: first, unsteady: [] }
  const second = await runTests(files)
  const passedNow = new Set(second.results.filter(({ outcome }) => outcome === 'passed').map(nameOf))
  const unsteady = second.failed > 0 ? [] : failed.filter((result) => passedNow.has(nameOf(result)))
  const steady = new Set(unsteady)
  return {
    run: {
      passed: first.passed + unsteady.length,
      failed: first.failed - unsteady.length,
      skipped: first.skipped,
      results: first.results.map((result) => (steady.has(result) ? { ...result, outcome: 'passed', failure: '' } : result)),
    },
    unsteady,
  }
}

const nameOf = ({ file, name }: TestResult): string => `${file}: ${name}`
