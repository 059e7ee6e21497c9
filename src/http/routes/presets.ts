/** Reading, changing and archiving presets (docs/contract/presets.md#access). */
import { z } from 'zod'

import { withoutCredentials } from '../../canonical/preset-secrets.ts'
import { cursorOf } from '../../contract/cursor.ts'
import { countQuery, listOf, listPaging, mustGoByCursor, wantsCount } from '../../contract/paging.ts'
import {
  listedPreset,
  type ListedPresetResource,
  movesQuery,
  presetInclude,
  presetsQuery,
  type PresetSummary,
  readMovesQuery,
  readPreset,
  readPresetInclude,
  readPresetsQuery,
  readVersionOrder,
  versionOrder,
} from '../../contract/preset-query.ts'
import { presetMove, presetPatch, type PresetResource, presetVersion, presetWithVersion } from '../../contract/preset.ts'
import { presetSlug } from '../../contract/preset-name.ts'
import { changeHeaders, readExpectedLatest } from '../../contract/save-preset.ts'
import { validate } from '../../contract/validate.ts'
import { inWorkspace } from '../../contract/in-workspace.ts'
import { readJsonObject } from '../../lib/json/json-body.ts'
import { VERSION_NUMBER } from '../../presets/model-reference.ts'
import { type Presets, unknownPreset } from '../../presets/presets.ts'
import { jsonInTurns, jsonListInTurns, jsonResponse } from '../response/json-response.ts'
import { warningHeaders } from '../response/saved-response.ts'
import { changedBy, reachOf, type Route, type RouteRequest } from '../route.ts'
import { type UnservableParts, unservableVersions } from '../unservable-versions.ts'
import type { PresetUsage } from './preset-usage.ts'

const shared = { tag: 'Presets', policy: 'management', surface: 'management' } as const

const slugOf = (request: RouteRequest): string => validate(presetSlug, request.params['slug'], ['slug'])

const presetMoves = z.object({ data: z.array(presetMove), next_cursor: z.string().nullable() })

const versionNumber = z
  .string()
  .regex(VERSION_NUMBER, 'Use the number of a version.')
  .meta({ description: 'Version number.', examples: ['3'] })

/** Members read what they may use: active presets. */
const own = { ...shared, policy: 'own' } as const

const hasOnlyActive = (request: RouteRequest): boolean => reachOf(request).onlyUserId !== null

export const presetsList = ({ presets, usageOf }: { readonly presets: Presets; readonly usageOf: PresetUsage }): Route => ({
  ...own,
  method: 'GET',
  path: '/presets',
  operation: 'listPresets',
  summary: 'List presets, most recently updated first; members see the active ones',
  query: { ...presetsQuery, ...listPaging.query, ...countQuery, ...inWorkspace },
  answers: {
    200: {
      description: 'Presets without their versions; archived ones too.',
      schema: listOf(listedPreset)
        .partial({ total_count: true })
        .extend({
          next_cursor: z.string().nullish().meta({ description: 'With `count=false`: null at the end, and there only.' }),
        }),
    },
  },
  errors: [400, 404, 503],
  async handle(request) {
    const { workspaceId } = reachOf(request)
    const { include, cursor, ...filter } = readPresetsQuery(request.query)
    const slice = listPaging.read(request.query)
    const isCounted = wantsCount(request.query)
    if (hasOnlyActive(request) && (filter.status ?? 'active') !== 'active')
      return jsonResponse({ data: [], ...(isCounted ? { total_count: 0 } : { next_cursor: null }) })
    const query = { workspaceId, ...filter, ...(hasOnlyActive(request) ? { status: 'active' as const } : {}) }
    const shown = async (items: readonly PresetResource[]): Promise<readonly ListedPresetResource[]> => {
      const used = include?.startsWith('usage') === true ? await usageOf(request, items) : items
      if (include?.endsWith('summary') !== true) return used
      const summaries = await presets.summaries(items.map(({ id }) => id))
      return used.map((preset) => {
        const summary = summaries.get(preset.id)
        if (summary === undefined) return preset
        return { ...preset, summary: shownTo(request, summary) }
      })
    }
    const isLong = isCounted && (await presets.isLong(query, slice.offset))
    if (isLong && slice.offset > 0) throw mustGoByCursor()
    if (isCounted && !isLong) {
      const { items, totalCount } = await presets.list(query, slice)
      return jsonResponse({ data: await shown(items), total_count: totalCount })
    }
    const { items, next } = await presets.page({ ...query, after: cursor ?? null, limit: slice.limit })
    return jsonResponse({ data: await shown(items), next_cursor: next === null ? null : cursorOf(next) })
  },
})

const shownTo = (request: RouteRequest, summary: PresetSummary): PresetSummary =>
  hasOnlyActive(request) ? { ...summary, last_change: null } : summary

