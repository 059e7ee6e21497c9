/** `npm run check`: everything that CI runs, with the steps that fail fastest first. All steps run, so that one run reports every fault. */
import { spawnSync } from 'node:child_process'

import { reportFaults } from './fault-report.ts'
import { closingLine, printFailures, runTests } from './run-tests.ts'
import { runFailedAgain } from './second-run.ts'

const STEPS: readonly (readonly [string, readonly string[]])[] = [
  ['types', ['tsc', '--noEmit']],
  ['types of the dashboard', ['tsc', '--noEmit', '-p', 'dashboard']],
  ['dashboard within its size', ['bun', 'scripts/build-dashboard.ts']],
  ['lint', ['oxlint', '--type-aware', '--deny-warnings']],
  ['format', ['oxfmt', '--check']],
  ['unused code', ['knip']],
  ['citations', ['bun', 'scripts/check-citations.ts']],
  ['generated docs', ['bun', 'scripts/write-docs.ts', '--check']],
]

let failedSteps = 0
for (const [name, [command = '', ...args]] of STEPS) {
  const started = performance.now()
  const { status } = spawnSync(`node_modules/.bin/${command}`, args, { stdio: 'inherit' })
  console.log(`${status === 0 ? 'ok  ' : 'FAIL'} ${name} (${((performance.now() - started) / 1000).toFixed(1)} s)`)
  if (status !== 0) failedSteps += 1
}
const {
  run: { results, ...count },
  unsteady,
} = await runFailedAgain(await runTests([]), runTests)
const failed = count.failed + failedSteps + reportFaults(results)
printFailures(unsteady, 'Unsteady tests: they failed, and passed when their files were run again. Each is a fault to mend.')
printFailures(results)
console.log(closingLine({ ...count, failed }))
process.exitCode = failed === 0 ? 0 : 1
