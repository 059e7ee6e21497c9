/** `patchbay serve`: configuration → parts → listening → drain. */
import { openService } from '../compose/open-service.ts'
import type { Service } from '../compose/service.ts'
import { type ConfigFile, createConfigReader } from '../config-file.ts'
import { type Environment, type ServeSettings, SettingError, wantsColours, WORKER_VARIABLE } from '../config.ts'
import { listen, type Server } from '../http/server.ts'
import { systemClock } from '../lib/clock.ts'
import { createLineBuffer } from '../telemetry/line-buffer.ts'
import { signInPlace } from '../sign-in/login-links.ts'
import { makeFirstKeys, takeBackFirstKeys, type MadeFirstKeys } from './first-keys.ts'
import { createStopSignals, isRunByNpx, stopWithShell, type StopSignals } from './stop-signals.ts'
import { startWorkers, type Workers } from './workers.ts'
import { type FirstKeys, greeting } from './greeting.ts'
import { printWhole } from './print.ts'

const STDERR = 2
/** Takes sentences for the person at the terminal, and writes them in the background: a write to a terminal that nobody reads never ends. */
const terminal = createLineBuffer(STDERR, systemClock)

/** Ends the process when the service has stopped. `argv` are the flags, which are passed to workers. */
export const serve = async (settings: ServeSettings, env: Environment, argv: readonly string[]): Promise<never> => {
  if (settings.workers > 1 && settings.databaseUrl === null) {
    throw new SettingError('--workers: more than one process needs --database-url postgres://…, since a SQLite file has one writer.')
  }
  const isWorker = env[WORKER_VARIABLE] !== undefined
  // Without a listener, SIGHUP would end the process: a signal that comes too early waits until there is something to reload.
  const reloader = Promise.withResolvers<() => void>()
  let hangUps = 0
  process.on('SIGHUP', () => {
    hangUps += 1
    void reloader.promise.then((reloadNow) => reloadNow())
  })
  outliveOtherSignals()
  const read = createConfigReader(settings.config, env)
  const file = read()
  const signals = stopSignals()
  if (!isWorker && isRunByNpx(env)) {
    stopWithShell(signals, { clock: systemClock, parent: () => process.ppid, hangUps: () => hangUps })
  }
  let opened = false
  // Nothing has to end yet, and the first process of a container would wait on for a database that does not answer.
  void signals.asked.then(() => {
    if (!opened) process.exit(0)
  })
  const service = await openService(settings, file, env)
  opened = true
  let server: Server
  let firstKeys: MadeFirstKeys | null
  try {
    const { log } = service
    server = listen({
      host: settings.host,
      port: settings.port,
      shared: settings.workers > 1 || isWorker,
      app: service.app,
      onError: (thrown) => log.error({ error: thrown }, 'request failed'),
    })
    // Only a service that listens can show its address and the first keys.
    if (!isWorker) await service.noteAddress(server.url)
    firstKeys = (await service.claimFirstStart())
      ? await makeFirstKeys(service, file.dashboard ? signInPlace(file.server.public_url, server.url) : null)
      : null
  } catch (thrown) {
    await service.close()
    throw thrown
  }
  const workers = settings.workers > 1 ? startWorkers(settings.workers - 1, server.port, argv, env) : null
  // A program that reads the ready line may send a signal at once.
  reloader.resolve(() => reload(service, read, workers, file))
  const isFaulty = stopOnFault(service, signals)
  // A worker that the first process started prints nothing: the port is announced once.
  if (!isWorker) await announce(server.url, firstKeys, env, () => takeBackFirstKeys(service, firstKeys))

  await signals.asked
  try {
    await leave({ service, workers, signals }, isFaulty() ? 0 : settings.leaveSeconds)
    await drain({ service, server, workers, signals }, settings.drainSeconds)
  } catch (thrown) {
    // The process must end: if it stayed, it would hold the port and the database.
    terminal.write(`patchbay: stopped, and not everything could be written: ${thrown instanceof Error ? thrown.message : String(thrown)}\n`)
    process.exitCode = 1
  }
  await terminal.flush()
  // Exits explicitly, because a pending write to a log that nobody reads would keep the process alive.
  process.exit()
}

