import { useQuery } from '@tanstack/react-query'

import { type Guardrail, guardrailList, keyAssignments, memberAssignments } from '../../api/guardrails.ts'
import type { Key } from '../../api/keys.ts'
import { currentSession } from '../../api/session.ts'
import { useWholeList } from '../../parts/use-whole-list.ts'

/** The guardrails that are assigned to a key or to its person. A workspace's guardrail applies to every key, so the rows leave it out. */
export const useGuardrailsOfKeys = (workspace: string | undefined): ((key: Key) => readonly Guardrail[]) => {
  // Members may not read guardrails.
  const enabled = useQuery(currentSession).data?.role === 'admin'
  const all = useWholeList({ ...guardrailList(workspace), enabled })
  const ofKeys = useWholeList({ ...keyAssignments(workspace), enabled })
  const ofMembers = useWholeList({ ...memberAssignments(workspace), enabled })
  return ({ hash, creator_user_id: person }) => {
    const ids = new Set([
      ...ofKeys.filter(({ key_hash }) => key_hash === hash).map(({ guardrail_id: id }) => id),
      ...ofMembers.filter(({ user_id }) => user_id === person).map(({ guardrail_id: id }) => id),
    ])
    return all.filter(({ id }) => ids.has(id))
  }
}
