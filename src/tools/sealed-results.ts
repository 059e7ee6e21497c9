/**
 * The text of a tool that a model read and the client was not shown whole, sealed for the client to bring back with the conversation.
 * A seal holds for one workspace and one day; a client that changes it, or brings it elsewhere, has the visible part alone.
 */
import type { Clock } from '../lib/clock.ts'

/** Seals texts so that no other party can read or change them. */
export interface Seal {
  seal(text: string, context: string): string
  /** Throws where it does not open. */
  open(sealed: string, context: string): string
}

export interface SealedResults {
  seal(workspaceId: string, text: string): string
  /** Null where it does not open, or not any more. */
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
