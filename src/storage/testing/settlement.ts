import type { GenerationRecord } from '../generations/generation-store.ts'
import type { Settlement } from '../ledger/settle-requests.ts'

/** A finished request that was admitted without a limit, and cost what its record says. */
export const settlementOf = (record: GenerationRecord, more: Partial<Settlement> = {}): Settlement => ({
  record,
  userId: 'user_1',
  held: false,
  final: {
    attempt: 0,
    provider: record.provider,
    amountNanos: record.costNanos,
    byokNanos: record.byokCostNanos,
    upstreamNanos: record.costNanos,
    estimated: false,
    usage: '{}',
  },
  attempts: [],
  ...more,
})
