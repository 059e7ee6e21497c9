/**
 * The invariants of money, recomputed from the rows (docs/contract/budgets.md#invariants). Each is checked by one statement, so it sees
 * one snapshot, even beside a running service. I4 and I7 concern the moment of an admission and leave nothing to recompute.
 */
import { type RawBuilder, sql } from 'kysely'

import type { Database } from '../database.ts'

export interface Invariant {
  readonly name: 'I1' | 'I2' | 'I3' | 'I5' | 'I6' | 'I8' | 'I9' | 'I10' | 'I11' | 'I12'
  readonly says: string
}

export interface Breach {
  readonly invariant: Invariant['name']
  /** A sentence that describes the fault. */
  readonly what: string
}

export const INVARIANTS: readonly Invariant[] = [
  { name: 'I1', says: 'no amount is negative' },
  { name: 'I2', says: 'what a window holds is the sum of its holds' },
  { name: 'I3', says: 'what a window has spent is what its keys used in it' },
  { name: 'I5', says: 'a request is charged once' },
  { name: 'I6', says: 'no hold outlives its lease by more than 90 seconds' },
  { name: 'I8', says: 'the ledger adds up to the use of each key and day' },
  { name: 'I9', says: 'every generation that used tokens is in the ledger' },
  { name: 'I10', says: 'the ledger adds up to the use of each key and hour' },
  { name: 'I11', says: 'what a workspace has spent is what its keys used' },
  { name: 'I12', says: 'the use of each day is that of its hours' },
]

/** More breaches of one invariant than this say nothing new. */
const BREACHES_MAX = 20

/** `now` is an ISO timestamp. */
export const auditLedger = (database: Pick<Database, 'patiently'>, now: string): Promise<readonly Breach[]> =>
  database.patiently(async (kysely) => {
    const found: Breach[] = []
    for (const { name } of INVARIANTS) {
      const { rows } = await sql<{
        what: string
      }>`select what from (${QUERIES[name](now)}) as breaches limit ${sql.lit(BREACHES_MAX)}`.execute(kysely)
      found.push(...rows.map(({ what }) => ({ invariant: name, what })))
    }
    return found
  })

/** Days for which the ledger has no rows, or not all: they are from before it was kept, or were deleted because of their age. */
const LEDGER_AFTER = sql`coalesce((select value from service_facts where name = 'ledger-after'), '')`

/** Days from before hours were summed, or for which the ledger is no longer complete. */
const USAGE_HOURS_AFTER = sql`coalesce((select value from service_facts where name = 'usage-hours-after'), '')`

const sum = (amount: RawBuilder<unknown>): RawBuilder<number> => sql`cast(coalesce(sum(${amount}), 0) as bigint)`
const TOKENS = sql`(tokens_prompt + tokens_completion)`
const windowText = sql`w.subject || ' ' || w.span || ' from ' || w.window_start`
const text = (number: RawBuilder<unknown>): RawBuilder<string> => sql`cast(${number} as text)`

const heldSum = sql`(select ${sum(sql`s.amount_n`)} from hold_scope s
  where s.subject = w.subject and s.span = w.span and s.window_start = w.window_start)`

/** The usage of each day, once for each subject to which it counts; each row finds its windows by their key. */
const USES = sql`select 'key:' || key_hash as subject, day, cost_nanos, byok_cost_nanos from key_usage_days
  union all
  select 'workspace:' || k.workspace_id, d.day, d.cost_nanos, d.byok_cost_nanos
  from key_usage_days d join api_keys k on k.hash = d.key_hash
  union all
  select 'member:' || k.workspace_id || ':' || k.creator_user_id, d.day, d.cost_nanos, d.byok_cost_nanos
  from key_usage_days d join api_keys k on k.hash = d.key_hash`

