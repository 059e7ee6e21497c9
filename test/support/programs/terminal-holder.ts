/**
 * Runs a program in its own terminal, and copies the terminal's output to standard output. If this program is stopped, nobody reads the
 * terminal.
 */
import { argv, exit, stdout } from 'node:process'

const [, , ...command] = argv
const child = Bun.spawn(command, { terminal: { cols: 400, data: (_, bytes) => void stdout.write(bytes) } })
stdout.write(`pid ${child.pid}\n`)
exit(await child.exited)
