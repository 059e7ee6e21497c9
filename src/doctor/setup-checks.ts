/** Checks that ask no model: the configuration file, the data, the secret, the clock, and the reachability of providers. */
import { misspeltVariables, SettingError, type Environment, type StorageSettings } from '../config.ts'
import { openCatalogueImports } from '../compose/catalogue-imports.ts'
import { catalogueSentence, composeModels } from '../compose/models.ts'
import { remedyFor } from './remedy.ts'
import { unknownNames } from '../compose/named-models.ts'
import { readConfigFile } from '../config-file.ts'
import type { ProxyOf } from '../lib/network/outgoing-proxy.ts'
import { systemFault } from '../lib/system-fault.ts'
import type { Clock } from '../lib/clock.ts'
import { buildModels, CatalogueError } from '../models/build-models.ts'
import type { CatalogueImport } from '../models/catalogue-imports.ts'
import catalogue from '../models/catalogue-data.json' with { type: 'json' }
import type { Catalogue } from '../models/catalogue-schema.ts'
import type { Models } from '../models/models.ts'
import { openStorage } from '../open-storage.ts'
import { secretPath } from '../root-secret.ts'
import { createCatalogueStore } from '../storage/service/catalogue-store.ts'
import type { Database } from '../storage/database.ts'
import { StorageConflict, StorageOlder, StorageRefused, StorageUnavailable } from '../storage/storage-errors.ts'
import type { Provider } from '../models/model.ts'

export interface Check {
  readonly name: string
  readonly state: 'fine' | 'note' | 'wrong'
  readonly says: string
}

export const checkConfiguration = (
  settings: StorageSettings,
  env: Environment,
  readImports: StorageFound['imports'],
): { readonly checks: readonly Check[]; readonly models: Models | null } => {
  const name = 'configuration'
  const imports = readImports ?? []
  const unknownName = (sentence: string): Check =>
    readImports === null ? { name, state: 'note', says: `${sentence} ${LISTS_UNREAD}` } : { name, state: 'wrong', says: sentence }
  try {
    const file = readConfigFile(settings.config, env)
    const models = buildModels(catalogue as Catalogue, file, env, [], imports)
    const providers = models.providers().length
    const found: Check =
      providers === 0
        ? {
            name,
            state: 'note',
            says: 'No provider is enabled: set one of their variables, such as OPENAI_API_KEY. The sandbox models answer without one.',
          }
        : { name, state: 'fine', says: `${count(providers, 'provider')}, ${count(models.list().length, 'model')}.` }
    // The sandbox's names are valid too, although no check asks the sandbox.
    const unknown = unknownNames(file, composeModels(file, settings.config, env, imports))
    const misspelt = misspeltVariables(env).map((says): Check => ({ name, state: 'wrong', says }))
    return { checks: [found, ...misspelt, ...unknown.map(unknownName)], models }
  } catch (thrown) {
    if (thrown instanceof CatalogueError) return { checks: [unknownName(catalogueSentence(thrown, settings.config))], models: null }
    if (!(thrown instanceof SettingError)) throw thrown
    return { checks: [{ name, state: 'wrong', says: thrown.message }], models: null }
  }
}

export interface StorageFound {
  readonly checks: readonly Check[]
  /** The price lists in the data: models that only such a list knows belong to this installation too. Null if they could not be read. */
  readonly imports: readonly CatalogueImport[] | null
}

/** For a directory in which no data was found; `fault` is the system's reason if there may be some. */
export const withoutData = ({ dataDir }: StorageSettings, fault: string | null): StorageFound =>
  only(
    fault === null
      ? { name: 'storage', state: 'note', says: `There is no data in ${dataDir} yet; the first start makes it.` }
      : { name: 'storage', state: 'wrong', says: `The data in ${dataDir} cannot be read (${fault}): run this as the user of the service.` },
  )

