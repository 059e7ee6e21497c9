/** The command line: every command, its flags, and how it fails. */
import { runCommandLine } from './cli/command-line.ts'

// Such warnings are for developers, about dependencies, and would stand as plain text between the JSON lines of the log.
process.noDeprecation = true

// A reader that has left, as `| head` does, is told nothing.
process.stdout.on('error', ({ code }: NodeJS.ErrnoException) => {
  if (code !== 'EPIPE') process.stderr.write(`patchbay: the output cannot be written (${code ?? 'unknown reason'}).\n`)
  process.exit(1)
})

// No top-level await: a bundle with bytecode cannot have it.
void runCommandLine(process.argv).then((code) => {
  process.exitCode = code
  // A service that failed to start must end, whatever it has left open, to be started again. Its last words are written before.
  if (code !== 0) process.stdout.write('', () => process.stderr.write('', () => process.exit()))
})