/** `first` is the file with which this process started. */
const reload = (service: Service, read: () => ConfigFile, workers: Workers | null, first: ConfigFile): void => {
  workers?.signal('SIGHUP')
  try {
    const next = read()
    service.reload(next)
    service.noteConfigFault(null)
    service.log.info({}, 'configuration reloaded')
    if (next.log.format !== first.log.format) service.log.warn({}, 'log.format has changed; it is read only at the start of the service')
  } catch (thrown) {
    service.noteConfigFault(thrown instanceof Error ? thrown.message : String(thrown))
    service.log.error({ error: thrown }, 'configuration not reloaded; the old one stays in force')
    terminal.write(`patchbay: the old configuration stays in force. ${thrown instanceof Error ? thrown.message : ''}\n`)
  }
}

/** Without a listener these signals would end the process and its requests; an administrator sends them for new log files, as other servers take them. */
const outliveOtherSignals = (): void => {
  for (const name of ['SIGUSR1', 'SIGUSR2'] as const) {
    process.on(name, () => terminal.write(`patchbay: ${name} changes nothing. SIGHUP reads the configuration again.\n`))
  }
}

const FATAL_DRAIN_SECONDS = 5

const stopSignals = (): StopSignals => {
  const signals = createStopSignals(systemClock)
  process.on('SIGTERM', signals.signalled)
  process.on('SIGINT', signals.signalled)
  return signals
}

/** An uncaught fault also ends the process, after a short drain, because its state is unknown. Returns whether there was one. */
const stopOnFault = ({ log }: Service, signals: StopSignals): (() => boolean) => {
  let faulty = false
  const fatal = (thrown: unknown): void => {
    log.error({ error: thrown }, 'uncaught fault: stopping')
    terminal.write(`patchbay: uncaught fault, stopping: ${thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown)}\n`)
    systemClock.after(FATAL_DRAIN_SECONDS * 1000, () => process.exit(1))
    process.exitCode = 1
    faulty = true
    signals.signalled()
  }
  process.on('uncaughtException', fatal)
  process.on('unhandledRejection', fatal)
  return () => faulty
}

const TICK_MS = 20
/** Time for the error events of ended streams to be sent. */
const LAST_WORDS_MS = 1000

interface Running {
  readonly service: Service
  readonly server: Server
  readonly workers: Workers | null
  readonly signals: Pick<StopSignals, 'impatient'>
}

/** Takes requests for as long as balancers need to notice that this process goes. */
const leave = async ({ service, workers, signals }: Omit<Running, 'server'>, seconds: number): Promise<void> => {
  service.beginLeave()
  workers?.signal('SIGTERM')
  // A terminal sends its signals to each process, a supervisor only to the first.
  const hurry = (): void => (signals.impatient ? workers?.signal('SIGTERM') : undefined)
  process.on('SIGTERM', hurry)
  process.on('SIGINT', hurry)
  await until(() => signals.impatient, seconds * 1000)
}

const drain = async ({ service, server, workers, signals }: Running, seconds: number): Promise<void> => {
  if (server.open() > 0 && process.stderr.isTTY) {
    terminal.write(`patchbay: stopping; ${server.open()} still open, up to ${seconds} s. Ctrl-C again stops now.\n`)
  }
  service.beginDrain(seconds * 1000)
  server.stopAccepting()
  const isIdle = (): boolean => server.open() === 0
  await until(() => isIdle() || signals.impatient, seconds * 1000)
  service.endRuns()
  await until(isIdle, LAST_WORDS_MS)
  await server.close()
  // In parallel, because each process may have to wait for a database that hangs.
  try {
    await service.close()
  } finally {
    await workers?.ended()
  }
}

const until = async (reached: () => boolean, withinMs: number): Promise<void> => {
  const endMs = systemClock.monotonicMs() + withinMs
  while (!reached() && systemClock.monotonicMs() < endMs) await new Promise<void>((resolve) => void systemClock.after(TICK_MS, resolve))
}

/** Calls `onUnread` if nobody can read the output: a pipe without a reader, or a closed terminal. The service continues. */
const announce = async (url: string, keys: FirstKeys | null, env: Environment, onUnread: () => Promise<void>): Promise<void> => {
  try {
    await printWhole(greeting(url, keys, { terminal: process.stdout.isTTY, styled: wantsColours(env) }))
  } catch {
    await onUnread()
  }
}
