import type { KeyRecord } from '../keys/key-record.ts'
import { T0 } from './preset-input.ts'

/** A key for inference, without any bound, that was never used. */
export const keyRecord = (more: Pick<KeyRecord, 'hash' | 'workspaceId'> & Partial<KeyRecord>): KeyRecord => ({
  digest: more.hash,
  pepperId: 'first',
  kind: 'inference',
  name: 'ci',
  label: 'pb_inf_abc…xyz',
  creatorUserId: 'user-1',
  disabled: false,
  limitNanos: null,
  limitReset: null,
  includeByokInLimit: false,
  strict: false,
  rpmLimit: null,
  tpmLimit: null,
  providerFailure: null,
  externalUser: null,
  purpose: null,
  allowedModels: null,
  retired: null,
  expiresAt: null,
  createdAt: T0,
  updatedAt: null,
  lastUsedAt: null,
  ...more,
})
