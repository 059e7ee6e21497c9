/** The keys that a list of keys has (docs/contract/keys-and-workspaces.md#key-list). */

export const KEY_SORTS = ['created_at', 'name', 'last_used_at'] as const
export type KeySort = (typeof KEY_SORTS)[number]

export interface KeyFilter {
  /** Null, here and below, means no restriction. */
  readonly q: string | null
  readonly kind: 'management' | 'inference' | null
  readonly purpose: 'playground' | 'application' | null
  /** `enabled`: every key that is not disabled. */
  readonly status: 'active' | 'disabled' | 'expired' | 'enabled' | 'all'
  readonly userId: string | null
  readonly sort: KeySort
  /** The row after which the page begins. */
  readonly after: { readonly value: string; readonly hash: string } | null
}

export const EVERY_KEY = {
  onlyUserId: null,
  q: null,
  kind: null,
  purpose: null,
  status: 'all',
  userId: null,
  sort: 'created_at',
  after: null,
} as const
