/**
 * The program that `npm run build:binary` compiles: the service as one file. The processes that it starts run this file again, with the
 * entry point as the first argument (decisions/0063).
 */
import { existsSync, readFileSync } from 'node:fs'

import { entryPoint } from '../src/lib/entry-points.ts'

/** The variables that bin/bun and bin/patchbay set for an installed package. The runtime reads these before any code of ours runs. */
const settingsOfRuntime = (): Record<string, string> => ({
  BUN_CONFIG_MAX_HTTP_REQUESTS: '65535',
  BUN_JSC_forceRAMSize: String(Math.floor(Math.min(MEMORY_MAX, ...MEMORY_LIMITS.map(limitIn)) / 4) * 3),
  BUN_JSC_thresholdForFTLOptimizeAfterWarmUp: '1000000',
  UV_THREADPOOL_SIZE: '64',
})

const MEMORY_MAX = 512 * 1024 * 1024
const MEMORY_LIMITS = ['/sys/fs/cgroup/memory.max', '/sys/fs/cgroup/memory/memory.limit_in_bytes']

const limitIn = (file: string): number => (existsSync(file) && Number(readFileSync(file, 'utf8'))) || Number.POSITIVE_INFINITY

const start = (): void => {
  const [, , entry] = process.argv
  if (entry === entryPoint('lib/documents/document-process.ts')) {
    process.argv.splice(1, 1)
    void import('../src/lib/documents/document-process.ts')
    return
  }
  const missing = Object.entries(settingsOfRuntime()).filter(([name]) => !process.env[name])
  if (missing.length > 0 && process.execve !== undefined) {
    process.execve(process.execPath, [process.execPath, ...process.argv.slice(2)], { ...process.env, ...Object.fromEntries(missing) })
  }
  if (entry === entryPoint('main.ts')) process.argv.splice(1, 1)
  void import('../src/main.ts')
}

start()
