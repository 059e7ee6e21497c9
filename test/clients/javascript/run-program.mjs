/** Runs a program that people use in a terminal, in an empty folder and with a home of its own. */
import { spawn } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** Longer than any of the programs takes, unless it waits for something that never comes. */
const PROGRAM_MS = 90_000

/** Returns the output; throws it if the program failed or was killed. `files` are written into its folder first; `input` is its stdin. */
export const runProgram = ({ id, program, args, env, files = {}, input = '' }) =>
  new Promise((resolve, reject) => {
    const folder = join(process.cwd(), 'runs', id)
    mkdirSync(folder, { recursive: true })
    for (const [name, content] of Object.entries(files)) writeFileSync(join(folder, name), content)
    const child = spawn(join(process.cwd(), 'node_modules/.bin', program), args, {
      cwd: folder,
      env: { PATH: process.env.PATH, HOME: folder, ...env },
      stdio: ['pipe', 'pipe', 'pipe'],
      timeout: PROGRAM_MS,
      killSignal: 'SIGKILL',
    })
    child.stdin.end(input)
    let said = ''
    for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (piece) => (said += piece))
    child.once('error', reject)
    child.once('close', (code) => {
      if (code === 0) resolve(said)
      else reject(new Error(`${code === null ? 'it did not end' : `exit ${code}`}: ${said}`))
    })
  })
