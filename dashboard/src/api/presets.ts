/** Presets and their versions. */
import { queryOptions } from '@tanstack/react-query'
import type { z } from 'zod'

import type {
  PresetMove,
  PresetPatch,
  PresetShape,
  PresetVersionResource,
  PresetWithVersion,
  SavedPreset,
} from '../../../src/contract/preset.ts'
import type { ListedPresetResource, ReadPresetResource } from '../../../src/contract/preset-query.ts'
import type { PresetTest } from '../../../src/contract/preset-test.ts'
import type { rollout } from '../../../src/contract/rollout.ts'
import { ApiError } from './api-error.ts'
import { ask, askData, askRaw, readAnswer, segment } from './client.ts'
import { create, remove } from './create.ts'
import { cursorList, offsetList } from './paged-list.ts'
import type { Query } from './path.ts'

export type Preset = ListedPresetResource
export type PresetVersion = PresetVersionResource
export type ReadPreset = ReadPresetResource
export type { PresetMove, PresetShape }

const pathOfPreset = (slug: string): string => `/presets/${segment(slug)}`

export const presetList = (query: Query) => cursorList<Preset>(['presets', 'list', query], '/presets', { count: false, ...query })

/** The first few presets whose name contains the text, to choose from. */
export const presetNames = (query: Query) =>
  queryOptions({
    queryKey: ['presets', 'names', query],
    queryFn: async ({ signal }) =>
      (await askData<readonly Preset[]>('/presets', { query: { limit: 20, count: false, status: 'active', ...query }, signal })).map(
        ({ slug }) => slug,
      ),
  })

export const preset = (slug: string, query: Query = {}) =>
  queryOptions({
    queryKey: ['presets', slug, query],
    queryFn: ({ signal }) => askData<ReadPreset>(pathOfPreset(slug), { query: { include: 'summary', ...query }, signal }),
  })

/** Newest first. */
export const presetVersions = (slug: string, query: Query) =>
  offsetList<PresetVersion>(['presets', slug, 'versions', query], `${pathOfPreset(slug)}/versions`, { order: 'desc', ...query })

export const presetVersion = (slug: string, version: number, query: Query = {}) =>
  queryOptions({
    queryKey: ['presets', slug, 'versions', version, query],
    queryFn: ({ signal }) => askData<PresetVersion>(`${pathOfPreset(slug)}/versions/${version}`, { query, signal }),
  })

/** The history of the preset and its labels, newest first. */
export const presetMoves = (slug: string, query: Query) =>
  cursorList<PresetMove>(['presets', slug, 'history', query], `${pathOfPreset(slug)}/history`, query)

interface PatchOptions {
  readonly query: Query
  /** The preset as it was read: throws ApiError with 412 if a version was saved since. */
  readonly since?: Pick<ReadPreset, 'latest_version'> | null
}

export const patchPreset = (
  slug: string,
  patch: PresetPatch,
  { query, since = null }: PatchOptions,
): Promise<{ data: PresetWithVersion; warnings: readonly string[] }> =>
  askRaw(pathOfPreset(slug), {
    method: 'PATCH',
    body: patch,
    query,
    headers: since === null ? {} : { 'if-match': `"${since.latest_version}"` },
  }).then(async (response) => ({ ...(await readAnswer<{ data: PresetWithVersion }>(response)), warnings: warningsIn(response) }))

/** Sentences on what cannot work here in the versions that the change names. */
const warningsIn = ({ headers }: Response): readonly string[] => {
  const warning = headers.get('x-service-warning')
  return warning === null ? [] : [warning]
}

const SHAPE_PATHS: Readonly<Record<PresetShape, string>> = { chat: 'chat/completions', responses: 'responses', messages: 'messages' }

/** The preset that a version is saved to. */
export interface PresetTarget {
  readonly slug: string
  /** The version that it was written from; null for a new preset. */
  readonly base: number | null
  readonly query?: Query
}

interface PresetVersionToSave {
  readonly shape: PresetShape
  readonly body: Readonly<Record<string, unknown>>
  readonly note: string
}

export interface SavedVersion {
  readonly version: PresetVersion
  /** Sentences on what the version leaves out, and on what in it cannot work here. */
  readonly warnings: readonly string[]
}

/**
 * Saves a new version, which is not live unless it is the first. Throws ApiError with 412 if another version was saved from the same base.
 */
const saveVersion = (
  { slug, base, query }: PresetTarget,
  path: string,
  { body, note }: Pick<PresetVersionToSave, 'body' | 'note'>,
): Promise<SavedVersion> => {
  const request = {
    query: { ...query, ...(base === null ? {} : { designate: false }) },
    headers: { ...(note === '' ? {} : { 'x-preset-note': encodeURIComponent(note) }), 'if-match': `"${base ?? 0}"` },
    body,
  }
  return create(`${pathOfPreset(slug)}/${path}`, request, async (response) => {
    const { data, warnings } = await readAnswer<{ data: SavedPreset; warnings?: readonly string[] }>(response)
    return { version: data.saved_version ?? data.designated_version, warnings: warnings ?? warningsIn(response) }
  })
}

export const savePresetDraft = (target: PresetTarget, { shape, ...save }: PresetVersionToSave): Promise<SavedVersion> =>
  saveVersion(target, SHAPE_PATHS[shape], save)

export const savePresetFromRequest = (target: PresetTarget, id: string): Promise<SavedVersion> =>
  saveVersion(target, 'from-generation', { body: { generation_id: id }, note: `from ${id}` })

export type { PresetTest }

/** Inputs that are saved to try the preset with. */
export const presetTests = (slug: string, query: Query) =>
  queryOptions({
    queryKey: ['presets', slug, 'tests', query],
    queryFn: ({ signal }) => askData<readonly PresetTest[]>(`${pathOfPreset(slug)}/tests`, { query, signal }),
  })

interface TestToSave {
  readonly name: string
  readonly messages: readonly Readonly<Record<string, unknown>>[]
  readonly tools?: readonly Readonly<Record<string, unknown>>[]
  readonly expected?: unknown
}

export const savePresetTest = (slug: string, test: TestToSave, query: Query): Promise<unknown> =>
  create(`${pathOfPreset(slug)}/tests`, { body: test, query })

export const deletePresetTest = (slug: string, id: string, query: Query): Promise<unknown> =>
  remove(`${pathOfPreset(slug)}/tests/${segment(id)}`, query)

export const STICKY = ['session', 'user', 'key', 'none'] as const

type RolloutStatus = z.output<typeof rollout>
export type Rollout = Pick<RolloutStatus, 'splits' | 'sticky'>

/** The newest rollout, even if it has ended; null if there never was one. */
export const presetRollout = (slug: string, query: Query) =>
  queryOptions({
    queryKey: ['presets', slug, 'rollout', query],
    queryFn: async ({ signal }): Promise<RolloutStatus | null> => {
      try {
        return await askData<RolloutStatus>(`${pathOfPreset(slug)}/rollout`, { query, signal })
      } catch (thrown) {
        if (thrown instanceof ApiError && thrown.status === 404) return null
        throw thrown
      }
    },
  })

/** Resolves to sentences on what cannot work here in the versions that share the requests. */
export const startRollout = (slug: string, rollout: Rollout, query: Query): Promise<readonly string[]> =>
  askRaw(`${pathOfPreset(slug)}/rollout`, { method: 'PUT', body: rollout, query }).then(warningsIn)

export const endRollout = (slug: string, query: Query): Promise<unknown> =>
  ask(`${pathOfPreset(slug)}/rollout`, { method: 'DELETE', query })
