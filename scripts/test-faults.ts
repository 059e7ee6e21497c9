/** `npm run test:faults [-- --kills 200]`: plays every fault that the service must withstand, and prints the table of them. */
import { parseArgs } from 'node:util'

import { FAULT_FILES, reportFaults } from './fault-report.ts'
import { closingLine, runTests } from './run-tests.ts'

const { values } = parseArgs({ options: { kills: { type: 'string' } } })
if (values.kills !== undefined) process.env['TEST_KILLS'] = values.kills

const { results, ...count } = await runTests(FAULT_FILES)
const bad = reportFaults(results)
console.log(closingLine(count))
process.exitCode = count.failed + bad === 0 ? 0 : 1
