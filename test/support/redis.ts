/** A Redis or Valkey of its own for the tests of a file, from a program found on this machine; else they are skipped, with a line. */
import { spawn, type ChildProcess } from 'node:child_process'
import { accessSync, constants } from 'node:fs'
import { delimiter, join } from 'node:path'

import { afterAll } from 'bun:test'

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
  readonly pid: number
  stop(): Promise<void>
}

/** Ended after the tests of the file at the latest. `port`: that of one that was stopped. */
export const startRedis = (port?: number): Promise<StartedRedis> => (port === undefined ? onFreePort(startOn) : startOn(port))

const startOn = async (port: number): Promise<StartedRedis> => {
  const child = spawn(PROGRAM ?? '', ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  started.add(child)
  const ready = Promise.withResolvers<void>()
  child.stdout.setEncoding('utf8').on('data', (text: string) => text.includes('Ready to accept') && ready.resolve())
  child.once('exit', () => ready.reject(new Error('redis-server does not start')))
  await ready.promise
  return {
    url: `redis://127.0.0.1:${port}`,
    pid: child.pid ?? 0,
    stop: () => end(child),
  }
}

const started = new Set<ChildProcess>()
afterAll(async () => {
  await Promise.all([...started].map(end))
})

const end = async (child: ChildProcess): Promise<void> => {
  started.delete(child)
  if (child.exitCode !== null || child.signalCode !== null) return
  const ended = new Promise((resolve) => child.once('exit', resolve))
  child.kill('SIGKILL')
  await ended
}
