/** More processes on the same port. Only this program is started, with its own arguments: nothing of a request gets here. */
import { spawn, type ChildProcess } from 'node:child_process'

import type { Environment } from '../config.ts'

export interface Workers {
  signal(signal: 'SIGTERM' | 'SIGHUP'): void
  ended(): Promise<void>
}

export const startWorkers = (count: number, port: number, argv: readonly string[], env: Environment): Workers => {
  const program = process.argv[1] ?? ''
  const children: ChildProcess[] = Array.from({ length: count }, () =>
    // The last flag wins: a port of 0 becomes the one that was found, and a worker starts no workers.
    spawn(
      process.execPath,
      [...process.execArgv, program, ...(argv[0] === 'serve' ? argv : ['serve', ...argv]), '--port', String(port), '--workers', '1'],
      {
        env: { ...env, PATCHBAY_WORKER: '1' },
        stdio: ['ignore', 'inherit', 'inherit'],
      },
    ),
  )
  return {
    signal: (signal) => children.forEach((child) => child.kill(signal)),
    ended: async () => {
      const running = children.filter(({ exitCode, signalCode }) => exitCode === null && signalCode === null)
      await Promise.all(running.map((child) => new Promise<void>((resolve) => void child.once('exit', () => resolve()))))
    },
  }
}
