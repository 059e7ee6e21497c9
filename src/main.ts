/** The command line: every command, its flags, and how it fails. */
import { runCommandLine } from './cli/command-line.ts'

// No top-level await: a bundle with bytecode cannot have it.
void runCommandLine(process.argv).then((code) => {
  process.exitCode = code
  // What a failed start has left open must not keep it from being started again. Everything it said is written before.
  if (code !== 0) process.stdout.write('', () => process.stderr.write('', () => process.exit()))
})
