/**
 * Real services on real sockets and databases, which share a process of their own (programs/service-host.ts). They have no output and no
 * signals: a test of these, or of settings of the command line, starts a process by `useServices`.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { afterAll, afterEach, beforeEach } from 'bun:test'
import { patientConfig, type RunningService } from './started-service.ts'

export interface HostCall {
  readonly id: number
  readonly start?: { readonly dataDir: string; readonly config: string }
  /** The data directory of the service to be stopped. */
  readonly stop?: string
}

export interface HostAnswer {
  readonly id: number
  /** Null if nothing was started. */
  readonly started: HostedAddress | null
  readonly fault: string | null
}

/** The keys are '' unless this was the first start on its data. */
export type HostedAddress = Pick<RunningService, 'url' | 'managementKey' | 'inferenceKey'>

export interface HostedServices {
  /** `config` is the text of a configuration file; `dataDir` that of an earlier service, by default a new one. */
  start(options?: { readonly config?: string; readonly dataDir?: string }): Promise<RunningService>
  /** A new directory, removed after the file's tests. */
  directory(): string
}

/**
 * A service that a test started is stopped before the next one, the others after the tests of the file; then their directories are removed.
 */
export const useHostedServices = (): HostedServices => {
  const directories: string[] = []
  const running: RunningService[] = []
  const ofTest: RunningService[] = []
  let isInTest = false
  beforeEach(async () => {
    await Promise.all(ofTest.splice(0).map((service) => service.stop()))
    isInTest = true
  })
  afterEach(() => void (isInTest = false))
  afterAll(async () => {
    await Promise.all(running.map((service) => service.stop()))
    for (const path of directories) rmSync(path, { recursive: true, force: true })
  })
  const directory = (): string => {
    const path = mkdtempSync(join(tmpdir(), 'patchbay-hosted-'))
    directories.push(path)
    return path
  }
  return {
    directory,
    async start({ config = '', dataDir = join(directory(), 'data') } = {}) {
      const configPath = join(directory(), 'patchbay.yaml')
      writeFileSync(configPath, patientConfig(config))
      const started = await call({ start: { dataDir, config: configPath } })
      if (started === null) throw new Error('The host of the services started none.')
      const service = { ...started, api: `${started.url}/api/v1`, dataDir, configPath, stop: () => call({ stop: dataDir }) }
      running.push(service)
      if (isInTest) ofTest.push(service)
      return service
    },
  }
}

/** One process for all test files of this process; its end ends it. */
let host: ChildProcess | null = null
const waiting = new Map<number, PromiseWithResolvers<HostedAddress | null>>()
let calls = 0

const call = (asked: Omit<HostCall, 'id'>): Promise<HostedAddress | null> => {
  const id = (calls += 1)
  const answer = Promise.withResolvers<HostedAddress | null>()
  waiting.set(id, answer)
  hostProcess().send({ id, ...asked })
  return answer.promise
}

const hostProcess = (): ChildProcess => {
  if (host !== null) return host
  const { PATH = '', HOME = '' } = process.env
  host = spawn(process.execPath, [join(import.meta.dir, 'programs/service-host.ts')], {
    cwd: tmpdir(),
    env: { PATH, HOME },
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  })
  host.on('message', ({ id, started, fault }: HostAnswer) => {
    if (fault === null) waiting.get(id)?.resolve(started)
    else waiting.get(id)?.reject(new Error(fault))
    waiting.delete(id)
  })
  host.once('exit', (code) => {
    host = null
    for (const { reject } of waiting.values()) reject(new Error(`The host of the services ended with ${String(code)}.`))
    waiting.clear()
  })
  host.unref()
  return host
}