/** Checks the data and the secret with which it was made. */
export const checkStorage = async (settings: StorageSettings): Promise<StorageFound> => {
  try {
    const warnings: string[] = []
    const { database } = await openStorage(settings, {
      service: false,
      onError: () => undefined,
      warn: (sentence) => warnings.push(sentence),
    })
    const damaged: string[] = []
    let imports: readonly CatalogueImport[]
    try {
      await database.ping()
      await requireWrites(database)
      imports = (await openCatalogueImports(createCatalogueStore(database), (sentence) => damaged.push(sentence))).current()
    } finally {
      await database.close()
    }
    const where = settings.databaseUrl === null ? `SQLite in ${settings.dataDir}` : 'PostgreSQL'
    const storage = { name: 'storage', state: 'fine', says: `${where} answers, at the schema of this version.` } as const
    const lists = damaged.map((says) => ({ name: 'prices', state: 'wrong', says }) as const)
    return { checks: [storage, ...lists, secretCheck(settings, warnings)], imports }
  } catch (thrown) {
    if (thrown instanceof StorageOlder) return { ...only({ name: 'storage', state: 'note', says: thrown.message }), imports: null }
    if (thrown instanceof StorageRefused || thrown instanceof StorageUnavailable || thrown instanceof SettingError)
      return only({ name: 'storage', state: 'wrong', says: thrown.message })
    throw thrown
  }
}

const requireWrites = async (database: Database): Promise<void> => {
  try {
    await database.probe()
  } catch (thrown) {
    // Another process is writing, so writes are possible.
    if (!(thrown instanceof StorageConflict)) throw thrown
  }
}

const LISTS_UNREAD = 'Imported price lists, which may have it, are read when the database is up to date.'

const only = (check: Check): StorageFound => ({ checks: [check], imports: [] })

/** The secret fits, or storage would not have opened; `warnings` say what was repaired to open it. */
const secretCheck = (settings: StorageSettings, warnings: readonly string[]): Check => {
  const source = settings.secret === null ? secretPath(settings.dataDir) : 'PATCHBAY_SECRET'
  return warnings.length === 0
    ? { name: 'secret', state: 'fine', says: `${source} fits the data.` }
    : { name: 'secret', state: 'note', says: warnings.join(' ') }
}

/** A provider's clock counts as right; ours may differ from it by no more than this. */
const CLOCK_TOLERANCE_MS = 30_000
const REACH_MS = 5000

/** Sends each provider's host any request: any answer shows that it can be reached, and what time it has. */
export const checkProviders = async (
  providers: readonly Provider[],
  parts: { readonly clock: Clock; readonly get: Get; readonly proxyOf: ProxyOf },
): Promise<readonly Check[]> => {
  const reached = await Promise.all(providers.map((provider) => reachProvider(provider, parts)))
  const skews = reached.flatMap(({ skewMs }) => (skewMs === null ? [] : [skewMs]))
  return [...reached.map(({ check }) => check), clockCheck(skews)]
}

/** Returns the `Date` header of whatever is answered; rejects if nothing answers. */
export type Get = (url: string, withinMs: number, clock: Clock) => Promise<string | null>

const reachProvider = async (
  { slug, baseUrl }: Provider,
  { clock, get, proxyOf }: { readonly clock: Clock; readonly get: Get; readonly proxyOf: ProxyOf },
): Promise<{ readonly check: Check; readonly skewMs: number | null }> => {
  const name = `provider ${slug}`
  const startMs = clock.monotonicMs()
  try {
    const date = Date.parse((await get(baseUrl, REACH_MS, clock)) ?? '')
    const tookMs = Math.round(clock.monotonicMs() - startMs)
    const skewMs = Number.isNaN(date) ? null : clock.now() - date
    return { check: { name, state: 'fine', says: `${new URL(baseUrl).host} answers in ${tookMs} ms.` }, skewMs }
  } catch (thrown) {
    const fault = systemFault(thrown)
    const url = new URL(baseUrl)
    const says = `${url.host} cannot be reached (${fault}). ${remedyFor(fault, { proxied: proxyOf(url) !== null })}`.trimEnd()
    return { check: { name, state: 'wrong', says }, skewMs: null }
  }
}

const clockCheck = (skews: readonly number[]): Check => {
  const name = 'clock'
  if (skews.length === 0) return { name, state: 'note', says: 'No provider reported a time to compare with.' }
  const least = skews.reduce((a, b) => (Math.abs(a) < Math.abs(b) ? a : b))
  const seconds = Math.round(Math.abs(least) / 1000)
  return Math.abs(least) <= CLOCK_TOLERANCE_MS
    ? { name, state: 'fine', says: `Within ${Math.max(1, seconds)} s of the providers' clocks.` }
    : {
        name,
        state: 'wrong',
        says: `${seconds} s ${least > 0 ? 'ahead of' : 'behind'} the providers' clocks: budgets reset and keys expire at the wrong time.`,
      }
}

const count = (number: number, noun: string): string => `${number} ${noun}${number === 1 ? '' : 's'}`
