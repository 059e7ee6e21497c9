/** The one write of a preset version, with its number, its designation and its idempotency (docs/contract/presets.md#versions). */
import type { Transaction } from 'kysely'

import type { PresetContent, PresetWithVersion } from '../contract/preset.ts'
import { type ChangedBy, recordChange } from './audit-log.ts'
import { type Claim, claimKey, storeAnswer, type StoredAnswer } from './idempotency.ts'
import { type PresetRow, type PresetVersionRow, type SealedDatabase, toPresetWithVersion } from './preset-rows.ts'
import type { Schema } from './schema.ts'
import { holdsSecrets, storeConfig, type TextSeal } from './sealed-config.ts'

export interface CreateVersionInput {
  readonly workspaceId: string
  readonly slug: string
  /** Becomes the preset's id if the slug is new. */
  readonly presetId: string
  readonly versionId: string
  readonly creatorUserId: string
  /** ISO timestamp of every row this call writes. */
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
  /** What a repetition of the request will be answered. */
  readonly answer: (preset: PresetWithVersion) => StoredAnswer
}

export type CreateVersionOutcome =
  | { readonly kind: 'created'; readonly preset: PresetWithVersion }
  | ({ readonly kind: 'replay' } & StoredAnswer)

export const createPresetVersion = ({ database, seal }: SealedDatabase, input: CreateVersionInput): Promise<CreateVersionOutcome> =>
  recordChange<CreateVersionOutcome>(database, input.by, input.now, async (transaction) => {
    const { idempotency } = input
    if (idempotency !== null) {
      const earlier = await claimKey(transaction, claimOf(input, idempotency), seal)
      if (earlier !== null) return { result: { kind: 'replay', ...earlier }, audit: null }
    }
    const preset = await takeNextVersion(transaction, input)
    const version = versionRow(input, preset, seal)
    await transaction.insertInto('preset_versions').values(version).execute()
    const created = toPresetWithVersion(preset, version, seal)
    if (idempotency !== null) {
      const hidden = holdsSecrets(input.content.config) ? seal : null
      await storeAnswer(transaction, claimOf(input, idempotency), idempotency.answer(created), hidden)
    }
    return {
      result: { kind: 'created', preset: created },
      audit: {
        workspaceId: input.workspaceId,
        action: version.version === 1 ? 'created' : 'versioned',
        objectType: 'preset',
        objectId: input.slug,
        before: version.version === 1 ? null : { version: version.version - 1 },
        // The version itself stays readable for ever: it is named, not repeated.
        after: { version: version.version, version_id: version.id, status: created.status },
      },
    }
  })

/**
 * Makes the preset or takes its lock, and gives it the next number. The lock is held to the commit, so versions commit in
 * the order of their numbers and the designation never goes back. An archived preset is active again; a disabled one is not.
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
        designated_version_id: eb.ref('excluded.designated_version_id'),
        updated_at: eb.ref('excluded.updated_at'),
        status: eb
          .case()
          .when('presets.status', '=', 'archived')
          .then(eb.val<PresetRow['status']>('active'))
          .else(eb.ref('presets.status'))
          .end(),
        status_updated_at: eb
          .case()
          .when('presets.status', '=', 'archived')
          .then(eb.ref('excluded.updated_at'))
          .else(eb.ref('presets.status_updated_at'))
          .end(),
      })),
    )
    .returningAll()
    .executeTakeFirstOrThrow()

const versionRow = (
  { versionId, creatorUserId, now, content }: CreateVersionInput,
  preset: PresetRow,
  seal: TextSeal,
): PresetVersionRow => ({
  id: versionId,
  preset_id: preset.id,
  version: preset.last_version,
  shape: content.shape,
  config: storeConfig(content.config, versionId, seal),
  system_prompt: content.systemPrompt === null ? null : JSON.stringify(content.systemPrompt),
  creator_id: creatorUserId,
  created_at: now,
  updated_at: now,
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
