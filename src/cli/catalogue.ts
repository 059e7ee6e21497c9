/** `patchbay catalogue …`: updates models and prices without a new release; a running service sees the change within half a second. */
import { readFileSync, statSync } from 'node:fs'

import { readConfigFile, type ConfigFile } from '../config-file.ts'
import { environment, SettingError, type StorageSettings } from '../config.ts'
import { isoTimestamp, systemClock } from '../lib/clock.ts'
import shippedCatalogue from '../models/catalogue-data.json' with { type: 'json' }
import { catalogueChanges, type CatalogueChange } from '../models/catalogue-changes.ts'
import { layerImports, pricesDay, readImports, type CatalogueImport } from '../models/catalogue-imports.ts'
import type { Catalogue, EndpointEntry } from '../models/catalogue-schema.ts'
import { ageDays } from '../models/model-resource.ts'
import { PRICE_LIST_KINDS, type PriceListKind } from '../models/price-lists/price-list.ts'
import { PriceListError, readPriceList, type PriceList } from '../models/price-lists/read-price-list.ts'
import type { Storage } from '../open-storage.ts'
import type { AuditedChange } from '../storage/changes/audit-log.ts'
import { createCatalogueStore, type CatalogueStore } from '../storage/service/catalogue-store.ts'
import { changeLine, refusedLine, summaryLine, unknownLine } from './catalogue-report.ts'
import { fromShell } from './from-shell.ts'
import { print } from './print.ts'
import { warn } from './warn.ts'
import { withStorage } from './with-storage.ts'

const SHIPPED = shippedCatalogue as Catalogue

export interface ImportFlags {
  readonly kind?: string
  readonly asOf?: string
  readonly dryRun?: boolean
  readonly json?: boolean
}

export const importCatalogueVerb = async (settings: StorageSettings, path: string, flags: ImportFlags): Promise<void> => {
  const kind = flags.kind === undefined ? null : kindOf('--kind', flags.kind)
  const asOf = dayOf(flags.asOf, path)
  const text = textOf(path)
  const file = readConfigFile(settings.config, environment())
  await withImports(settings, async ({ imports, store, storage }) => {
    const known = layerImports(SHIPPED.models, imports)
    const providers = new Set([...Object.keys(SHIPPED.providers), ...Object.keys(file.providers)])
    const list = parsed(path, () =>
      readPriceList(text, kind, (own) => ({ providers, models: layerImports(SHIPPED.models, without(imports, own)).models })),
    )
    const importedAt = isoTimestamp(systemClock.now())
    const next: CatalogueImport = { kind: list.kind, asOf, importedAt, models: list.models }
    const after = layerImports(SHIPPED.models, [...without(imports, list.kind), next])
    const changes = catalogueChanges(known.models, after.models)
    report({ list, changes, asOf }, file, flags)
    if (flags.dryRun === true) return
    const audit = auditOf(storage, 'imported', list.kind, imports, { as_of: asOf, models: Object.keys(list.models).length })
    await store.put({ ...next, models: JSON.stringify(list.models) }, audit, fromShell(storage.owner.userId))
  })
}

const without = (imports: readonly CatalogueImport[], kind: PriceListKind): readonly CatalogueImport[] =>
  imports.filter((one) => one.kind !== kind)

/** `what` is the flag or argument that contains the word. */
const kindOf = (what: string, word: string): PriceListKind => {
  const kind = PRICE_LIST_KINDS.find((one) => one === word)
  if (kind === undefined) throw new SettingError(`${what} must be one of ${PRICE_LIST_KINDS.join(', ')} (it is ${JSON.stringify(word)}).`)
  return kind
}

/** A price list does not say when it was made; a file's own time is that of its download. */
const dayOf = (flag: string | undefined, path: string): string => {
  if (flag === undefined) return isoTimestamp(path === STDIN ? systemClock.now() : fileTime(path)).slice(0, 10)
  // Date.parse would take 30 February for 2 March.
  if (!pricesDay.safeParse(flag).success)
    throw new SettingError(`--as-of must be a day such as 2026-11-22 (it is ${JSON.stringify(flag)}).`)
  if (Date.parse(flag) > systemClock.now()) throw new SettingError('--as-of must not be in the future.')
  return flag
}

const STDIN = '-'

const fileTime = (path: string): number => reading(path, () => Math.min(statSync(path).mtimeMs, systemClock.now()))

const textOf = (path: string): string => reading(path, () => readFileSync(path === STDIN ? 0 : path, 'utf8'))

const reading = <Value>(path: string, read: () => Value): Value => {
  try {
    return read()
  } catch (cause) {
    throw new SettingError(`${path}: the file cannot be read (${(cause as NodeJS.ErrnoException).code ?? 'unknown reason'}).`)
  }
}

const parsed = (path: string, read: () => PriceList): PriceList => {
  try {
    return read()
  } catch (thrown) {
    if (thrown instanceof PriceListError) throw new SettingError(`${path}: ${thrown.message}`)
    throw thrown
  }
}

