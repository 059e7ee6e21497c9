/** A Redis or Valkey server for a test, from a program found on this machine; without one the test is skipped, with a line of output. */
import { spawn } from 'node:child_process'
import { accessSync, constants } from 'node:fs'
import { delimiter, join } from 'node:path'

import { onFreePort } from './free-port.ts'

const findProgram = (): string | null => {
  const folders = (process.env['PATH'] ?? '').split(delimiter)
  const paths = ['redis-server', 'valkey-server'].flatMap((name) => folders.map((folder) => join(folder, name)))
  return paths.find(isProgram) ?? null
}

const isProgram = (path: string): boolean => {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}

const PROGRAM = findProgram()
export const HAS_REDIS = PROGRAM !== null
if (!HAS_REDIS) console.warn('Tests with Redis are skipped: neither redis-server nor valkey-server is on this machine.')

export interface StartedRedis {
  readonly url: string
  stop(): Promise<void>
}

/** Stopped at the latest with the test process. `port`: the port of an earlier server that was stopped. */
export const startRedis = (port?: number): Promise<StartedRedis> => (port === undefined ? onFreePort(startOn) : startOn(port))

/**
 * The shell stops the server when our end of its stdin closes, which also happens when this process is killed. An `afterAll` hook would not
 * do: files that run in one process share this module, and with it the hook of the first file.
 */
const KEEPER = `"$@" & server=$!; exec >&- 2>&-; read -r _; kill -KILL $server; wait $server`

const startOn = async (port: number): Promise<StartedRedis> => {
  const command = [PROGRAM ?? '', '--port', String(port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no']
  const keeper = spawn('/bin/sh', ['-c', KEEPER, 'sh', ...command], { stdio: ['pipe', 'pipe', 'inherit'] })
  const ended = new Promise<void>((resolve) => keeper.once('exit', () => resolve()))
  const ready = Promise.withResolvers<void>()
  keeper.stdout.setEncoding('utf8').on('data', (text: string) => text.includes('Ready to accept') && ready.resolve())
  keeper.stdout.once('end', () => ready.reject(new Error('redis-server does not start')))
  const stop = (): Promise<void> => {
    keeper.stdin.end()
    return ended
  }
  try {
    await ready.promise
  } catch (thrown) {
    await stop()
    throw thrown
  }
  keeper.unref()
  return { url: `redis://127.0.0.1:${port}`, stop }
}
