/** Keys, their limits, and what bounds them. */
import { queryOptions } from '@tanstack/react-query'

import type { z } from 'zod'

import type { ApiKeyResource, keyLimit } from '../../../src/contract/key.ts'
import { ask, segment } from './client.ts'
import { cursorList } from './paged-list.ts'
import { queryClient } from './query-client.ts'

export type KeyLimit = z.output<typeof keyLimit>

/** One key has `limits`: what bounds it, what leaves it least first. Lists leave them out. */
export type Key = ApiKeyResource & { readonly limits?: readonly KeyLimit[] }

export interface KeyFilter {
  readonly q?: string | undefined
  readonly status?: string | undefined
  readonly kind?: Key['kind'] | undefined
  readonly workspace_id?: string | undefined
}

export const keyList = (filter: KeyFilter) => cursorList<Key>(['keys', filter], '/keys', { ...filter })

/** An address that somebody wrote may name a key by anything. */
export const isKeyHash = (text: string): boolean => /^[0-9a-f]{64}$/.test(text)

export const oneKey = (hash: string) =>
  queryOptions({
    queryKey: ['key', hash],
    queryFn: async ({ signal }) => (await ask<{ data: Key }>(`/keys/${segment(hash)}`, { signal })).data,
  })

/** The key that a person's runs are charged to; null before the first one. */
export const playgroundKey = (userId: string, workspaceId: string) =>
  queryOptions({
    queryKey: ['keys', 'playground', userId, workspaceId],
    queryFn: async ({ signal }) => {
      const query = { purpose: 'playground', user_id: userId, workspace_id: workspaceId, status: 'all', limit: 1 }
      const known = (await ask<{ data: readonly Key[] }>('/keys', { query, signal })).data[0]
      // One key alone is read with all that was answered before counted.
      return known === undefined ? null : (await ask<{ data: Key }>(`/keys/${segment(known.hash)}`, { signal })).data
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
  /** That of the session where it is absent. */
  readonly workspace_id?: string
}

/** The key itself is in the answer, once. */
export const createKey = async (body: NewKey): Promise<{ key: string; data: Key }> => changed(ask('/keys', { method: 'POST', body }))

export const changeKey = async (hash: string, body: Readonly<Record<string, unknown>>): Promise<{ data: Key }> =>
  changed(ask(`/keys/${segment(hash)}`, { method: 'PATCH', body }))

export const revokeKey = async (hash: string): Promise<unknown> => changed(ask(`/keys/${segment(hash)}`, { method: 'DELETE' }))

/** The old key works on for `graceSeconds`. */
export const rotateKey = async (hash: string, graceSeconds: number): Promise<{ key: string; data: Key }> =>
  changed(ask(`/keys/${segment(hash)}/rotate`, { method: 'POST', body: { grace_seconds: graceSeconds } }))

const changed = async <Answer>(asked: Promise<Answer>): Promise<Answer> => {
  const answer = await asked
  await queryClient.invalidateQueries({ predicate: ({ queryKey }) => queryKey[0] === 'keys' || queryKey[0] === 'key' })
  return answer
}
