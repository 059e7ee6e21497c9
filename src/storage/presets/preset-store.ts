import { sql } from 'kysely'

import type { Position } from '../../contract/cursor.ts'
import type { Slice } from '../../contract/paging.ts'
import type { PresetSummary } from '../../contract/preset-query.ts'
import { type PresetPatch, type PresetResource, type PresetVersionResource, type PresetWithVersion } from '../../contract/preset.ts'
import { presetStatus } from '../../contract/preset-name.ts'
import { throughout } from '../../lib/steps.ts'
import type { Change } from '../changes/audit-log.ts'
import { createPresetVersion, type CreateVersionInput, type CreateVersionOutcome } from './create-preset-version.ts'
import type { Database } from '../database.ts'
import { type Claim, findAnswer, type StoredAnswer } from '../changes/idempotency.ts'
import { containsText } from '../statements/match-text.ts'
import { type ChangedPreset, patchPreset, type PatchPresetOutcome } from './patch-preset.ts'
import { inPresetLine } from './preset-line.ts'
import { listMoves, type MoveQuery, type MoveSlice } from './preset-moves.ts'
import type { PresetRef } from './preset-ref.ts'
import { designatedAt, labelsOf, type PresetRow, type ReadDatabase, toPreset, versionInSteps } from './preset-rows.ts'
import { readPresetSummaries } from './preset-summaries.ts'
import { runningRollout, type StoredRollout } from './rollout-store.ts'
import { rowGroups } from '../rows/row-groups.ts'
import { type ConfigRow, storeConfig } from './sealed-config.ts'
import type { Page } from '../statements/page.ts'
import { NUMBERED_MAX, SCANNED_MAX, tableBy } from '../statements/table-by.ts'
import { countOf } from '../usage/workspace-counts.ts'

export interface PresetStore {
  /** Creates the next version and designates it. The result contains the version that this very call wrote. */
  createVersion(input: CreateVersionInput): Promise<CreateVersionOutcome>
  /** The answer of an earlier save with this claim; null if there is none. Throws `invalid_request` if that had another body. */
  answered(claim: Omit<Claim, 'now'>): Promise<StoredAnswer | null>
  /** Most recently updated first. */
  list(input: PresetListInput): Promise<Page<PresetResource>>
  /** True if a list would count or skip more presets than is allowed (`numberedMax`). */
  isLong(query: PresetQuery, offset: number): Promise<boolean>
  /**
   * The presets after `after`, without a count. Looks through a limited number of presets, so a page may
   * have few presets, or none, and yet not be the last.
   */
  page(query: PresetQuery & { readonly after: Position | null; readonly limit: number }): Promise<PresetPage>
  /** By id: what each of them serves, and who changed it last. */
  summaries(ids: readonly string[]): Promise<ReadonlyMap<string, PresetSummary>>
  /** With the designated version; null if there is no such preset. */
  get(workspaceId: string, slug: string): Promise<PresetWithVersion | null>
  /** By number; null if there is no such preset. */
  versions(input: PresetRef & { ascending: boolean } & Slice): Promise<PresetVersions | null>
  version(workspaceId: string, slug: string, number: number): Promise<PresetVersionResource | null>
  /** Throws `precondition_failed`; so does `archive`. */
  patch(preset: ChangedPreset, patch: PresetPatch, change: Change): Promise<PatchPresetOutcome>
  /** The history of the preset and its labels, newest first; null if there is no such preset. */
  moves(query: MoveQuery): Promise<MoveSlice | null>
  /** Returns false if there is no such preset. Archiving it again changes nothing. */
  archive(preset: ChangedPreset, change: Change): Promise<boolean>
  /** The parts that an inference request needs: the preset, whatever its status, and the one version that it serves for this reference. */
  resolve(workspaceId: string, slug: string, reference: VersionReference): Promise<PresetResolution>
  /** Deletes answers that were kept for idempotency; returns the number. */
  deleteIdempotencyKeys(createdBefore: string, limit: number): Promise<number>
}

export interface PresetQuery {
  readonly workspaceId: string
  /** Part of the slug or the name, in upper or lower case. */
  readonly q?: string | undefined
  readonly status?: PresetResource['status'] | undefined
}

export interface PresetPage {
  readonly items: readonly PresetResource[]
  /** The position, by time of last change, after which presets were not looked at yet; null if there are none. */
  readonly next: Position | null
}

