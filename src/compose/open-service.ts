/** A service on the real clock, the real log and the database of its settings. */
import type { ConfigFile } from '../config-file.ts'
import type { Environment, ServeSettings } from '../config.ts'
import { systemClock } from '../lib/clock.ts'
import { systemIds } from '../lib/id.ts'
import { openStorage } from '../open-storage.ts'
import { openPresetSeal } from '../presets/preset-seal.ts'
import { derivedKeys } from '../root-secret.ts'
import { createFactStore } from '../storage/fact-store.ts'
import { createLog } from '../telemetry/log.ts'
import { createMetrics } from '../telemetry/metrics.ts'
import { composeService, type Service } from './service.ts'

/** Throws SettingError, StorageRefused, StorageUnavailable. */
export const openService = async (settings: ServeSettings, file: ConfigFile, env: Environment): Promise<Service> => {
  const [clock, ids] = [systemClock, systemIds]
  const { log, flush, dropped } = createLog(settings.logLevel, clock)
  const metrics = createMetrics()
  metrics.gauge('patchbay_log_lines_dropped', 'Log lines that nobody took in time.', dropped)
  const storage = await openStorage(settings, {
    service: true,
    onError: (error) => log.error({ error }, 'database'),
    warn: (sentence) => log.warn({}, sentence),
  })
  const seal = await openPresetSeal(createFactStore(storage.database), derivedKeys(storage.secret, 'preset-key'), ids)
  const service = await composeService({ clock, ids, log, metrics, storage, seal }, file, settings.config, env)
  return {
    ...service,
    async close() {
      await service.close()
      flush()
    },
  }
}
