/** A command whose output is lost while it runs. */
import { spawnSync } from 'node:child_process'
import { closeSync, constants, openSync } from 'node:fs'
import { join } from 'node:path'

const PROGRAM = join(import.meta.dir, '../../bin/patchbay')

/** Makes a pipe at the path. Its reader is there until `leave` is called, and reads nothing. */
export const openPipe = (path: string): { readonly stdout: number; readonly leave: () => void } => {
  if (spawnSync('mkfifo', [path]).status !== 0) throw new Error(`There is no pipe at ${path}.`)
  const reader = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK)
  return { stdout: openSync(path, constants.O_WRONLY), leave: () => closeSync(reader) }
}

/** Closes `stdout` here. */
export const runInto = async (
  stdout: number,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<{ readonly code: number; readonly stderr: string }> => {
  const child = Bun.spawn([PROGRAM, ...args], { stdout, stderr: 'pipe', env: { ...process.env, ...env } })
  closeSync(stdout)
  return { stderr: await new Response(child.stderr).text(), code: await child.exited }
}
