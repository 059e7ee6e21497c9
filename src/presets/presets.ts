/** Presets: saved from request bodies, versioned permanently, served by name. This file has the rules; storage does the writing. */
import type { Position } from '../contract/cursor.ts'
import type { Slice } from '../contract/paging.ts'
import {
  type PresetContent,
  type PresetPatch,
  type PresetResource,
  type PresetVersionResource,
  type PresetWithVersion,
  type SavedPreset,
} from '../contract/preset.ts'
import { PRESET_LABELS_MAX } from '../contract/preset-name.ts'
import type { SaveOptions } from '../contract/save-preset.ts'
import { GatewayError } from '../errors.ts'
import { isoTimestamp, type Clock } from '../lib/clock.ts'
import type { IdSource } from '../lib/id.ts'
import { writeInSteps } from '../lib/json/json-steps.ts'
import { createLoadCache } from '../lib/load-cache.ts'
import { type Steps, throughout, type Turn } from '../lib/steps.ts'
import { textDigest } from '../lib/text/text-digest.ts'
import type { ChangedBy } from '../storage/changes/audit-log.ts'
import type { ChangedPreset } from '../storage/presets/patch-preset.ts'
import type { StoredAnswer } from '../storage/changes/idempotency.ts'
import type { MoveQuery, MoveSlice } from '../storage/presets/preset-moves.ts'
import type {
  PresetPage,
  PresetQuery,
  PresetResolution,
  PresetStore,
  PresetVersions,
  ServedRollout,
  VersionReference,
} from '../storage/presets/preset-store.ts'
import type { Page } from '../storage/statements/page.ts'

export interface SaveRequest {
  readonly workspaceId: string
  readonly userId: string
  readonly slug: string
  readonly content: PresetContent
  readonly options?: SaveOptions
  /** The client's `Idempotency-Key`, with the route and the body to which it is bound. */
  readonly idempotency: { readonly key: string; readonly route: string; readonly bodyText: string } | null
  readonly by: ChangedBy
  readonly warnings?: readonly string[]
  /** The body of the answer has the warnings beside the preset. */
  readonly warningsShown?: boolean
  /** Called after each step of writing the answer, which may be megabytes long; if absent, the answer is written at once. */
  readonly turn?: Turn
}

/** The version with which a request is served: the same one for the whole request, whatever changes meanwhile. */
export interface ServedPreset {
  readonly preset: PresetResource
  readonly version: PresetVersionResource
  /** The versions that share the preset's requests, of which `drawVersion` chooses one. Null if `version` serves. */
  readonly rollout: ServedRollout | null
}

export interface Presets {
  /**
   * Saves the next version, designated unless the options say otherwise. The answer contains the version that this call wrote, or repeats
   * an earlier answer. Throws `precondition_failed`.
   */
  save(request: SaveRequest): Promise<StoredAnswer>
  /** Returns the answer that `save` would give to a repetition, before anything else is read for it; null if the request is none. Throws as `save` does. */
  answered(request: Pick<SaveRequest, 'workspaceId' | 'slug' | 'options' | 'idempotency'>): Promise<StoredAnswer | null>
  isLong(query: PresetQuery, offset: number): Promise<boolean>
  list(query: PresetQuery, slice: Slice): Promise<Page<PresetResource>>
  page: PresetStore['page']
  summaries: PresetStore['summaries']
  /**
   * These six methods throw `not_found` if the preset or the version does not exist in the workspace; those that change something also
   * throw `precondition_failed`.
   */
  get(workspaceId: string, slug: string): Promise<PresetWithVersion>
  versions(workspaceId: string, slug: string, order: 'asc' | 'desc', slice: Slice): Promise<PresetVersions>
  version(workspaceId: string, slug: string, number: number): Promise<PresetVersionResource>
  moves(query: MoveQuery): Promise<MoveSlice>
  patch(preset: ChangedPreset, patch: PresetPatch, by: ChangedBy): Promise<PresetWithVersion>
  archive(preset: ChangedPreset, by: ChangedBy): Promise<void>
  /**
   * Serves a preset for inference. Throws `not_found` for an unknown or archived preset, `permission_denied` for a disabled one
   * (docs/contract/presets.md#refusals).
   */
  serve(workspaceId: string, slug: string, reference: VersionReference): ServedPreset | Promise<ServedPreset>
  /**
   * The designated version of the preset with this bare slug; null if there is no such preset. Throws `permission_denied` for a disabled
   * one.
   */
  find(workspaceId: string, slug: string): ServedPreset | null | Promise<ServedPreset | null>
  /** An active preset with its designated version; null if there is none. */
  active(workspaceId: string, slug: string): Promise<ServedPreset | null>
  /** For the model list: up to a thousand of the active presets that changed last, with their designated versions. */
  served(workspaceId: string): Promise<readonly ServedPreset[]>
  /** Call it when something has changed that affects how the preset is served. */
  forget(workspaceId: string, slug: string): void
  refreshCache(): void
}

