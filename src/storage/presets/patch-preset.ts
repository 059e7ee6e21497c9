/** Changes a preset itself; its versions never change (docs/contract/presets.md#changes). */
import type { Transaction, Updateable } from 'kysely'

import { type PresetPatch, type PresetResource, type PresetWithVersion } from '../../contract/preset.ts'
import { PRESET_LABELS_MAX } from '../../contract/preset-name.ts'
import type { ExpectedLatest } from '../../contract/save-preset.ts'
import type { JsonObject } from '../../lib/json/json.ts'
import type { Steps } from '../../lib/steps.ts'
import { type Change, recordChange } from '../changes/audit-log.ts'
import { requireLatest } from './expected-latest.ts'
import { type Move, writeMoves } from './preset-moves.ts'
import { type PresetRow, type PresetVersionRow, presetWithVersion, readVersion, type SealedDatabase, shownLabels } from './preset-rows.ts'
import { auditOf, lockPreset, type PresetRef } from './preset-ref.ts'
import { requireEvaluation } from './required-evaluation.ts'
import type { PresetsTable } from '../tables/preset-tables.ts'
import type { Schema } from '../tables/schema.ts'
import { readSettings } from '../workspaces/workspace-settings.ts'

export type PatchPresetOutcome = Outcome<PresetWithVersion>

/** The result of the transaction: the version that is served is read after it, so that nobody waits for that in the preset's queue. */
export type PatchedPreset = Outcome<Steps<PresetWithVersion>>

type Outcome<Preset> =
  | { readonly kind: 'patched'; readonly preset: Preset }
  | { readonly kind: 'no-such-preset' }
  /** A designation (`label` null) or a label names a version that the preset does not have. Nothing was changed. */
  | { readonly kind: 'no-such-version'; readonly version: number; readonly label: string | null }
  /** Nothing was changed; this also holds for the next kind. */
  | { readonly kind: 'too-many-labels' }
  /** The workspace protects these labels, and the patch does not confirm that they move. */
  | { readonly kind: 'protected-labels'; readonly labels: readonly string[] }

export interface ChangedPreset extends PresetRef {
  readonly expectedLatest?: ExpectedLatest
}

/** Throws `precondition_failed`, as a save does. */
export const patchPreset = (
  { database, seal }: SealedDatabase,
  ref: ChangedPreset,
  patch: PresetPatch,
  change: Change,
): Promise<PatchedPreset> =>
  recordChange<PatchedPreset>(database, change, async (transaction) => {
    const preset = await lockPreset(transaction, ref)
    if (preset === null) return { result: { kind: 'no-such-preset' }, audit: null }
    requireLatest(ref, preset.last_version)

    const missing = findMissingVersion(preset, patch)
    if (missing !== null) return { result: { kind: 'no-such-version', ...missing }, audit: null }
    if (hasTooManyLabels(preset, patch)) return { result: { kind: 'too-many-labels' }, audit: null }

    const before = await readVersion(transaction, preset.designated_version_id)
    const moves = movesOf(preset, before.version, patch)
    const unconfirmed = patch.confirm === true ? [] : await protectedLabels(transaction, ref.workspaceId, moves)
    if (unconfirmed.length > 0) return { result: { kind: 'protected-labels', labels: unconfirmed }, audit: null }

    const designated = patch.designated_version === undefined ? before : await readNumbered(transaction, preset, patch.designated_version)
    const isRequired = patch.require_evaluation ?? preset.require_evaluation === 1
    if (isRequired && designated.id !== before.id) await requireEvaluation(transaction, preset, designated)
    const changes = changesOf(preset, patch, designated.id, change.now)
    // A patch that changes nothing leaves everything alone: the time, the order of the list, the caches elsewhere.
    const changed = Object.keys(changes).length > 0
    const patched = changed
      ? await transaction
          .updateTable('presets')
          .set({ ...changes, updated_at: change.now })
          .where('id', '=', preset.id)
          .returningAll()
          .executeTakeFirstOrThrow()
      : preset
    await writeMoves(transaction, preset.id, moves, change)
    const version = await readVersion(transaction, patched.designated_version_id)
    return {
      result: { kind: 'patched', preset: presetWithVersion(patched, version, seal) },
      audit: changed
        ? {
            ...auditOf(ref, patch.status === 'archived' ? 'archived' : 'updated'),
            before: auditView(preset, before.version),
            after: auditView(patched, version.version),
          }
        : null,
    }
  })

