/** Keys and the limits that apply to them. */
import { queryOptions } from '@tanstack/react-query'

import type { z } from 'zod'

import type { ApiKeyResource, keyLimit } from '../../../src/contract/key.ts'
import { ask, askData, segment } from './client.ts'
import { create, remove } from './create.ts'
import { cursorList } from './paged-list.ts'
import { queryClient } from './query-client.ts'

export type KeyLimit = z.output<typeof keyLimit>

/** A key. `limits`, the limits that apply to it with the tightest first, come only with a single key; lists leave them out. */
export type Key = ApiKeyResource & { readonly limits?: readonly KeyLimit[] }

export interface KeyFilter {
  readonly q?: string | undefined
  readonly status?: string | undefined
  readonly kind?: Key['kind'] | undefined
  readonly purpose?: Key['purpose'] | undefined
  readonly workspace_id?: string | undefined
}

export const keyList = (filter: KeyFilter) => cursorList<Key>(['keys', filter], '/keys', { ...filter })

/** How often a screen of keys is read anew: others change them, and programs spend. */
export const KEYS_MS = 10_000

const DAY_MS = 24 * 60 * 60 * 1000

/** The keys that were used in the last day, also by requests that their limits refused: at most the 100 newest of them. */
export const keysInUse = (workspace: string | undefined) =>
  queryOptions({
    queryKey: ['keys', 'in use', workspace],
    queryFn: async ({ signal }) => {
      const query = { status: 'active', kind: 'inference', sort: 'last_used_at', limit: 100, workspace_id: workspace }
      const data = await askData<readonly Key[]>('/keys', { query, signal })
      return data.filter(({ last_used_at: usedAt }) => usedAt !== null && Date.parse(usedAt) > Date.now() - DAY_MS)
    },
    refetchInterval: KEYS_MS,
  })

/** True once a client has used a key that somebody made: a run in the playground connects none. */
export const hasConnectedClient = (workspace: string | undefined) =>
  queryOptions({
    queryKey: ['keys', 'has connected client', workspace],
    queryFn: async ({ signal }) => {
      const query = { kind: 'inference', status: 'all', sort: 'last_used_at', limit: 100, workspace_id: workspace }
      const data = await askData<readonly Key[]>('/keys', { query, signal })
      return data.some(({ purpose, last_used_at: usedAt }) => purpose !== 'playground' && usedAt !== null)
    },
  })

/** A hash from a hand-written address may be any text, so it is checked. */
export const isKeyHash = (text: string): boolean => /^[0-9a-f]{64}$/.test(text)

export const oneKey = (hash: string) =>
  queryOptions({
    queryKey: ['key', hash],
    queryFn: ({ signal }) => askData<Key>(`/keys/${segment(hash)}`, { signal }),
  })

/** The key that a person's playground runs are charged to; null before the first run. */
export const playgroundKey = (userId: string, workspaceId: string) =>
  queryOptions({
    queryKey: ['keys', 'playground', userId, workspaceId],
    queryFn: async ({ signal }) => {
      const query = { purpose: 'playground', user_id: userId, workspace_id: workspaceId, status: 'all', limit: 1 }
      const known = (await askData<readonly Key[]>('/keys', { query, signal }))[0]
      // Only the read of a single key counts all the requests that were answered before it.
      return known === undefined ? null : await askData<Key>(`/keys/${segment(known.hash)}`, { signal })
    },
  })

export interface NewKey {
  readonly name: string
  readonly limit: number | null
  readonly limit_reset: string | null
  readonly expires_at?: string
  readonly creator_user_id?: string
  readonly rpm_limit?: number
  readonly kind?: 'inference' | 'management'
  /** The session's workspace if absent. */
  readonly workspace_id?: string
}

/** The response contains the key itself, this once only. */
export const createKey = async (body: NewKey): Promise<{ key: string; data: Key }> => changed(create('/keys', { body }))

export const changeKey = async (hash: string, body: Readonly<Record<string, unknown>>): Promise<{ data: Key }> =>
  changed(ask(`/keys/${segment(hash)}`, { method: 'PATCH', body }))

export const revokeKey = async (hash: string): Promise<unknown> => changed(remove(`/keys/${segment(hash)}`), hash)

/** The old key stays valid for `graceSeconds`. */
export const rotateKey = async (hash: string, graceSeconds: number): Promise<{ key: string; data: Key }> =>
  changed(create(`/keys/${segment(hash)}/rotate`, { body: { grace_seconds: graceSeconds } }))

/** `gone`: the hash of a key that can no longer be read. */
const changed = async <Answer>(asked: Promise<Answer>, gone: string | null = null): Promise<Answer> => {
  const answer = await asked
  await queryClient.invalidateQueries({
    predicate: ({ queryKey: [kind, hash] }) => kind === 'keys' || (kind === 'key' && hash !== gone),
  })
  return answer
}
