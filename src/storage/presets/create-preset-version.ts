/**
 * The only place that writes a preset version, with its number, its designation and its idempotency (docs/contract/presets.md#versions).
 */
import type { Selectable, Transaction } from 'kysely'

import type { PresetContent, PresetVersionResource, SavedPreset } from '../../contract/preset.ts'
import type { SaveOptions } from '../../contract/save-preset.ts'
import { type Steps, throughout } from '../../lib/steps.ts'
import { type ChangedBy, recordChange } from '../changes/audit-log.ts'
import { requireLatest } from './expected-latest.ts'
import { type Claim, claimKey, storeAnswer, type StoredAnswer } from '../changes/idempotency.ts'
import { writeMoves } from './preset-moves.ts'
import { auditOf, type PresetRef } from './preset-ref.ts'
import {
  asVersion,
  type PresetRow,
  type PresetVersionRow,
  presetWithVersion,
  readVersion,
  type ReadDatabase,
  toPreset,
} from './preset-rows.ts'
import { refuseUnevaluatedSave } from './required-evaluation.ts'
import type { PresetVersionsTable } from '../tables/preset-tables.ts'
import type { Schema } from '../tables/schema.ts'
import type { TextSeal } from '../rows/seal.ts'
import type { ConfigRow } from './sealed-config.ts'

export interface CreateVersionInput extends SaveOptions, PresetRef {
  /** Becomes the preset's id if the slug is new. */
  readonly presetId: string
  readonly versionId: string
  readonly creatorUserId: string
  /** ISO timestamp for every row that this call writes. */
  readonly now: string
  readonly content: PresetContent
  readonly idempotency: IdempotencyClaim | null
  readonly by: ChangedBy
}

export interface IdempotencyClaim {
  /** The operation; a key counts within its workspace, route and slug. */
  readonly route: string
  readonly key: string
  readonly bodySha256: string
  /** A claim made before this ISO timestamp has expired and is replaced. */
  readonly expiredBefore: string
  /** The answer that a repetition of the request will get. */
  readonly answer: (preset: SavedPreset) => Promise<StoredAnswer>
}

export type CreateVersionOutcome = Outcome<SavedPreset>

/** The result of the transaction: the version that is served is read after it, so that nobody waits for that in the preset's queue. */
export type WrittenVersion = Outcome<SavedPreset | Steps<SavedPreset>>

type Outcome<Preset> =
  /** `answer` is kept for a repetition; null if none is kept. */
  | { readonly kind: 'created'; readonly preset: Preset; readonly answer: StoredAnswer | null }
  | { readonly kind: 'replay'; readonly stored: StoredAnswer }

/** Throws `precondition_failed` if the newest version is not the expected one; then nothing is written. */
export const createPresetVersion = (
  { database, seal, startTurn }: ReadDatabase,
  input: CreateVersionInput,
  config: ConfigRow,
): Promise<WrittenVersion> =>
  recordChange<WrittenVersion>(database, input, async (transaction) => {
    const { idempotency } = input
    if (idempotency !== null) {
      const earlier = await claimKey(transaction, claimOf(input, idempotency), seal)
      if (earlier !== null) return { result: { kind: 'replay', stored: earlier }, audit: null }
    }
    const numbered = await takeNextVersion(transaction, input)
    requireLatest(input, numbered.last_version - 1)
    const isServed = input.designate || numbered.last_version === 1
    if (isServed && numbered.require_evaluation === 1) refuseUnevaluatedSave(numbered)
    const row = versionRow(input, numbered, isServed, config)
    await transaction.insertInto('preset_versions').values(row).execute()
    // The text was just written and is not parsed again.
    const version = asVersion({ ...row, designated_at: isServed ? input.now : null }, input.content.config, input.content.systemPrompt)
    const preset = isServed ? await serve(transaction, input, numbered) : numbered
    const served = isServed ? null : await readVersion(transaction, numbered.designated_version_id)
    const reading = savedPreset(preset, served, version, seal)
    // An answer that is kept must be stored in the same transaction.
    const kept = idempotency === null ? null : await throughout(reading, startTurn())
    const answer = kept === null ? null : ((await idempotency?.answer(kept)) ?? null)
    if (idempotency !== null && answer !== null)
      await storeAnswer(transaction, claimOf(input, idempotency), answer, config.hasSecrets ? seal : null)
    return {
      result: { kind: 'created', preset: kept ?? reading, answer },
      audit: {
        ...auditOf(input, version.version === 1 ? 'created' : 'versioned'),
        before: version.version === 1 ? null : { version: version.version - 1 },
        // The version itself stays readable for ever, so the entry names it and does not repeat it.
        after: { version: version.version, version_id: version.id, status: preset.status, designated: isServed, note: input.note },
      },
    }
  })

