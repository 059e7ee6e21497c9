import type { Clock } from '../lib/clock.ts'
import { createLoadCache } from '../lib/load-cache.ts'
import type { Scope, ScopeSource } from './scope.ts'

/** The maximum number of workspaces whose scopes are cached. */
const CACHE_MAX = 10_000

interface WorkspaceScopes extends Required<ScopeSource> {
  /** Call it when the scopes of the workspace have changed. */
  forget(workspaceId: string): void
}

/** The scopes of whole workspaces, kept in memory. */
export const createWorkspaceScopes = (clock: Clock, load: (workspaceId: string) => Promise<readonly Scope[]>): WorkspaceScopes => {
  const cache = createLoadCache<string, readonly Scope[]>(CACHE_MAX, clock)
  return {
    scopes({ workspaceId }) {
      const known = cache.get(workspaceId, load)
      return known instanceof Promise ? known.then((scopes) => scopes ?? []) : (known ?? [])
    },
    forget: (workspaceId) => cache.forget((_, known) => known === workspaceId),
    refreshCache: cache.refresh,
  }
}
