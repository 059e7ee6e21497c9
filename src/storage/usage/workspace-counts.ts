/** How many rows a workspace has, as counted by triggers when rows came and went. */
import { type Kysely, sql } from 'kysely'

import type { Schema } from '../tables/schema.ts'
import type { Counted } from '../tables/workspace-sum-tables.ts'

/** The sum of these kinds. `workspaceId` null means all workspaces. */
export const countOf = async (kysely: Kysely<Schema>, workspaceId: string | null, counted: readonly Counted[]): Promise<number> => {
  // The cast is needed because PostgreSQL sums bigints into a numeric, which has no exact form in JavaScript.
  const { amount } = await kysely
    .selectFrom('workspace_counts')
    .select(sql<number>`cast(coalesce(sum(amount), 0) as bigint)`.as('amount'))
    .where('counted', 'in', counted)
    .$if(workspaceId !== null, (query) => query.where('workspace_id', '=', workspaceId ?? ''))
    .executeTakeFirstOrThrow()
  return amount
}
