/** Storage for the time of one command, whether a service runs on it or not. */
import type { StorageSettings } from '../config.ts'
import { openStorage, type Storage } from '../open-storage.ts'
import { requireData } from './require-data.ts'
import { warn } from './warn.ts'

/** Throws SettingError if there is none. */
export const withStorage = <Result>(settings: StorageSettings, work: (storage: Storage) => Promise<Result>): Promise<Result> => {
  requireData(settings)
  return withNewStorage(settings, work)
}

/** Makes the database if there is none. */
export const withNewStorage = async <Result>(settings: StorageSettings, work: (storage: Storage) => Promise<Result>): Promise<Result> => {
  const storage = await openStorage(settings, { service: false, onError: () => undefined, warn })
  try {
    return await work(storage)
  } finally {
    await storage.database.close()
  }
}
