/** `npm test [-- path …]` */
import { closingLine, printFailures, runTests } from './run-tests.ts'

const { results, ...count } = await runTests(process.argv.slice(2))
printFailures(results)
console.log(closingLine(count))
process.exitCode = count.failed === 0 ? 0 : 1
