/** The command line: every command, its flags, and how it fails. */
import { runCommandLine } from './cli/command-line.ts'

// No top-level await: a bundle with bytecode cannot have it.
void runCommandLine(process.argv).then((code) => {
  process.exitCode = code
})
