import { useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'

import { type Guardrail, guardrailNames, keyAssignments, memberAssignments } from '../../api/guardrails.ts'
import type { Key } from '../../api/keys.ts'
import { currentSession } from '../../api/session.ts'
import { useWholeList } from '../../parts/use-whole-list.ts'

export interface GuardrailsOfKeys {
  /** False for members, who may not read guardrails. */
  readonly isAllowed: boolean
  readonly of: (key: Key) => readonly Guardrail[] | 'loading' | 'failed'
}

/** The guardrails that are assigned to a key or to its person. A workspace's guardrail applies to every key, so the rows leave it out. */
export const useGuardrailsOfKeys = (workspace: string | undefined): GuardrailsOfKeys => {
  const isAllowed = useQuery(currentSession).data?.role === 'admin'
  const all = useWholeList({ ...guardrailNames(workspace), enabled: isAllowed })
  const ofKeys = useWholeList({ ...keyAssignments(workspace), enabled: isAllowed })
  const ofMembers = useWholeList({ ...memberAssignments(workspace), enabled: isAllowed })
  const byKey = useMemo(() => Map.groupBy(ofKeys.rows, ({ key_hash: hash }) => hash), [ofKeys.rows])
  const byMember = useMemo(() => Map.groupBy(ofMembers.rows, ({ user_id: person }) => person), [ofMembers.rows])
  const lists = [all, ofKeys, ofMembers]
  const state = lists.some(({ isFailed }) => isFailed) ? 'failed' : lists.every(({ isWhole }) => isWhole) ? 'whole' : 'loading'
  return {
    isAllowed,
    of({ hash, creator_user_id: person }) {
      if (state !== 'whole') return state
      const assigned = [...(byKey.get(hash) ?? []), ...(person === null ? [] : (byMember.get(person) ?? []))]
      const ids = new Set(assigned.map(({ guardrail_id: id }) => id))
      return all.rows.filter(({ id }) => ids.has(id))
    },
  }
}