/** Read one after the other, so that two large versions are never in memory at once. */
export interface PresetVersions {
  readonly items: AsyncIterable<PresetVersionResource>
  readonly totalCount: number
}

export type PresetListInput = PresetQuery & Slice

/** `@preset/slug`, `@preset/slug@3`, `@preset/slug@staging` (docs/contract/presets.md#use). */
export type VersionReference =
  | { readonly by: 'designation' }
  | { readonly by: 'number'; readonly number: number }
  | { readonly by: 'label'; readonly label: string }

/** Versions that share the requests of a preset. */
export interface ServedRollout extends Pick<StoredRollout, 'id' | 'sticky' | 'segments'> {
  readonly versions: ReadonlyMap<number, PresetVersionResource>
}

export type PresetResolution =
  | {
      readonly kind: 'found'
      readonly preset: PresetResource
      readonly version: PresetVersionResource
      /** Null if only the reference decides on the version. */
      readonly rollout: ServedRollout | null
    }
  | { readonly kind: 'no-such-preset' }
  /** The preset exists; the number or the label does not. */
  | { readonly kind: 'no-such-version'; readonly preset: PresetResource }

/** Secrets of presets are opened with this seal when they are read, and sealed with it when they are written. */
export const createPresetStore = (sealed: ReadDatabase, scannedMax = SCANNED_MAX, numberedMax = NUMBERED_MAX): PresetStore => {
  const { database, seal, startTurn } = sealed
  return {
    async createVersion(input) {
      const turn = startTurn()
      const create = async (config: ConfigRow): Promise<CreateVersionOutcome> => {
        const written = await inPresetLine(database, input, () => createPresetVersion(sealed, input, config))
        if (written.kind === 'replay') return written
        const { preset } = written
        return { ...written, preset: 'id' in preset ? preset : await throughout(preset, turn) }
      }
      const storing = throughout(storeConfig(input.content.config, input.versionId, seal), turn)
      // A save of the usual length takes its place in the queue at once.
      if (!(storing instanceof Promise)) return create(storing)
      const config = await storing
      await turn()
      const outcome = await create(config)
      await turn()
      return outcome
    },
    answered: (claim) => findAnswer(database.kysely, claim, seal),
    list: (input) => listPresets(database, input),
    isLong: async ({ q, ...held }, offset) =>
      offset > numberedMax ||
      (q !== undefined && (await newestChanged(database, held).select('id').offset(numberedMax).limit(1).executeTakeFirst()) !== undefined),
    page: (query) => pagePresets(database, query, scannedMax),
    summaries: (ids) => readPresetSummaries(database, ids),
    get: (workspaceId, slug) => getPreset(sealed, workspaceId, slug),
    versions: (input) => listVersions(sealed, input),
    version: (workspaceId, slug, number) => getVersion(sealed, workspaceId, slug, number),
    async patch(preset, patch, change) {
      const outcome = await inPresetLine(database, preset, () => patchPreset(sealed, preset, patch, change))
      return outcome.kind === 'patched' ? { ...outcome, preset: await throughout(outcome.preset, startTurn()) } : outcome
    },
    moves: (query) => listMoves(database, query),
    async archive(preset, change) {
      const outcome = await inPresetLine(database, preset, () => patchPreset(sealed, preset, { status: 'archived' }, change))
      return outcome.kind !== 'no-such-preset'
    },
    resolve: (workspaceId, slug, reference) => resolvePreset(sealed, workspaceId, slug, reference),
    deleteIdempotencyKeys: (createdBefore, limit) => deleteIdempotencyKeys(database, createdBefore, limit),
  }
}

const listPresets = async (database: Database, { offset, limit, ...query }: PresetListInput): Promise<Page<PresetResource>> => {
  const rows = await newestChanged(database, query).selectAll().offset(offset).limit(limit).execute()
  return { items: rows.map(toPreset), totalCount: await countPresets(database, query) }
}

/** The totals by status are kept up to date as presets come. */
const countPresets = async (database: Database, query: PresetQuery): Promise<number> => {
  const { workspaceId, q, status } = query
  if (q === undefined) return countOf(database.reports, workspaceId, status === undefined ? PRESET_COUNTS : [`presets/${status}`])
  const { count } = await matching(database, query)
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow()
  return count
}

const PRESET_COUNTS = presetStatus.options.map((status) => `presets/${status}` as const)

