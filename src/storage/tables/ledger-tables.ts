/** The tables of money as Kysely sees them; created by 0004. Amounts are nano-dollars. */
type Nanos = number
/** 0 or 1. */
type Flag = number

export type Span = 'daily' | 'weekly' | 'monthly' | 'lifetime'

export interface LedgerTables {
  scope_window: ScopeWindowTable
  hold: HoldTable
  hold_scope: HoldScopeTable
  ledger: LedgerTable
  workspace_budgets: WorkspaceBudgetsTable
  credit_entries: CreditEntriesTable
}

/** The amount that one key, member or workspace spent in one window, and what its running requests may still spend. */
export interface ScopeWindowTable {
  /** `key:<hash>`, `member:<workspace>:<user>` or `workspace:<id>`. */
  subject: string
  span: Span
  /** The UTC day on which the window begins; '' for a lifetime. */
  window_start: string
  /** The day on which the next window begins; null for a lifetime. */
  window_end: string | null
  committed_n: Nanos
  /** Spent with customers' own provider keys; not part of `committed_n`. */
  byok_n: Nanos
  /** The materialised sum of `hold_scope`. */
  held_n: Nanos
}

/** A request that runs under a limit or, if `reaped`, a request whose node died and that may still come back. */
export interface HoldTable {
  request_id: string
  key_hash: string
  workspace_id: string
  user_id: string
  node_id: string
  node_epoch: number
  provider: string | null
  amount_n: Nanos
  /** The last checkpoint: the amount that is charged if its node dies now. */
  charge_n: Nanos
  state: 'held' | 'reaped'
  /** Its day decides which windows the request is charged to. */
  created_at: string
  /** When it is expected to end. */
  ends_at: string
  lease_until: string
}

export interface HoldScopeTable {
  request_id: string
  subject: string
  span: Span
  window_start: string
  amount_n: Nanos
}

/**
 * `final`: what a request cost. `attempt`: a failed attempt, with what it may have cost upstream; it is never charged. `reaped`: charged
 * for a request whose node died. `adjust`: the difference if that request ended after all.
 */
export interface LedgerTable {
  request_id: string
  attempt_no: number
  kind: 'final' | 'attempt' | 'reaped' | 'adjust'
  key_hash: string
  workspace_id: string
  provider: string | null
  amount_n: Nanos
  byok_n: Nanos
  upstream_n: Nanos | null
  estimated: Flag
  usage_json: string
  /** The UTC day of admission, to which the amount counts. */
  day: string
  created_at: string
}

export interface WorkspaceBudgetsTable {
  id: string
  workspace_id: string
  span: Span
  limit_nanos: Nanos
  include_byok: Flag
  allow_last_request: Flag
  created_at: string
  updated_at: string
}

interface CreditEntriesTable {
  id: string
  workspace_id: string
  /** Negative if credit was taken back. */
  amount_nanos: Nanos
  note: string
  created_at: string
}
