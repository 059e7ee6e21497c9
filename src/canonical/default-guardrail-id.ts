import { createHash } from 'node:crypto'

/** The id of a workspace's own guardrail is derived from the workspace's id, so it is known before the guardrail is written. */
export const defaultGuardrailId = (workspaceId: string): string => {
  const hex = createHash('sha256').update(`guardrail of workspace ${workspaceId}`).digest('hex')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`
}