export const presetsGet = (presets: Presets): Route => ({
  ...own,
  method: 'GET',
  path: '/presets/:slug',
  operation: 'getPreset',
  summary: 'Read a preset with its designated version; members read the active ones, without credentials of tools',
  params: { slug: presetSlug },
  query: { ...inWorkspace, include: presetInclude },
  answers: { 200: { description: 'The preset.', schema: z.object({ data: readPreset }) } },
  errors: [400, 404],
  async handle(request) {
    const slug = slugOf(request)
    const include = readPresetInclude(request.query)
    const found = await presets.get(reachOf(request).workspaceId, slug)
    const summary = include === undefined ? undefined : (await presets.summaries([found.id])).get(found.id)
    const data = summary === undefined ? found : { ...found, summary: shownTo(request, summary) }
    if (!hasOnlyActive(request)) return jsonInTurns({ data }, request.startTurn())
    if (data.status !== 'active') return unknownPreset(slug)
    const { designated_version: version } = data
    const shown = { ...data, designated_version: { ...version, config: withoutCredentials(version.config) } }
    return jsonInTurns({ data: shown }, request.startTurn())
  },
})

export const presetsVersions = (presets: Presets): Route => ({
  ...shared,
  method: 'GET',
  path: '/presets/:slug/versions',
  operation: 'listPresetVersions',
  summary: 'List the versions of a preset, oldest first unless asked otherwise',
  params: { slug: presetSlug },
  query: { order: versionOrder, ...listPaging.query, ...inWorkspace },
  answers: { 200: { description: 'Versions.', schema: listOf(presetVersion) } },
  errors: [400, 404],
  async handle(request) {
    const slice = listPaging.read(request.query)
    const page = await presets.versions(reachOf(request).workspaceId, slugOf(request), readVersionOrder(request.query), slice)
    return jsonListInTurns(page, request.startTurn())
  },
})

export const presetsVersion = (presets: Presets): Route => ({
  ...shared,
  method: 'GET',
  path: '/presets/:slug/versions/:version',
  operation: 'getPresetVersion',
  summary: 'Read one version of a preset',
  params: { slug: presetSlug, version: versionNumber },
  query: inWorkspace,
  answers: { 200: { description: 'The version.', schema: z.object({ data: presetVersion }) } },
  errors: [400, 404],
  async handle(request) {
    const number = Number(validate(versionNumber, request.params['version'], ['version']))
    return jsonInTurns({ data: await presets.version(reachOf(request).workspaceId, slugOf(request), number) }, request.startTurn())
  },
})

export const presetsHistory = (presets: Presets): Route => ({
  ...shared,
  method: 'GET',
  path: '/presets/:slug/history',
  operation: 'listPresetMoves',
  summary: 'List which versions a preset and its labels named, newest first',
  params: { slug: presetSlug },
  query: { ...movesQuery, ...inWorkspace },
  answers: { 200: { description: 'Each change of the version that is served, and of labels.', schema: presetMoves } },
  errors: [400, 404],
  async handle(request) {
    const { workspaceId } = reachOf(request)
    const { items, next } = await presets.moves({ workspaceId, slug: slugOf(request), ...readMovesQuery(request.query) })
    return jsonResponse({ data: items, next_cursor: next === null ? null : String(next) })
  },
})

export const presetsPatch = (parts: UnservableParts & { readonly presets: Presets }): Route => ({
  ...shared,
  method: 'PATCH',
  path: '/presets/:slug',
  operation: 'updatePreset',
  summary: 'Rename, describe, enable, disable, label or roll back a preset',
  params: { slug: presetSlug },
  query: inWorkspace,
  headers: changeHeaders,
  body: presetPatch,
  answers: { 200: { description: 'The changed preset.', schema: z.object({ data: presetWithVersion }) } },
  errors: [404, 409, 412],
  async handle(request) {
    const slug = slugOf(request)
    const expectedLatest = readExpectedLatest(request.headers)
    const patch = validate(presetPatch, readJsonObject(await request.text()))
    const preset = { workspaceId: reachOf(request).workspaceId, slug }
    const data = await parts.presets.patch({ ...preset, expectedLatest }, patch, changedBy(request))
    const given = [patch.designated_version, ...Object.values(patch.labels ?? {})].filter((version) => typeof version === 'number')
    const warnings = await unservableVersions(preset, given, request, parts)
    return jsonInTurns({ data }, request.startTurn(), { headers: warningHeaders(warnings) })
  },
})

export const presetsDelete = (presets: Presets): Route => ({
  ...shared,
  method: 'DELETE',
  path: '/presets/:slug',
  operation: 'deletePreset',
  summary: 'Archive a preset: its versions stay readable, requests with it answer 404',
  params: { slug: presetSlug },
  query: inWorkspace,
  headers: changeHeaders,
  answers: { 200: { description: 'Archived.', schema: z.object({ deleted: z.literal(true) }) } },
  errors: [400, 404, 409, 412],
  async handle(request) {
    const expectedLatest = readExpectedLatest(request.headers)
    await presets.archive({ workspaceId: reachOf(request).workspaceId, slug: slugOf(request), expectedLatest }, changedBy(request))
    return jsonResponse({ deleted: true })
  },
})
