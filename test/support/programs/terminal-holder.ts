/** Runs a program in a terminal of its own, and shows on its standard output what appears there. Once it is stopped, nobody reads the terminal. */
import { argv, exit, stdout } from 'node:process'

const [, , ...command] = argv
const child = Bun.spawn(command, { terminal: { cols: 400, data: (_, bytes) => void stdout.write(bytes) } })
stdout.write(`pid ${child.pid}\n`)
exit(await child.exited)
