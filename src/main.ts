/** The command line: every verb, its flags, and how it fails. */
import { runCommandLine } from './cli/command-line.ts'

process.exitCode = await runCommandLine(process.argv)
