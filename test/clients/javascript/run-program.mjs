/** Runs a program that people use in a terminal, in an empty folder and with a home of its own. */
import { spawn } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** Longer than any of them takes where it does not wait for something that never comes. */
const PROGRAM_MS = 90_000

/** What it printed; throws that where it failed, or had to be ended. `files` are written into its folder first, `input` is what it reads. */
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