const QUERIES: Readonly<Record<Invariant['name'], (now: string) => RawBuilder<unknown>>> = {
  I1: () => sql`
    select ${windowText} || ' has a negative amount' as what from scope_window w where committed_n < 0 or byok_n < 0 or held_n < 0
    union all
    select request_id || ' holds a negative amount' from hold where amount_n < 0 or charge_n < 0
    union all
    select request_id || ' was charged less than nothing in all' from ledger group by request_id having sum(amount_n) < 0 or sum(byok_n) < 0`,
  I2: () => sql`
    select ${windowText} || ' says it holds ' || ${text(sql`w.held_n`)} || ', and its holds are ' || ${text(heldSum)} as what
    from scope_window w where w.held_n <> ${heldSum}
    union all
    select s.request_id || ' holds in a window that is not there' from hold_scope s where not exists (select 1 from scope_window w
      where s.subject = w.subject and s.span = w.span and s.window_start = w.window_start)
    union all
    select s.request_id || ' holds without a hold' from hold_scope s
    where not exists (select 1 from hold h where h.request_id = s.request_id and h.state = 'held')`,
  I3: () => sql`
    select ${windowText} || ' says it spent ' || ${text(sql`spent`)} || ' and ' || ${text(sql`byok`)} || ', and its keys used '
      || ${text(sql`used`)} || ' and ' || ${text(sql`byok_used`)} as what
    from (
      select subject, span, window_start, ${sum(sql`spent`)} as spent, ${sum(sql`byok`)} as byok, ${sum(sql`used`)} as used,
        ${sum(sql`byok_used`)} as byok_used
      from (
        select subject, span, window_start, committed_n as spent, byok_n as byok, 0 as used, 0 as byok_used from scope_window
        union all
        select s.subject, s.span, s.window_start, 0, 0, d.cost_nanos, d.byok_cost_nanos from (${USES}) as d
        join scope_window s on s.subject = d.subject and d.day >= s.window_start and (s.window_end is null or d.day < s.window_end)
      ) as amounts group by subject, span, window_start
    ) as w where spent <> used or byok <> byok_used`,
  I5: () => sql`
    select request_id || ' was charged more than once' as what from ledger where kind <> 'attempt' group by request_id
    having sum(case when kind in ('final', 'adjust') then 1 else 0 end) > 1
      or sum(case when kind in ('final', 'reaped') then 1 else 0 end) > 1`,
  I6: (now) => sql`
    select request_id || ' is held, and its lease ended at ' || lease_until as what from hold
    where state = 'held' and lease_until < ${new Date(Date.parse(now) - 90_000).toISOString()}`,
  I8: () => sql`
    select key_hash || ' on ' || day || ': the ledger and the use differ by ' || ${text(sql`sum(amount)`)} || ' and ' || ${text(sql`sum(byok)`)} as what
    from (
      select key_hash, day, cost_nanos as amount, byok_cost_nanos as byok from key_usage_days
      union all
      select key_hash, day, -amount_n, -byok_n from ledger
    ) as amounts where day > ${LEDGER_AFTER} group by key_hash, day having sum(amount) <> 0 or sum(byok) <> 0`,
  I9: () => sql`
    select g.id || ' used tokens and is not in the ledger' as what from generations g
    where g.tokens_prompt + g.tokens_completion > 0 and substr(g.created_at, 1, 10) > ${LEDGER_AFTER}
      and not exists (select 1 from ledger l where l.request_id = g.id and l.kind in ('final', 'adjust'))`,
  I10: () => sql`
    select key_hash || ' on ' || day || ': the ledger and the hours differ by ' || ${text(sql`sum(amount)`)} || ' and ' || ${text(sql`sum(byok)`)} as what
    from (
      select key_hash, substr(hour, 1, 10) as day, cost_nanos as amount, byok_cost_nanos as byok from usage_hours
      union all
      select key_hash, day, -amount_n, -byok_n from ledger
    ) as amounts where day > ${LEDGER_AFTER} and day > ${USAGE_HOURS_AFTER} group by key_hash, day having sum(amount) <> 0 or sum(byok) <> 0`,
  I11: () => sql`
    select workspace_id || ': what it has spent and what its keys used differ by ' || ${text(sql`sum(amount)`)} as what
    from (
      select workspace_id, cost_nanos as amount from workspace_spend
      union all
      select k.workspace_id, -d.cost_nanos from key_usage_days d join api_keys k on k.hash = d.key_hash
    ) as amounts group by workspace_id having sum(amount) <> 0`,
  // A day without its row, or with one that is not complete, is read by its hours; without it the job sums it again.
  I12: () => sql`
    select key_hash || ' on ' || day || ': the day and its hours differ by ' || ${text(sql`sum(requests)`)} || ' requests, '
      || ${text(sql`sum(tokens)`)} || ' tokens, ' || ${text(sql`sum(amount)`)} || ' and ' || ${text(sql`sum(byok)`)}
      || '. The day is summed again after: delete from usage_summed_days where day = ''' || day || '''' as what
    from (
      select day, key_hash, requests, ${TOKENS} as tokens, cost_nanos as amount, byok_cost_nanos as byok from usage_days
      union all
      select substr(hour, 1, 10), key_hash, -requests, -${TOKENS}, -cost_nanos, -byok_cost_nanos from usage_hours
    ) as amounts where day in (select s.day from usage_summed_days s where s.complete = 1) group by key_hash, day
    having sum(requests) <> 0 or sum(tokens) <> 0 or sum(amount) <> 0 or sum(byok) <> 0`,
}
