/** `npm test [-- path …]` */
import { closingLine, runTests } from './run-tests.ts'

const count = await runTests(process.argv.slice(2))
console.log(closingLine(count))
process.exitCode = count.failed === 0 ? 0 : 1