const pagePresets = async (
  database: Database,
  { after, limit, ...query }: Parameters<PresetStore['page']>[0],
  scannedMax: number,
): Promise<PresetPage> => {
  const behind = (wanted: PresetQuery) =>
    newestChanged(database, wanted).$if(after !== null, (rows) =>
      rows.where(sql<boolean>`(updated_at, id) < (${after?.createdAt ?? ''}, ${after?.id ?? ''})`),
    )
  // No index covers a search for parts of names.
  const end =
    query.q === undefined
      ? undefined
      : await behind({ ...query, q: undefined })
          .select(['updated_at', 'id'])
          .offset(scannedMax - 1)
          .limit(1)
          .executeTakeFirst()
  const rows = await behind(query)
    .selectAll()
    .$if(end !== undefined, (found) => found.where(sql<boolean>`(updated_at, id) >= (${end?.updated_at ?? ''}, ${end?.id ?? ''})`))
    .limit(limit + 1)
    .execute()
  const shown = rows.slice(0, limit)
  const last = rows.length > limit ? shown.at(-1) : end
  return { items: shown.map(toPreset), next: last === undefined ? null : { createdAt: last.updated_at, id: last.id } }
}

const newestChanged = (database: Database, query: PresetQuery) =>
  matching(database, query).orderBy('updated_at', 'desc').orderBy('id', 'desc')

const matching = ({ engine, reports }: Database, { workspaceId, q, status }: PresetQuery) =>
  reports
    .selectFrom(tableBy(engine, 'presets', status === undefined ? 'presets_listing' : 'presets_of_status'))
    .where('workspace_id', '=', workspaceId)
    .$if(status !== undefined, (query) => query.where('status', '=', status ?? 'active'))
    .$if(q !== undefined, (query) =>
      query.where((eb) => eb.or([containsText(eb.ref('slug'), q ?? ''), containsText(eb.ref('name'), q ?? '')])),
    )

const getPreset = async (sealed: ReadDatabase, workspaceId: string, slug: string): Promise<PresetWithVersion | null> =>
  (await readPreset(sealed, workspaceId, slug))?.shown ?? null

interface ReadPreset {
  readonly stored: PresetRow
  readonly shown: PresetWithVersion
}

/** One statement for the preset and its designated version, so that no write can come between the two. */
const readPreset = async ({ database, seal, startTurn }: ReadDatabase, workspaceId: string, slug: string): Promise<ReadPreset | null> => {
  const row = await database.kysely
    .selectFrom('presets')
    .innerJoin('preset_versions', 'preset_versions.id', 'presets.designated_version_id')
    .where('presets.workspace_id', '=', workspaceId)
    .where('presets.slug', '=', slug)
    .selectAll('presets')
    .select(['preset_id', 'version', 'shape', 'config', 'system_prompt', 'creator_id', 'note', 'saved_as_draft'])
    .select(['preset_versions.created_at as version_created_at', 'preset_versions.updated_at as version_updated_at'])
    .select((eb) => designatedAt(eb).as('designated_at'))
    .executeTakeFirst()
  if (row === undefined) return null
  const { preset_id, version, shape, config, system_prompt, creator_id, note, saved_as_draft, designated_at, ...rest } = row
  const { version_created_at, version_updated_at, ...preset } = rest
  const designated = {
    id: preset.designated_version_id,
    preset_id,
    version,
    shape,
    config,
    system_prompt,
    creator_id,
    created_at: version_created_at,
    updated_at: version_updated_at,
    note,
    saved_as_draft,
    designated_at,
  }
  const served = await throughout(versionInSteps(designated, seal), startTurn())
  return { stored: preset, shown: { ...toPreset(preset), designated_version: served } }
}

const listVersions = async (
  sealed: ReadDatabase,
  { workspaceId, slug, ascending, offset, limit }: PresetRef & { ascending: boolean } & Slice,
): Promise<PresetVersions | null> => {
  const { kysely } = sealed.database
  const preset = await kysely
    .selectFrom('presets')
    .select(['id', 'last_version'])
    .where('workspace_id', '=', workspaceId)
    .where('slug', '=', slug)
    .executeTakeFirst()
  if (preset === undefined) return null
  const sizes = await kysely
    .selectFrom('preset_versions')
    .select(['version', sql<number | string>`octet_length(config) + coalesce(octet_length(system_prompt), 0)`.as('bytes')])
    .where('preset_id', '=', preset.id)
    // A version written after the line above appears with the next page request, whose total counts it.
    .where('version', '<=', preset.last_version)
    .orderBy('version', ascending ? 'asc' : 'desc')
    .offset(offset)
    .limit(limit)
    .execute()
  return {
    items: readVersions(
      sealed,
      preset.id,
      rowGroups(sizes, ({ bytes }) => Number(bytes)),
      ascending,
    ),
    totalCount: preset.last_version,
  }
}