const IDEMPOTENCY_MS = 24 * 60 * 60 * 1000
const CACHE_MAX = 10_000
/** The maximum number of presets in a model list. */
const LISTED_MAX = 1000
const LIST_PAGE = 100

export const createPresets = ({ store, clock, ids }: { store: PresetStore; clock: Clock; ids: IdSource }): Presets => {
  const cache = createLoadCache<string, PresetResolution>(CACHE_MAX, clock)
  const now = (): string => isoTimestamp(clock.now())
  // No slug contains an @.
  const prefixOf = (workspaceId: string, slug: string): string => `${workspaceId}/${slug}@`
  const forget = (workspaceId: string, slug: string): void => cache.forget((_, name) => name.startsWith(prefixOf(workspaceId, slug)))
  const nameOf = (workspaceId: string, slug: string, reference: VersionReference): string => {
    const pin = reference.by === 'number' ? reference.number : reference.by === 'label' ? reference.label : ''
    return `${prefixOf(workspaceId, slug)}${pin}`
  }
  const resolve = (
    workspaceId: string,
    slug: string,
    reference: VersionReference,
  ): PresetResolution | null | Promise<PresetResolution | null> =>
    cache.get(nameOf(workspaceId, slug, reference), () => store.resolve(workspaceId, slug, reference))
  let lookups = 0
  /**
   * Reads storage again, because another node may have just saved the preset. The number of concurrent look-ups is bounded, so that names
   * that do not exist cannot load storage.
   */
  const lookAgain = async (workspaceId: string, slug: string, reference: VersionReference): Promise<PresetResolution | null> => {
    if (lookups >= LOOKUPS_MAX) return resolve(workspaceId, slug, reference)
    lookups += 1
    try {
      return await cache.reload(nameOf(workspaceId, slug, reference), () => store.resolve(workspaceId, slug, reference))
    } finally {
      lookups -= 1
    }
  }
  const active = async (workspaceId: string, slug: string): Promise<ServedPreset | null> => {
    const found = await resolve(workspaceId, slug, { by: 'designation' })
    return found?.kind === 'found' && found.preset.status === 'active' ? found : null
  }

  const claimOf = async ({ route, key, bodyText }: NonNullable<SaveRequest['idempotency']>, options: SaveOptions, turn: Turn) => ({
    route,
    key,
    bodySha256: await throughout(fingerprint(bodyText, options), turn),
    expiredBefore: isoTimestamp(clock.now() - IDEMPOTENCY_MS),
  })

  return {
    async save({ workspaceId, userId, slug, content, options = AT_ONCE, idempotency, by, turn = AT_ONCE_TURN, ...given }) {
      const answerOf = async (preset: SavedPreset): Promise<StoredAnswer> => {
        const isServedDraft = !options.designate && preset.latest_version === 1
        const warnings = [...(given.warnings ?? []), ...(isServedDraft ? [FIRST_IS_SERVED] : [])]
        const body = { data: preset, ...(given.warningsShown === true ? { warnings } : {}) }
        // Always 200 (docs/contract/presets.md#create).
        return { status: 200, body: await throughout(writeInSteps(body), turn), warnings }
      }
      const outcome = await store.createVersion({
        workspaceId,
        slug,
        content,
        ...options,
        presetId: ids.uuid(),
        versionId: ids.uuid(),
        creatorUserId: userId,
        now: now(),
        by,
        idempotency: idempotency === null ? null : { ...(await claimOf(idempotency, options, turn)), answer: answerOf },
      })
      switch (outcome.kind) {
        case 'created':
          forget(workspaceId, slug)
          return outcome.answer ?? answerOf(outcome.preset)
        case 'replay':
          return outcome.stored
      }
    },
    async answered({ workspaceId, slug, options = AT_ONCE, idempotency }) {
      return idempotency === null ? null : store.answered({ workspaceId, slug, ...(await claimOf(idempotency, options, AT_ONCE_TURN)) })
    },
    isLong: (query, offset) => store.isLong(query, offset),
    list: (query, slice) => store.list({ ...query, ...slice }),
    page: (query) => store.page(query),
    summaries: (found) => store.summaries(found),
    get: async (workspaceId, slug) => (await store.get(workspaceId, slug)) ?? unknownPreset(slug),
    versions: async (workspaceId, slug, order, slice) =>
      (await store.versions({ workspaceId, slug, ascending: order === 'asc', ...slice })) ?? unknownPreset(slug),
    moves: async (query) => (await store.moves(query)) ?? unknownPreset(query.slug),
    async version(workspaceId, slug, number) {
      const found = await store.version(workspaceId, slug, number)
      if (found !== null) return found
      return (await store.get(workspaceId, slug)) === null ? unknownPreset(slug) : unknownVersion(slug, { by: 'number', number })
    },
    async patch(preset, patch, by) {
      const { workspaceId, slug } = preset
      const outcome = await store.patch(preset, patch, { by, now: now() })
      forget(workspaceId, slug)
      switch (outcome.kind) {
        case 'patched':
          return outcome.preset
        case 'no-such-preset':
          return unknownPreset(slug)
        case 'no-such-version': {
          const path = outcome.label === null ? 'designated_version' : `labels.${outcome.label}`
          throw new GatewayError('invalid_request', `${path}: the preset has no version ${outcome.version}.`)
        }
        case 'too-many-labels':
          throw new GatewayError('invalid_request', `labels: a preset has at most ${PRESET_LABELS_MAX} labels. Remove one first.`)
        case 'protected-labels':
          throw new GatewayError(
            'invalid_request',
            `confirm: the workspace protects ${outcome.labels.join(', ')}. Send "confirm": true to move it.`,
            { metadata: { protected_labels: outcome.labels } },
          )
      }
    },
    async archive(preset, by) {
      const { workspaceId, slug } = preset
      const known = await store.archive(preset, { by, now: now() })
      forget(workspaceId, slug)
      if (!known) unknownPreset(slug)
    },
    serve(workspaceId, slug, reference) {
      const known = resolve(workspaceId, slug, reference)
      const found = known instanceof Promise || isServed(known) ? known : lookAgain(workspaceId, slug, reference)
      return found instanceof Promise ? found.then((loaded) => admit(loaded, slug, reference)) : admit(found, slug, reference)
    },
    find(workspaceId, slug) {
      const admitted = (found: PresetResolution | null): ServedPreset | null =>
        isThere(found) ? admit(found, slug, { by: 'designation' }) : null
      const found = resolve(workspaceId, slug, { by: 'designation' })
      return found instanceof Promise ? found.then(admitted) : admitted(found)
    },
    active,
    async served(workspaceId) {
      const all: ServedPreset[] = []
      let after: Position | null = null
      do {
        const page: PresetPage = await store.page({ workspaceId, status: 'active', after, limit: LIST_PAGE })
        const found = await Promise.all(page.items.map(({ slug }) => active(workspaceId, slug)))
        all.push(...found.filter((one) => one !== null))
        after = page.next
      } while (after !== null && all.length < LISTED_MAX)
      return all.slice(0, LISTED_MAX)
    },
    forget,
    refreshCache: cache.refresh,
  }
}

