/** The one write of a preset version, with its number, its designation and its idempotency (reliability 5.1 and 5.4). */
import type { Transaction } from 'kysely'

import type { PresetContent, PresetWithVersion } from '../contract/preset.ts'
import { type ChangedBy, recordChange } from './audit-log.ts'
import { type PresetRow, type PresetVersionRow, type SealedDatabase, toPresetWithVersion } from './preset-rows.ts'
import type { Schema } from './schema.ts'
import { holdsSecrets, readAnswerBody, storeAnswerBody, storeConfig, type TextSeal } from './sealed-config.ts'

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

export interface StoredAnswer {
  readonly status: number
  readonly body: string
}

export type CreateVersionOutcome =
  | { readonly kind: 'created'; readonly preset: PresetWithVersion }
  | ({ readonly kind: 'replay' } & StoredAnswer)
  /** The same key came with another body. */
  | { readonly kind: 'idempotency-mismatch' }

export const createPresetVersion = ({ database, seal }: SealedDatabase, input: CreateVersionInput): Promise<CreateVersionOutcome> =>
  recordChange<CreateVersionOutcome>(database, input.by, input.now, async (transaction) => {
    const { idempotency } = input
    if (idempotency !== null) {
      const earlier = await claimIdempotencyKey(transaction, input, idempotency, seal)
      if (earlier !== null) return { result: earlier, audit: null }
    }
    const preset = await takeNextVersion(transaction, input)
    const version = versionRow(input, preset, seal)
    await transaction.insertInto('preset_versions').values(version).execute()
    const created = toPresetWithVersion(preset, version, seal)
    if (idempotency !== null)
      await storeAnswer(transaction, input, idempotency, sealedAnswer(input, idempotency, idempotency.answer(created), seal))
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

/**
 * Null when the key is ours now. The row is claimed first, so of two requests with one key the second waits for the first to
 * commit and then sees its answer; a claim and its version commit together, so neither is ever without the other.
 */
const claimIdempotencyKey = async (
  transaction: Transaction<Schema>,
  { workspaceId, slug, now }: CreateVersionInput,
  { route, key, bodySha256, expiredBefore }: IdempotencyClaim,
  seal: TextSeal,
): Promise<CreateVersionOutcome | null> => {
  const claimed = await transaction
    .insertInto('idempotency_keys')
    .values({ workspace_id: workspaceId, route, slug, key, body_sha256: bodySha256, status: 0, body: '', created_at: now })
    .onConflict((conflict) =>
      conflict
        .columns(['workspace_id', 'route', 'slug', 'key'])
        .doUpdateSet((eb) => ({ body_sha256: eb.ref('excluded.body_sha256'), created_at: eb.ref('excluded.created_at') }))
        .where('idempotency_keys.created_at', '<', expiredBefore),
    )
    .returning('key')
    .executeTakeFirst()
  if (claimed !== undefined) return null

  const earlier = await transaction
    .selectFrom('idempotency_keys')
    .select(['body_sha256', 'status', 'body'])
    .where((eb) => eb.and({ workspace_id: workspaceId, route, slug, key }))
    .executeTakeFirstOrThrow()
  if (earlier.body_sha256 !== bodySha256) return { kind: 'idempotency-mismatch' }
  return { kind: 'replay', status: earlier.status, body: readAnswerBody(earlier.body, [workspaceId, route, slug, key], seal) }
}

/** An answer with secrets is kept sealed. */
const sealedAnswer = (
  { workspaceId, slug, content }: CreateVersionInput,
  { route, key }: IdempotencyClaim,
  answer: StoredAnswer,
  seal: TextSeal,
): StoredAnswer =>
  holdsSecrets(content.config) ? { ...answer, body: storeAnswerBody(answer.body, [workspaceId, route, slug, key], seal) } : answer

const storeAnswer = async (
  transaction: Transaction<Schema>,
  { workspaceId, slug }: CreateVersionInput,
  { route, key }: IdempotencyClaim,
  { status, body }: StoredAnswer,
): Promise<void> => {
  await transaction
    .updateTable('idempotency_keys')
    .set({ status, body })
    .where((eb) => eb.and({ workspace_id: workspaceId, route, slug, key }))
    .execute()
}
