/** Checks that a version may go live on a preset that requires an evaluation (docs/contract/presets.md#evaluations). */
import type { Transaction } from 'kysely'

import { GatewayError } from '../../errors.ts'
import type { PresetRow } from './preset-rows.ts'
import type { Schema } from '../tables/schema.ts'

/**
 * Throws `precondition_failed`. A version that was live before may be designated again: there
 * is no time for an evaluation when rolling back.
 */
export const requireEvaluation = async (
  transaction: Transaction<Schema>,
  { id, slug }: Pick<PresetRow, 'id' | 'slug'>,
  { version, designated_at }: { readonly version: number; readonly designated_at: string | null },
): Promise<void> => {
  if (designated_at !== null) return
  const passed = await transaction
    .selectFrom('evaluations')
    .select('id')
    .where('preset_id', '=', id)
    .where('version', '=', version)
    .where('passed', '=', 1)
    .limit(1)
    .executeTakeFirst()
  if (passed !== undefined) return
  throw new GatewayError(
    'precondition_failed',
    `The preset "${slug}" requires an evaluation, and version ${version} has passed none. Run one (POST /presets/${slug}/evaluations with "version": ${version}, or patchbay eval ${slug} --version ${version} --set FILE), and designate it then.`,
    { metadata: { reason: 'evaluation_required', version } },
  )
}

/** Throws `precondition_failed`: a version that is only now being saved has passed no evaluation. */
export const refuseUnevaluatedSave = ({ slug }: Pick<PresetRow, 'slug'>): never => {
  throw new GatewayError(
    'precondition_failed',
    `The preset "${slug}" requires an evaluation before a version goes live. Save it with ?designate=false, evaluate it, and designate it then.`,
    { metadata: { reason: 'evaluation_required' } },
  )
}