const auditView = (preset: PresetRow, designated: number): JsonObject => ({
  name: preset.name,
  description: preset.description,
  status: preset.status,
  labels: shownLabels(preset),
  require_evaluation: preset.require_evaluation === 1,
  designated_version: designated,
  designated_version_id: preset.designated_version_id,
})

/** The moves of versions that the patch asks for and that are not in effect already. */
const movesOf = (preset: PresetRow, served: number, patch: PresetPatch): readonly Move[] => {
  const labels = new Map(Object.entries(shownLabels(preset)))
  const designated = { label: null, from: served, to: patch.designated_version ?? served }
  const labelled = Object.entries(patch.labels ?? {}).map(([label, to]) => ({ label, from: labels.get(label) ?? null, to }))
  return [designated, ...labelled].filter(({ from, to }) => from !== to)
}

/** The moved labels that the workspace protects. */
const protectedLabels = async (
  transaction: Transaction<Schema>,
  workspaceId: string,
  moves: readonly Move[],
): Promise<readonly string[]> => {
  const moved = moves.flatMap(({ label }) => (label === null ? [] : [label]))
  if (moved.length === 0) return []
  const { settings } = await transaction.selectFrom('workspaces').select('settings').where('id', '=', workspaceId).executeTakeFirstOrThrow()
  const { protected_labels } = readSettings(workspaceId, settings)
  return moved.filter((label) => protected_labels.includes(label))
}

const readNumbered = async (transaction: Transaction<Schema>, preset: PresetRow, number: number): Promise<PresetVersionRow> => {
  const { id } = await transaction
    .selectFrom('preset_versions')
    .select('id')
    .where('preset_id', '=', preset.id)
    .where('version', '=', number)
    .executeTakeFirstOrThrow()
  return readVersion(transaction, id)
}

/** A preset's version numbers have no gaps and no version is ever deleted, so a version exists exactly if the counter has reached it. */
const findMissingVersion = (preset: PresetRow, patch: PresetPatch): { version: number; label: string | null } | null => {
  const wanted = [
    { version: patch.designated_version ?? null, label: null },
    ...Object.entries(patch.labels ?? {}).map(([label, version]) => ({ version, label })),
  ]
  for (const { version, label } of wanted) {
    if (version !== null && version > preset.last_version) return { version, label }
  }
  return null
}

/** A preset that had more labels before there was a limit may lose some. */
const hasTooManyLabels = (preset: PresetRow, patch: PresetPatch): boolean => {
  const old = shownLabels(preset)
  const count = Object.keys(mergeLabels(old, patch.labels ?? {})).length
  return count > PRESET_LABELS_MAX && count > Object.keys(old).length
}

/** The changes to the preset that the patch asks for and that are not in effect already. */
const changesOf = (preset: PresetRow, patch: PresetPatch, designated: string, now: string): Updateable<PresetsTable> => {
  const changes: Updateable<PresetsTable> = {}
  if (designated !== preset.designated_version_id) changes.designated_version_id = designated
  if (patch.name !== undefined && patch.name !== preset.name) changes.name = patch.name
  if (patch.description !== undefined && patch.description !== preset.description) changes.description = patch.description
  if (patch.require_evaluation !== undefined && patch.require_evaluation !== (preset.require_evaluation === 1)) {
    changes.require_evaluation = patch.require_evaluation ? 1 : 0
  }
  if (patch.status !== undefined && patch.status !== preset.status) {
    changes.status = patch.status
    changes.status_updated_at = now
  }
  if (patch.labels !== undefined) {
    const labels = JSON.stringify(mergeLabels(shownLabels(preset), patch.labels))
    if (labels !== preset.labels) changes.labels = labels
  }
  return changes
}

/** Uses `fromEntries` instead of assignment, because a label may be called `__proto__`. */
const mergeLabels = (old: PresetResource['labels'], patch: NonNullable<PresetPatch['labels']>): PresetResource['labels'] => {
  const merged = new Map(Object.entries(old))
  for (const [label, version] of Object.entries(patch)) {
    if (version === null) merged.delete(label)
    else merged.set(label, version)
  }
  return Object.fromEntries(merged)
}