async function* readVersions(
  { database, seal, startTurn }: ReadDatabase,
  presetId: string,
  groups: readonly (readonly { readonly version: number }[])[],
  ascending: boolean,
): AsyncIterable<PresetVersionResource> {
  const turn = startTurn()
  for (const group of groups) {
    const numbers = group.map(({ version }) => version)
    const rows = await database.kysely
      .selectFrom('preset_versions')
      .selectAll('preset_versions')
      .select((eb) => designatedAt(eb).as('designated_at'))
      .where('preset_id', '=', presetId)
      // Version numbers have no gaps.
      .where('version', '>=', Math.min(...numbers))
      .where('version', '<=', Math.max(...numbers))
      .orderBy('version', ascending ? 'asc' : 'desc')
      .execute()
    await turn()
    for (const row of rows) yield await throughout(versionInSteps(row, seal), turn)
  }
}

const getVersion = async (
  { database, seal, startTurn }: ReadDatabase,
  workspaceId: string,
  slug: string,
  number: number,
): Promise<PresetVersionResource | null> => {
  const row = await database.kysely
    .selectFrom('preset_versions')
    .innerJoin('presets', 'presets.id', 'preset_versions.preset_id')
    .selectAll('preset_versions')
    .select((eb) => designatedAt(eb).as('designated_at'))
    .where('presets.workspace_id', '=', workspaceId)
    .where('presets.slug', '=', slug)
    .where('preset_versions.version', '=', number)
    .executeTakeFirst()
  return row === undefined ? null : throughout(versionInSteps(row, seal), startTurn())
}

const resolvePreset = async (
  database: ReadDatabase,
  workspaceId: string,
  slug: string,
  reference: VersionReference,
): Promise<PresetResolution> => {
  const found = await readPreset(database, workspaceId, slug)
  if (found === null) return { kind: 'no-such-preset' }
  const { designated_version, ...preset } = found.shown
  const number = numberOf(reference, found)
  if (number === designated_version.version) {
    const rollout = reference.by === 'designation' ? await servedRollout(database, workspaceId, found.shown) : null
    return { kind: 'found', preset, version: designated_version, rollout }
  }
  // A second read is safe: the version of a number never changes.
  const version = number === null ? null : await getVersion(database, workspaceId, slug, number)
  return version === null ? { kind: 'no-such-version', preset } : { kind: 'found', preset, version, rollout: null }
}

const servedRollout = async (
  sealed: ReadDatabase,
  workspaceId: string,
  { id, slug, designated_version }: PresetWithVersion,
): Promise<ServedRollout | null> => {
  const rollout = await runningRollout(sealed.database.kysely, id)
  if (rollout === null) return null
  const versions = new Map([[designated_version.version, designated_version]])
  for (const { version: number } of rollout.splits) {
    const version = versions.get(number) ?? (await getVersion(sealed, workspaceId, slug, number))
    if (version !== null) versions.set(number, version)
  }
  return { id: rollout.id, sticky: rollout.sticky, segments: rollout.segments, versions }
}

/** Throws DamagedRow if the labels cannot be read and the reference is one. */
const numberOf = (reference: VersionReference, { stored, shown }: ReadPreset): number | null => {
  if (reference.by === 'designation') return shown.designated_version.version
  if (reference.by === 'number') return reference.number
  const labels = labelsOf(stored)
  // A label may be called `constructor`.
  return Object.hasOwn(labels, reference.label) ? (labels[reference.label] ?? null) : null
}

const deleteIdempotencyKeys = (database: Database, createdBefore: string, limit: number): Promise<number> =>
  database.transaction(async (transaction) => {
    const expired = await transaction
      .selectFrom('idempotency_keys')
      .select(['workspace_id', 'route', 'slug', 'key'])
      .where('created_at', '<', createdBefore)
      .limit(limit)
      .execute()
    for (const key of expired) {
      await transaction
        .deleteFrom('idempotency_keys')
        .where((eb) => eb.and(key))
        .where('created_at', '<', createdBefore)
        .execute()
    }
    return expired.length
  })