/** The maximum number of concurrent look-ups of names that were not found before. */
const LOOKUPS_MAX = 4

const AT_ONCE_TURN: Turn = () => undefined

const AT_ONCE: SaveOptions = { note: null, designate: true, expectedLatest: null }

/** A hash of the facts that a repetition must share with the first request: the body and, if there are any, the options. */
function* fingerprint(bodyText: string, { note, designate, expectedLatest }: SaveOptions): Steps<string> {
  const isPlain = note === null && designate && expectedLatest === null
  return yield* textDigest(isPlain ? bodyText : `${bodyText}\0${JSON.stringify([note, designate, expectedLatest])}`)
}

const FIRST_IS_SERVED = 'The first version of a preset is served in any case: there is no other.'

export const unknownPreset = (slug: string): never => {
  throw new GatewayError(
    'not_found',
    `There is no preset "${slug}" in this workspace. Check its name, in which case counts, and the workspace of the key.`,
  )
}

type Existing = Exclude<PresetResolution, { readonly kind: 'no-such-preset' }>

const isThere = (found: PresetResolution | null): found is Existing => isKnown(found) && found.preset.status !== 'archived'

const isKnown = (found: PresetResolution | null): found is Existing => found !== null && found.kind !== 'no-such-preset'

/** True if the answer is not a 404. */
const isServed = (found: PresetResolution | null): boolean => isThere(found) && found.kind === 'found'

const admit = (found: PresetResolution | null, slug: string, reference: VersionReference): ServedPreset => {
  if (!isKnown(found)) return unknownPreset(slug)
  const { status } = found.preset
  if (status !== 'active')
    throw new GatewayError(
      status === 'disabled' ? 'permission_denied' : 'not_found',
      `The preset "${slug}" is ${status}. To use it, set its status to "active".`,
    )
  return found.kind === 'no-such-version' ? unknownVersion(slug, reference) : found
}

const unknownVersion = (slug: string, reference: VersionReference): never => {
  throw new GatewayError(
    'not_found',
    `The preset "${slug}" has no ${lackedBy(reference)}. GET /api/v1/presets/${slug} shows its labels, and …/versions its versions.`,
  )
}

const lackedBy = (reference: VersionReference): string => {
  if (reference.by === 'designation') return 'version'
  return reference.by === 'number' ? `version ${reference.number}` : `label "${reference.label}"`
}
