/** Presets and their versions. */
import { queryOptions } from '@tanstack/react-query'

import type {
  PresetMove,
  PresetPatch,
  PresetResource,
  PresetShape,
  PresetVersionResource,
  PresetWithVersion,
  SavedPreset,
} from '../../../src/contract/preset.ts'
import { ask, askRaw, type Query, segment } from './client.ts'

export type Preset = PresetResource
export type PresetVersion = PresetVersionResource
export type { PresetMove, PresetShape, PresetWithVersion }

const pathOfPreset = (slug: string): string => `/presets/${segment(slug)}`

/** What `include=usage` adds. */
export interface PresetUsage {
  readonly requests?: number
  readonly errors?: number
  readonly cost?: number
}

export const presetList = (query: Query) =>
  queryOptions({
    queryKey: ['presets', 'list', query],
    queryFn: async ({ signal }) =>
      (
        await ask<{ data: readonly (Preset & { usage?: PresetUsage; designated_version?: PresetVersion | number })[] }>('/presets', {
          query: { limit: 100, include: 'usage', ...query },
          signal,
        })
      ).data,
  })

export const preset = (slug: string, query: Query = {}) =>
  queryOptions({
    queryKey: ['presets', slug, query],
    queryFn: async ({ signal }) => (await ask<{ data: PresetWithVersion }>(pathOfPreset(slug), { query, signal })).data,
  })

/** Newest first. */
export const presetVersions = (slug: string, query: Query = {}) =>
  queryOptions({
    queryKey: ['presets', slug, 'versions', query],
    queryFn: async ({ signal }) =>
      (
        await ask<{ data: readonly PresetVersion[] }>(`${pathOfPreset(slug)}/versions`, {
          query: { order: 'desc', limit: 100, ...query },
          signal,
        })
      ).data,
  })

export const patchPreset = (slug: string, patch: PresetPatch, query: Query = {}): Promise<{ data: PresetWithVersion }> =>
  ask(pathOfPreset(slug), { method: 'PATCH', body: patch, query })

const SHAPE_PATHS: Readonly<Record<PresetShape, string>> = { chat: 'chat/completions', responses: 'responses', messages: 'messages' }

export interface PresetSave {
  readonly slug: string
  readonly shape: PresetShape
  readonly body: Readonly<Record<string, unknown>>
  readonly note: string
  /** The version that it was written from; null for a new preset. */
  readonly base: number | null
  readonly query?: Query
}

/** A new version, which is not live. Throws ApiError with 412 where another one was saved from the same base. */
export const savePresetDraft = async ({ slug, shape, body, note, base, query }: PresetSave): Promise<PresetVersion> => {
  const { data } = await ask<{ data: SavedPreset }>(`${pathOfPreset(slug)}/${SHAPE_PATHS[shape]}`, {
    method: 'POST',
    query: { ...query, ...(base === null ? {} : { designate: false }) },
    headers: {
      ...(note === '' ? {} : { 'x-preset-note': encodeURIComponent(note) }),
      ...(base === null ? {} : { 'if-match': `"${base}"` }),
    },
    body,
  })
  return data.saved_version ?? data.designated_version
}

export const presetFromGeneration = async (slug: string, id: string): Promise<{ version: number; warnings: string | null }> => {
  const response = await askRaw(`${pathOfPreset(slug)}/from-generation`, {
    method: 'POST',
    query: { designate: false },
    body: { generation_id: id },
  })
  const { data } = (await response.json()) as { data: SavedPreset }
  return { version: (data.saved_version ?? data.designated_version).version, warnings: response.headers.get('x-service-warning') }
}
