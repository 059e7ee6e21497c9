/**
 * Seals the text of a tool that the model read but that was not shown completely to the client, so that the client can send it
 * back with the conversation. A seal is valid for one workspace and one day; a client that changes it, or uses it elsewhere, has
 * only the visible part.
 */
import type { Clock } from '../lib/clock.ts'

/** Seals texts so that no other party can read or change them. */
export interface Seal {
  seal(text: string, context: string): string
  /** Throws if the text cannot be opened. */
  open(sealed: string, context: string): string
}

export interface SealedResults {
  seal(workspaceId: string, text: string): string
  /** Returns null if the seal is invalid or has expired. */
  open(workspaceId: string, sealed: string): string | null
}

const KEPT_MS = 24 * 60 * 60 * 1000

export const createSealedResults = (clock: Pick<Clock, 'now'>, { seal, open }: Seal): SealedResults => ({
  seal: (workspaceId, text) => seal(`${clock.now()}\n${text}`, contextOf(workspaceId)),
  open(workspaceId, sealed) {
    const opened = opening(open, sealed, contextOf(workspaceId))
    const end = opened?.indexOf('\n') ?? -1
    if (opened === null || end < 0 || clock.now() - Number(opened.slice(0, end)) > KEPT_MS) return null
    return opened.slice(end + 1)
  },
})

const contextOf = (workspaceId: string): string => `tool-result:${workspaceId}`

const opening = (open: Seal['open'], sealed: string, context: string): string | null => {
  try {
    return open(sealed, context)
  } catch {
    return null
  }
}