interface Imported {
  readonly list: PriceList
  readonly changes: readonly CatalogueChange[]
  readonly asOf: string
}

const report = ({ list, changes, asOf }: Imported, file: ConfigFile, flags: ImportFlags): void => {
  const beaten = (change: CatalogueChange): boolean => file.models[change.model]?.endpoints !== undefined
  if (flags.json === true) {
    const shown = changes.map((change) => ({ ...change, beaten_by_own_entry: beaten(change) }))
    const unknown = Object.fromEntries(list.unknownProviders)
    print(
      JSON.stringify({
        kind: list.kind,
        as_of: asOf,
        dry_run: flags.dryRun === true,
        changes: shown,
        refused: list.refused,
        unknown_providers: unknown,
      }),
    )
    return
  }
  for (const change of changes) print(changeLine(change, beaten(change)))
  for (const line of list.refused) print(refusedLine(line))
  if (list.unknownProviders.size > 0) print(unknownLine(list.unknownProviders))
  print(summaryLine(list, changes, asOf, flags.dryRun === true))
}

export interface ShowFlags {
  readonly json?: boolean
}

/** `wanted` is a part of a model's id; all models are shown if it is absent. */
export const showCatalogueVerb = async (settings: StorageSettings, wanted: string | undefined, flags: ShowFlags): Promise<void> => {
  const file = readConfigFile(settings.config, environment())
  await withImports(settings, ({ imports }) => {
    const nowMs = systemClock.now()
    const { models, sourceOf } = layerImports(SHIPPED.models, imports)
    const ids = [...new Set([...Object.keys(models), ...Object.keys(file.models)])]
      .filter((id) => wanted === undefined || id.includes(wanted))
      .sort()
    if (wanted !== undefined && ids.length === 0)
      throw new SettingError(`the catalogue has no model with ${JSON.stringify(wanted)} in its id.`)
    for (const id of ids) {
      const own = file.models[id]?.endpoints
      for (const endpoint of own ?? models[id]?.endpoints ?? []) {
        const source =
          own === undefined ? (sourceOf(endpoint) ?? { from: 'catalogue', asOf: SHIPPED.as_of }) : { from: 'operator', asOf: null }
        print(flags.json === true ? JSON.stringify(shownJson(id, endpoint, source, nowMs)) : shownLine(id, endpoint, source, nowMs))
      }
    }
    return Promise.resolve()
  })
}

interface Source {
  readonly from: string
  readonly asOf: string | null
}

const shownJson = (model: string, { provider, prices }: EndpointEntry, { from, asOf }: Source, nowMs: number): object => ({
  model,
  provider,
  prices: prices ?? null,
  from,
  as_of: asOf,
  age_days: asOf === null ? null : ageDays(asOf, nowMs),
})

const shownLine = (model: string, { provider, prices }: EndpointEntry, { from, asOf }: Source, nowMs: number): string => {
  const price = prices === undefined ? 'no price' : `$${prices.prompt} in, $${prices.completion} out`
  const age = asOf === null ? 'your own file' : `${from} of ${asOf}, ${days(ageDays(asOf, nowMs))} old`
  return `${model} at ${provider}: ${price} (${age})`
}

const days = (count: number): string => `${count} day${count === 1 ? '' : 's'}`

export const forgetCatalogueVerb = async (settings: StorageSettings, word: string): Promise<void> => {
  await withImports(settings, async ({ imports, store, storage }) => {
    // A newer version may have imported a kind that this one does not know.
    const kind = (await store.list()).some((list) => list.kind === word) ? word : kindOf('the kind', word)
    const audit = auditOf(storage, 'deleted', kind, imports, null)
    const isGone = await store.remove(kind, audit, { by: fromShell(storage.owner.userId), now: isoTimestamp(systemClock.now()) })
    if (!isGone) throw new SettingError(`no list of the kind ${kind} was imported.`)
    print(`the prices of ${kind} are forgotten; the shipped catalogue and other lists hold again`)
  })
}

interface Opened {
  readonly imports: readonly CatalogueImport[]
  readonly store: CatalogueStore
  readonly storage: Storage
}

const withImports = (settings: StorageSettings, work: (opened: Opened) => Promise<void>): Promise<void> =>
  withStorage(settings, async (storage) => {
    const store = createCatalogueStore(storage.database)
    await work({ imports: readImports(await store.list(), warn), store, storage })
  })

const auditOf = (
  { owner }: Storage,
  action: string,
  kind: string,
  imports: readonly CatalogueImport[],
  after: AuditedChange['after'],
): AuditedChange => {
  const before = imports.find((one) => one.kind === kind)
  return {
    workspaceId: owner.workspaceId,
    action,
    objectType: 'catalogue',
    objectId: kind,
    before: before === undefined ? null : { as_of: before.asOf, models: Object.keys(before.models).length },
    after,
  }
}
