/** `patchbay serve`: configuration → parts → listening → drain. */
import { openService } from '../compose/open-service.ts'
import type { Service } from '../compose/service.ts'
import { readConfigFile } from '../config-file.ts'
import { SettingError, type Environment, type ServeSettings } from '../config.ts'
import { listen, type Server } from '../http/server.ts'
import { systemClock } from '../lib/clock.ts'
import { fromShell } from './from-shell.ts'
import { greeting, type FirstKeys } from './greeting.ts'
import { startWorkers, type Workers } from './workers.ts'
import { UNBOUNDED } from '../keys/keys.ts'

/** Ends the process when the service has stopped. `argv`: the flags, for workers. */
export const serve = async (settings: ServeSettings, env: Environment, argv: readonly string[]): Promise<never> => {
  if (settings.workers > 1 && settings.databaseUrl === null) {
    throw new SettingError('--workers: more than one process needs --database-url postgres://…, since a SQLite file has one writer.')
  }
  const isWorker = env['PATCHBAY_WORKER'] !== undefined
  const file = readConfigFile(settings.config, env)
  const service = await openService(settings, file, env)
  let server: Server
  let firstKeys: FirstKeys | null
  try {
    const { log } = service
    server = listen({
      host: settings.host,
      port: settings.port,
      shared: settings.workers > 1 || isWorker,
      app: service.app,
      onError: (thrown) => log.error({ error: thrown }, 'request failed'),
    })
    // Only a service that listens can show them.
    firstKeys = (await service.claimFirstStart()) ? await makeFirstKeys(service) : null
  } catch (thrown) {
    await service.close()
    throw thrown
  }
  const workers = settings.workers > 1 ? startWorkers(settings.workers - 1, server.port, argv, env) : null
  // Who reads the ready line may send a signal at once.
  process.on('SIGHUP', () => reload(service, settings, env, workers))
  const stopped = stopSignal(service)
  // A worker that a first process started is silent: the port is announced once.
  if (!isWorker) process.stdout.write(greeting(server.url, firstKeys, process.stdout.isTTY))

  await stopped
  await drain(service, server, settings.drainSeconds, workers)
  // A write to a log that nobody reads any more never ends, and would keep the process.
  process.exit()
}

const makeFirstKeys = async ({ keys, owner }: Service): Promise<FirstKeys> => {
  const make = async (kind: 'management' | 'inference'): Promise<string> => {
    const { key } = await keys.create(
      {
        kind,
        name: `First ${kind} key`,
        workspaceId: owner.workspaceId,
        creatorUserId: owner.userId,
        ...UNBOUNDED,
      },
      fromShell(owner.userId),
    )
    return key
  }
  return { management: await make('management'), inference: await make('inference') }
}

const reload = (service: Service, settings: ServeSettings, env: Environment, workers: Workers | null): void => {
  workers?.signal('SIGHUP')
  try {
    service.reload(readConfigFile(settings.config, env))
    service.log.info({}, 'configuration reloaded')
  } catch (thrown) {
    service.log.error({ error: thrown }, 'configuration not reloaded; the old one stays in force')
    process.stderr.write(`patchbay: the old configuration stays in force. ${thrown instanceof Error ? thrown.message : ''}\n`)
  }
}

const FATAL_DRAIN_SECONDS = 5

/** Resolves at the first SIGTERM or SIGINT. A fault that nobody caught ends the process too, after a short drain: its state is unknown. */
const stopSignal = ({ log }: Service): Promise<void> =>
  new Promise((resolve) => {
    process.on('SIGTERM', () => resolve())
    process.on('SIGINT', () => resolve())
    const fatal = (thrown: unknown): void => {
      log.error({ error: thrown }, 'uncaught fault: stopping')
      process.stderr.write(
        `patchbay: uncaught fault, stopping: ${thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown)}\n`,
      )
      systemClock.after(FATAL_DRAIN_SECONDS * 1000, () => process.exit(1))
      process.exitCode = 1
      resolve()
    }
    process.on('uncaughtException', fatal)
    process.on('unhandledRejection', fatal)
  })

const TICK_MS = 20
/** One Ctrl-C arrives within this time, however often. */
const ECHO_MS = 500
/** Time for the error events of streams that were ended to leave. */
const LAST_WORDS_MS = 1000

const drain = async (service: Service, server: Server, seconds: number, workers: Workers | null): Promise<void> => {
  const beganMs = systemClock.monotonicMs()
  let impatient = false
  // A second signal means now; but npm sends on the Ctrl-C that the terminal has sent already.
  process.on('SIGTERM', () => (impatient = true))
  process.on('SIGINT', () => (impatient ||= systemClock.monotonicMs() - beganMs > ECHO_MS))
  if (server.open() > 0 && process.stderr.isTTY) {
    process.stderr.write(`patchbay: stopping; ${server.open()} still open, up to ${seconds} s. Ctrl-C again stops now.\n`)
  }
  service.beginDrain()
  server.stopAccepting()
  workers?.signal('SIGTERM')
  const idle = (withinMs: number): Promise<void> => until(() => server.open() === 0 || (impatient && withinMs > LAST_WORDS_MS), withinMs)
  await idle(seconds * 1000)
  service.endRuns()
  await idle(LAST_WORDS_MS)
  await workers?.ended()
  await server.close()
  await service.close()
}

const until = async (reached: () => boolean, withinMs: number): Promise<void> => {
  const endMs = systemClock.monotonicMs() + withinMs
  while (!reached() && systemClock.monotonicMs() < endMs) await new Promise<void>((resolve) => void systemClock.after(TICK_MS, resolve))
}
