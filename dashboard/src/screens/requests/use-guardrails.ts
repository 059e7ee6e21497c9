import { useQuery } from '@tanstack/react-query'

import { type Guardrail, guardrailNames } from '../../api/guardrails.ts'
import { currentSession } from '../../api/session.ts'
import { useWholeList } from '../../parts/use-whole-list.ts'

interface Guardrails {
  /** The guardrails that are loaded so far. */
  readonly rows: readonly Guardrail[]
  readonly isWhole: boolean
  /** True if the guardrails cannot be read, or not by this person: members may not read them. */
  readonly isRefused: boolean
}

/** The guardrails of the workspace, fetched only if they are wanted. */
export const useGuardrails = (workspace: string | undefined, isWanted: boolean): Guardrails => {
  const session = useQuery(currentSession).data
  const options = { ...guardrailNames(workspace), enabled: isWanted && session?.role === 'admin' }
  const { rows, isWhole, isFailed } = useWholeList(options)
  return { rows, isWhole, isRefused: isFailed || (session !== undefined && session.role !== 'admin') }
}
