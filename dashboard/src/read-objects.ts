/**
 * Prefetches the queries of the screen of one object when the pointer is on a link to it: the same requests that a click would make, and
 * not repeated within seconds.
 */
import { assignedKeys, assignedMembers } from './api/guardrails.ts'
import { isKeyHash, oneKey } from './api/keys.ts'
import { preset } from './api/presets.ts'
import { queryClient } from './api/query-client.ts'
import type { Search } from './search.ts'

export const readPreset = ({ slug = '' }: Readonly<Record<string, string>>, { workspace }: Search): void =>
  void queryClient.prefetchQuery(preset(slug, { workspace_id: workspace }))

export const readKey = (_params: unknown, { key }: Search): void => {
  if (key !== undefined && isKeyHash(key)) void queryClient.prefetchQuery(oneKey(key))
}

export const readGuardrail = (_params: unknown, { guardrail }: Search): void => {
  if (guardrail === undefined) return
  void queryClient.prefetchInfiniteQuery(assignedKeys(guardrail))
  void queryClient.prefetchInfiniteQuery(assignedMembers(guardrail))
}
