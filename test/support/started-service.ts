/** The service as its users run it: a separate process, whose address is read from its output. */
import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { afterAll } from 'bun:test'
import { patient } from './patience.ts'

/** TEST_PROGRAM names another build of the service, such as the executable. */
const PROGRAM = process.env['TEST_PROGRAM'] ?? join(import.meta.dir, '../../bin/patchbay')

interface StartOptions {
  /** The text of a configuration file. */
  readonly config?: string
  /** The data folder of an earlier service; by default a new one. */
  readonly dataDir?: string
  readonly env?: Readonly<Record<string, string>>
  readonly flags?: readonly string[]
  /** A file descriptor in place of the pipe that is read here. */
  readonly stderr?: number
  /** The command that runs the service, which follows it; by default none. */
  readonly within?: readonly string[]
}

/** A service that can be called, whatever process it runs in. */
export interface RunningService {
  /** The address of the service, without a path. */
  readonly url: string
  /** The base of the API. */
  readonly api: string
  readonly dataDir: string
  readonly configPath: string
  /** Made on the very first start; '' later. */
  readonly managementKey: string
  readonly inferenceKey: string
  stop(): Promise<unknown>
}

export interface StartedService extends RunningService {
  /** Milliseconds from the start of the process to its ready line. */
  readonly readyMs: number
  readonly pid: number
  /** Writes the configuration file anew; SIGHUP makes the service read it. */
  configure(config: string): void
  /** The lines that the process has written so far. */
  stdout(): string
  stderr(): string
  signal(name: NodeJS.Signals): void
  /** The exit code; null if a signal ended the process. */
  readonly exited: Promise<number | null>
  /** Sends SIGTERM and waits for the exit. */
  stop(): Promise<number | null>
}

export interface Services {
  start(options?: StartOptions): Promise<StartedService>
  /** Runs another subcommand, or a start that is expected to fail, until it exits. */
  run(args: readonly string[], env?: Readonly<Record<string, string>>): Promise<Ended>
  /** The same where no file may have more than some 16 KiB, so that a write fails in its middle, as on a full disk. */
  runWithoutRoom(args: readonly string[], env?: Readonly<Record<string, string>>): Promise<Ended>
  /** A new directory, removed after the file's tests. */
  directory(): string
}

/** In blocks of 512 or 1024 bytes; the signal would end the process before the write could fail. */
const WITHOUT_ROOM = ['/bin/sh', '-c', `trap '' XFSZ; ulimit -f 16; exec "$0" "$@"`, PROGRAM]

interface Ended {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

/** After the tests of the file, everything started here is stopped and everything written is removed. */
export const useServices = (): Services => {
  const directories: string[] = []
  const processes: ChildProcess[] = []
  afterAll(async () => {
    await Promise.all(processes.map(endNow))
    for (const path of directories) rmSync(path, { recursive: true, force: true })
  })
  const directory = (): string => {
    const path = mkdtempSync(join(tmpdir(), 'patchbay-acceptance-'))
    directories.push(path)
    return path
  }
  const launch = (
    args: readonly string[],
    env: Readonly<Record<string, string>> = {},
    stderr: number | 'pipe' = 'pipe',
    program = [PROGRAM],
  ): ChildProcess => {
    const { PATH = '', HOME = '' } = process.env
    const [first = PROGRAM, ...before] = program
    const child = spawn(first, [...before, ...args], { cwd: directory(), env: { PATH, HOME, ...env }, stdio: ['ignore', 'pipe', stderr] })
    processes.push(child)
    return child
  }
  const ended = async (child: ChildProcess): Promise<Ended> => {
    const texts = collect(child)
    const code = await exitOf(child)
    return { code, stdout: texts.stdout(), stderr: texts.stderr() }
  }
  return {
    directory,
    run: (args, env) => ended(launch(args, env)),
    runWithoutRoom: (args, env) => ended(launch(args, env, 'pipe', WITHOUT_ROOM)),
    async start({ config = '', dataDir = join(directory(), 'data'), env, flags = [], stderr, within = [] } = {}) {
      const configPath = join(directory(), 'patchbay.yaml')
      writeFileSync(configPath, patientConfig(config))
      const startedAt = performance.now()
      const child = launch(['serve', '--port', '0', '--data-dir', dataDir, '--config', configPath, ...flags], env, stderr, [
        ...within,
        PROGRAM,
      ])
      const texts = collect(child)
      const exited = exitOf(child)
      let over = false
      void exited.then(() => (over = true))
      await until(() => over || READY.test(texts.stdout()), 'the ready line', patient(10_000))
      const url = READY.exec(texts.stdout())?.[1]
      if (url === undefined) throw new Error(`The service did not start: ${texts.stdout()}${texts.stderr()}`)
      const readyMs = performance.now() - startedAt
      return {
        url,
        api: `${url}/api/v1`,
        dataDir,
        configPath,
        managementKey: /^management key (\S+)$/m.exec(texts.stdout())?.[1] ?? '',
        inferenceKey: /^inference key (\S+)$/m.exec(texts.stdout())?.[1] ?? '',
        readyMs,
        pid: child.pid ?? 0,
        configure: (newConfig) => writeFileSync(configPath, patientConfig(newConfig)),
        stdout: texts.stdout,
        stderr: texts.stderr,
        signal: (name) => void child.kill(name),
        exited,
        async stop() {
          child.kill('SIGTERM')
          return exited
        },
      }
    },
  }
}

/** A process that lags because the machine is busy with other tests would refuse requests, which says nothing about the code. */
export const patientConfig = (config: string): string => {
  if (config.includes('loop_lag_ms')) return config
  const limits = /^limits:( \{)?/m
  if (!limits.test(config)) return `${config}\nlimits: { loop_lag_ms: 0 }\n`
  return config.replace(limits, (_, inline?: string) => (inline === undefined ? 'limits:\n  loop_lag_ms: 0' : 'limits: { loop_lag_ms: 0,'))
}

/** The whole ready line, and on the first start everything after it in the same write. */
const READY = /^patchbay ready (\S+)\n/m

const collect = (child: ChildProcess): { stdout(): string; stderr(): string } => {
  const texts = { stdout: '', stderr: '' }
  for (const name of ['stdout', 'stderr'] as const) {
    child[name]?.setEncoding('utf8').on('data', (piece: string) => (texts[name] += piece))
  }
  return { stdout: () => texts.stdout, stderr: () => texts.stderr }
}

/** Resolves when the output is complete, too. */
const exitOf = (child: ChildProcess): Promise<number | null> =>
  new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code) => resolve(code))
  })

const endNow = async (child: ChildProcess): Promise<void> => {
  if (child.exitCode !== null || child.signalCode !== null) return
  const ended = exitOf(child)
  child.kill('SIGKILL')
  await ended
}

/** Polls for a condition that no event announces. */
export const until = async (reached: () => boolean | Promise<boolean>, what: string, withinMs = patient(3000)): Promise<void> => {
  const deadline = performance.now() + withinMs
  while (!(await reached())) {
    if (performance.now() > deadline) throw new Error(`Waited ${withinMs} ms for ${what} in vain.`)
    await Bun.sleep(5)
  }
}
