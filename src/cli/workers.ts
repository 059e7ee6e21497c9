/** Starts more processes on the same port. Only this program is started, with its own arguments: nothing from a request gets here. */
import type { ChildProcess } from 'node:child_process'

import { WORKER_VARIABLE, type Environment } from '../config.ts'
import { entryPoint } from '../lib/entry-points.ts'
import { systemClock } from '../lib/clock.ts'

export interface Workers {
  signal(signal: 'SIGTERM' | 'SIGHUP'): void
  ended(): Promise<void>
}

/** A worker that ends by itself is replaced after this time, so that one that cannot start does not keep a core busy. */
const REPLACE_MS = 1000

export const startWorkers = (count: number, port: number, argv: readonly string[], env: Environment): Workers => {
  // The last flag wins: a port of 0 becomes the port that was found, and a worker starts no workers.
  const { spawn } = process.getBuiltinModule('node:child_process')
  const own = [...(argv[0] === 'serve' ? argv : ['serve', ...argv]), '--port', String(port), '--workers', '1']
  const running = new Set<ChildProcess>()
  let stopping = false

  const start = (): void => {
    const child = spawn(process.execPath, [...process.execArgv, entryPoint('main.ts'), ...own], {
      env: { ...env, [WORKER_VARIABLE]: '1' },
      stdio: ['ignore', 'inherit', 'inherit'],
    })
    running.add(child)
    child.once('exit', () => {
      running.delete(child)
      if (!stopping) systemClock.after(REPLACE_MS, () => !stopping && start())
    })
  }
  for (let worker = 0; worker < count; worker += 1) start()

  return {
    signal(signal) {
      stopping ||= signal === 'SIGTERM'
      for (const child of running) child.kill(signal)
    },
    ended: async () => {
      await Promise.all([...running].map((child) => new Promise<void>((resolve) => void child.once('exit', () => resolve()))))
    },
  }
}