function* savedPreset(
  preset: PresetRow,
  served: PresetVersionRow | null,
  written: PresetVersionResource,
  seal: TextSeal,
): Steps<SavedPreset> {
  if (served === null) return { ...toPreset(preset), designated_version: written }
  return { ...(yield* presetWithVersion(preset, served, seal)), saved_version: written }
}

/**
 * Creates the preset or takes its lock, and assigns the next number. The lock is held until the commit, so versions commit in the
 * order of their numbers and the designation never goes back.
 */
const takeNextVersion = (transaction: Transaction<Schema>, input: CreateVersionInput): Promise<PresetRow> =>
  transaction
    .insertInto('presets')
    .values({
      id: input.presetId,
      workspace_id: input.workspaceId,
      slug: input.slug,
      name: input.slug,
      description: null,
      status: 'active',
      status_updated_at: null,
      creator_user_id: input.creatorUserId,
      last_version: 1,
      designated_version_id: input.versionId,
      labels: '{}',
      created_at: input.now,
      updated_at: input.now,
    })
    .onConflict((conflict) =>
      conflict.columns(['workspace_id', 'slug']).doUpdateSet((eb) => ({
        last_version: eb('presets.last_version', '+', 1),
        updated_at: eb.ref('excluded.updated_at'),
      })),
    )
    .returningAll()
    .executeTakeFirstOrThrow()

/** From now on the preset serves its newest version. An archived preset becomes active again; a disabled one does not. */
const serve = async (transaction: Transaction<Schema>, input: CreateVersionInput, numbered: PresetRow): Promise<PresetRow> => {
  const isNew = numbered.last_version === 1
  const earlier = isNew ? null : await readVersion(transaction, numbered.designated_version_id)
  const move = { label: null, from: earlier?.version ?? null, to: numbered.last_version }
  await writeMoves(transaction, numbered.id, [move], input)
  if (isNew) return numbered
  return transaction
    .updateTable('presets')
    .set({
      designated_version_id: input.versionId,
      ...(numbered.status === 'archived' ? { status: 'active', status_updated_at: input.now } : {}),
    })
    .where('id', '=', numbered.id)
    .returningAll()
    .executeTakeFirstOrThrow()
}

const versionRow = (
  { versionId, creatorUserId, now, content, note }: CreateVersionInput,
  preset: PresetRow,
  isServed: boolean,
  config: ConfigRow,
): Selectable<PresetVersionsTable> => ({
  id: versionId,
  preset_id: preset.id,
  version: preset.last_version,
  shape: content.shape,
  config: config.text,
  system_prompt: content.systemPrompt === null ? null : JSON.stringify(content.systemPrompt),
  creator_id: creatorUserId,
  created_at: now,
  updated_at: now,
  note,
  saved_as_draft: isServed ? 0 : 1,
})

const claimOf = ({ workspaceId, slug, now }: CreateVersionInput, { route, key, bodySha256, expiredBefore }: IdempotencyClaim): Claim => ({
  workspaceId,
  route,
  slug,
  key,
  bodySha256,
  now,
  expiredBefore,
})
