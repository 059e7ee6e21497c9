import type { GenerationRecord } from '../generations/generation-store.ts'

/** The record of a request that was answered whole, without a preset, and cost nothing. */
export const generationRecord = (more: Pick<GenerationRecord, 'id' | 'createdAt'> & Partial<GenerationRecord>): GenerationRecord => ({
  workspaceId: 'w-1',
  keyHash: 'a'.repeat(64),
  presetId: null,
  presetVersion: null,
  model: 'm',
  provider: 'p',
  streamed: false,
  cancelled: false,
  tokensPrompt: 1,
  tokensCompletion: 1,
  costNanos: 0,
  byokCostNanos: 0,
  record: {},
  ...more,
})
