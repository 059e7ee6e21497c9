/** A service on the real clock, the real log and the database of its settings. */
import { join } from 'node:path'

import type { ConfigFile } from '../config-file.ts'
import { misspeltVariables, wantsColours, type Environment, type ServeSettings } from '../config.ts'
import { systemClock, threadCpuMs } from '../lib/clock.ts'
import { systemIds } from '../lib/id.ts'
import { openStorage } from '../open-storage.ts'
import { openPresetSeal } from '../presets/preset-seal.ts'
import { derivedKeys } from '../root-secret.ts'
import { createFactStore } from '../storage/service/fact-store.ts'
import { openJournal, type Journal } from '../storage/journal.ts'
import { createRedisLimits } from '../storage/limits/redis-limits.ts'
import { createLog, type Log, type LogStyle } from '../telemetry/log.ts'
import { createMetrics } from '../telemetry/metrics.ts'
import { startSettings } from './effective-settings.ts'
import { composeService, type Service } from './service.ts'

/** Throws SettingError, StorageRefused, StorageUnavailable. */
export const openService = async (settings: ServeSettings, file: ConfigFile, env: Environment): Promise<Service> => {
  const clock = systemClock
  const ids = systemIds
  const { log, flush, dropped } = createLog(settings.logLevel, clock, styleOf(file, env))
  for (const sentence of misspeltVariables(env)) log.warn({}, sentence)
  const metrics = createMetrics()
  metrics.gauge('patchbay_log_lines_dropped', 'Log lines that were dropped because nobody read them in time.', dropped)
  const storage = await openStorage(settings, {
    service: true,
    onError: (error) => log.error({ error }, 'the database failed'),
    warn: (sentence) => log.warn({}, sentence),
  })
  const seal = await openPresetSeal(createFactStore(storage.database), derivedKeys(storage.secret, 'preset-key'), ids)
  const journal = journalIn(settings, log)
  const node = ids.uuid()
  const redis = settings.redisUrl === null ? null : { url: settings.redisUrl, prefix: `patchbay:${storage.owner.workspaceId}:` }
  const limitStore = redis === null ? (storage.database.server?.openLimits(node) ?? null) : createRedisLimits({ ...redis, node })
  const base = {
    startSettings: startSettings(settings, env),
    clock,
    cpuMs: threadCpuMs,
    ids,
    log,
    metrics,
    storage,
    host: settings.host,
    memoryBytes: process.constrainedMemory(),
    journal,
    seal,
    node,
    limitStore,
    redis,
  }
  const service = await composeService(base, file, settings.config, env)
  return {
    ...service,
    async close() {
      await service.close()
      await flush()
    },
  }
}

/** On a terminal a person reads along. */
const styleOf = ({ log: { format } }: ConfigFile, env: Environment): LogStyle => {
  const { isTTY } = process.stderr
  const pretty = format === 'pretty' || (format === 'auto' && isTTY)
  return { pretty, coloured: pretty && isTTY && wantsColours(env) }
}

/** A service on PostgreSQL may run on a read-only file system: it then works without a journal. */
const journalIn = ({ dataDir, databaseUrl }: ServeSettings, log: Log): Journal | null => {
  // On SQLite this service has the directory to itself. A running process with the number of the killed one is another program.
  const isAlive = databaseUrl === null ? () => false : isRunning
  try {
    return openJournal(join(dataDir, 'journal'), { pid: process.pid, isAlive })
  } catch (error) {
    log.warn({ error }, 'no journal can be kept in the data directory: a process that is killed loses what it answered last')
    return null
  }
}

/** Signal 0 is not delivered to the process; it fails with EPERM if the process belongs to another user. */
const isRunning = (pid: number): boolean => {
  try {
    return process.kill(pid, 0)
  } catch (thrown) {
    return (thrown as NodeJS.ErrnoException).code === 'EPERM'
  }
}
