/** A ledger as one process has it, for tests that simulate several processes and let time pass. */
import type { FakeClock } from '../../test/support/fake-clock.ts'
import { isoTimestamp, type Clock } from '../lib/clock.ts'
import { systemIds } from '../lib/id.ts'
import type { Database } from '../storage/database.ts'
import type { GenerationRecord } from '../storage/generations/generation-store.ts'
import type { Settlement } from '../storage/ledger/settle-requests.ts'
import { settlementOf } from '../storage/testing/settlement.ts'
import { createWorkspaceStore } from '../storage/workspaces/workspace-store.ts'
import { createBudgets } from './budgets.ts'
import { createCredits } from './credits.ts'
import type { InFlightSettings } from './decide.ts'
import { createLedger, type Ledger } from './ledger.ts'
import { keyLimitSource, type SpendingLimit, type ScopeSource, type Spender } from './scope.ts'
import { generationRecord } from '../storage/testing/generation-record.ts'

/** Runs work that is due at once as a microtask; everything else waits until the test lets time pass. */
const promptClock = (clock: FakeClock): Clock => ({
  ...clock,
  after(delayMs, task) {
    if (delayMs > 0) return clock.after(delayMs, task)
    queueMicrotask(task)
    return () => undefined
  },
})

export interface Node {
  readonly ledger: Ledger
  settle(settlements: readonly Settlement[]): Promise<void>
  /** Throws what the client would get if no hold is given. */
  begin(spender: Spender, estimateNanos: number, more?: { readonly promptNanos?: number; readonly cost?: () => number }): Promise<Running>
}

export interface Running {
  readonly id: string
  readonly spender: Spender
  readonly estimateNanos: number
  /** The settlement as the service writes it; it may be settled again. */
  settlement(costNanos: number): Settlement
  /** Holds this amount instead of the amount held so far. */
  grow(estimateNanos: number): Promise<void>
  end(costNanos: number): Promise<void>
}

export const openNode = (
  database: Database,
  clock: FakeClock,
  more: {
    readonly sources?: readonly ScopeSource[]
    readonly inFlight?: InFlightSettings
    readonly settleFirst?: () => Promise<void>
    readonly sharedNow?: () => number
  } = {},
): Node => {
  const ledger = createLedger({
    database,
    clock: promptClock(clock),
    sharedNow: more.sharedNow ?? clock.now,
    ids: systemIds,
    sources: [keyLimitSource, ...(more.sources ?? [])],
    inFlight: () => more.inFlight ?? { fraction: 0.5, ceilingNanos: null },
    settleFirst: more.settleFirst ?? (async () => undefined),
    onError: (thrown) => {
      throw thrown
    },
    onReaped: () => undefined,
    onRepaired: () => undefined,
  })
  const settle = (settlements: readonly Settlement[]): Promise<void> => ledger.settle(settlements.map((one) => JSON.stringify(one)))
  return {
    ledger,
    settle,
    async begin(spender, estimateNanos, { promptNanos = 0, cost = () => 0 } = {}) {
      const atMs = clock.now()
      const id = systemIds.prefixed(`gen-${Math.floor(atMs)}`)
      const scopes = await ledger.scopesOf(spender)
      const demand = { id, spender, atMs, scopes, estimateNanos, promptNanos, provider: 'openai', expectedMs: 5000 }
      await ledger.admit(demand, cost)
      const settlement = (costNanos: number): Settlement =>
        settlementOf(recordOf(id, spender, atMs, costNanos), { userId: spender.userId, held: true })
      return {
        id,
        spender,
        estimateNanos,
        settlement,
        grow: (nanos) => ledger.grow({ ...demand, estimateNanos: nanos }),
        async end(costNanos) {
          ledger.ended(id)
          await settle([settlement(costNanos)])
        },
      }
    },
  }
}

export const recordOf = (id: string, spender: Spender, atMs: number, costNanos: number): GenerationRecord =>
  generationRecord({
    id,
    createdAt: isoTimestamp(atMs),
    workspaceId: spender.workspaceId,
    keyHash: spender.keyHash,
    model: 'openai/gpt-5.4',
    provider: 'openai',
    tokensPrompt: 10,
    tokensCompletion: 5,
    costNanos,
  })

/** Creates a workspace with the given number of keys in storage, and its budgets and credit. */
export const prepareMoney = async (database: Database, clock: FakeClock, keys: number) => {
  const now = isoTimestamp(clock.now())
  const { workspaceId, userId } = await createWorkspaceStore(database).ensureDefaults({
    workspaceId: systemIds.uuid(),
    userId: 'user_1',
    now,
  })
  const hashes = Array.from({ length: keys }, (_, index) => `${index}`.padStart(64, 'a'))
  await database.transaction(async (transaction) => {
    for (const hash of hashes) {
      await transaction
        .insertInto('api_keys')
        .values({
          hash,
          kind: 'inference',
          name: 'a key',
          label: 'pb_inf_…0000',
          workspace_id: workspaceId,
          creator_user_id: userId,
          disabled: 0,
          limit_nanos: null,
          limit_reset: null,
          include_byok_in_limit: 0,
          strict: 0,
          digest: hash,
          pepper_id: '',
          rpm_limit: null,
          tpm_limit: null,
          expires_at: null,
          created_at: now,
          updated_at: null,
          last_used_at: '',
          deleted_at: null,
        })
        .execute()
    }
  })
  const spender = (index: number, limit: SpendingLimit | null = null): Spender => ({
    keyHash: hashes[index] ?? '',
    workspaceId,
    userId,
    limit,
  })
  const parts = { database, clock, ids: systemIds }
  return { workspaceId, spender, budgets: createBudgets(parts), credits: createCredits(parts) }
}

export const limitOf = (nanos: number, interval: SpendingLimit['interval'] = 'monthly'): SpendingLimit => ({
  nanos,
  interval,
  includeByok: false,
})
