/** The amount that each workspace ever spent, and how many keys, members, presets and entries of the audit log it has. Released: never change it. */
import { type Kysely, type Migration, type RawBuilder, sql } from 'kysely'

import type { Engine } from '../engine.ts'

/** `name` and `counts` are about one row, under the name by which it is known in that place. */
interface Counted {
  readonly table: string
  readonly name: (row: string) => RawBuilder<unknown>
  /** Says that the row counts; absent: each does. */
  readonly counts?: (row: string) => RawBuilder<unknown>
  /** The one column that decides on both, where it ever changes. */
  readonly changing?: string
}

const COUNTED: readonly Counted[] = [
  {
    table: 'api_keys',
    name: () => sql`'keys'`,
    counts: (row) => sql`${sql.ref(`${row}.deleted_at`)} is null`,
    changing: 'deleted_at',
  },
  { table: 'workspace_members', name: () => sql`'members'` },
  { table: 'presets', name: (row) => sql`'presets/' || ${sql.ref(`${row}.status`)}`, changing: 'status' },
  { table: 'audit_log', name: () => sql`'audit_log'` },
]

const always = (): RawBuilder<unknown> => sql`true`

export const sumsOfWorkspaces = (engine: Engine): Migration => ({
  async up(db: Kysely<unknown>) {
    const text = engine === 'postgres' ? sql`text collate "C"` : sql`text`
    const integer = engine === 'postgres' ? sql`bigint` : sql`integer`
    const end = engine === 'postgres' ? sql`` : sql`strict, without rowid`

    await sql`create table workspace_counts (
      workspace_id ${text} not null,
      counted ${text} not null,
      amount ${integer} not null,
      primary key (workspace_id, counted)
    ) ${end}`.execute(db)
    await sql`create table workspace_spend (workspace_id ${text} not null primary key, cost_nanos ${integer} not null) ${end}`.execute(db)

    // Triggers come before the sums: on PostgreSQL they hold off whoever writes meanwhile until these are there.
    for (const counted of COUNTED) {
      await (engine === 'postgres' ? countInPostgres(db, counted) : countInSqlite(db, counted))
      const { table, name, counts = always } = counted
      await sql`insert into workspace_counts (workspace_id, counted, amount)
        select workspace_id, ${name(table)}, count(*) from ${sql.table(table)} where ${counts(table)} group by 1, 2`.execute(db)
    }
    if (engine === 'postgres') await heedOlderProcesses(db)
    await sql`insert into workspace_spend (workspace_id, cost_nanos)
      select k.workspace_id, sum(d.cost_nanos) from key_usage_days d join api_keys k on k.hash = d.key_hash group by k.workspace_id`.execute(
      db,
    )
  },
})

const countInSqlite = async (db: Kysely<unknown>, { table, name, counts = always, changing }: Counted): Promise<void> => {
  const add = (row: 'old' | 'new', amount: 1 | -1): RawBuilder<unknown> =>
    sql`insert into workspace_counts (workspace_id, counted, amount) select ${sql.ref(`${row}.workspace_id`)}, ${name(row)}, ${sql.lit(amount)}
      where ${counts(row)} on conflict (workspace_id, counted) do update set amount = amount + excluded.amount;`
  const trigger = (change: string, condition: RawBuilder<unknown>, work: RawBuilder<unknown>): Promise<unknown> =>
    sql`create trigger ${sql.ref(`${table}_counted_${change}`)} after ${sql.raw(change)} on ${sql.table(table)} ${condition} begin ${work} end`.execute(
      db,
    )
  await trigger('insert', sql``, add('new', 1))
  await trigger('delete', sql``, add('old', -1))
  if (changing !== undefined)
    await trigger('update', sql`when old.${sql.ref(changing)} is not new.${sql.ref(changing)}`, sql`${add('old', -1)} ${add('new', 1)}`)
}

const countInPostgres = async (db: Kysely<unknown>, { table, name, counts = always, changing }: Counted): Promise<void> => {
  const add = (rows: RawBuilder<unknown>): RawBuilder<unknown> =>
    sql`insert into workspace_counts (workspace_id, counted, amount)
      select workspace_id, counted, sum(amount) from (${rows}) as counts group by 1, 2 order by 1, 2
      on conflict (workspace_id, counted) do update set amount = workspace_counts.amount + excluded.amount;`
  const counting = (from: RawBuilder<unknown>, row: string, amount: 1 | -1): RawBuilder<unknown> =>
    sql`select ${sql.ref(`${row}.workspace_id`)}, ${name(row)} as counted, ${sql.lit(amount)} as amount ${from} where ${counts(row)}`
  const trigger = async (change: string, after: RawBuilder<unknown>, work: RawBuilder<unknown>): Promise<void> => {
    const called = sql.ref(`patchbay_${table}_counted_${change}`)
    await sql`create function ${called}() returns trigger language plpgsql as $$ begin ${work} return null; end $$`.execute(db)
    await sql`create trigger ${sql.ref(`${table}_counted_${change}`)} after ${after} execute function ${called}()`.execute(db)
  }
  const changed = sql`from changed`
  const on = sql`on ${sql.table(table)} referencing`
  await trigger('insert', sql`insert ${on} new table as changed for each statement`, add(counting(changed, 'changed', 1)))
  await trigger('delete', sql`delete ${on} old table as changed for each statement`, add(counting(changed, 'changed', -1)))
  if (changing === undefined) return
  const column = sql.ref(changing)
  await trigger(
    'update',
    sql`update of ${column} on ${sql.table(table)} for each row when (old.${column} is distinct from new.${column})`,
    add(sql`${counting(sql``, 'old', -1)} union all ${counting(sql``, 'new', 1)}`),
  )
}

/** Until all of them are replaced, processes of the version before add days alone. Those of this version say in each transaction that they add both. */
const heedOlderProcesses = async (db: Kysely<unknown>): Promise<void> => {
  const add = (rows: RawBuilder<unknown>): RawBuilder<unknown> =>
    sql`insert into workspace_spend (workspace_id, cost_nanos)
      select k.workspace_id, sum(d.cost_nanos) from (${rows}) as d join api_keys k on k.hash = d.key_hash group by 1 order by 1
      on conflict (workspace_id) do update set cost_nanos = workspace_spend.cost_nanos + excluded.cost_nanos;`
  const after = sql`select key_hash, cost_nanos from after_change`
  const before = sql`select key_hash, -cost_nanos from before_change`
  for (const [change, tables, rows] of [
    ['insert', sql`new table as after_change`, after],
    ['update', sql`new table as after_change old table as before_change`, sql`${after} union all ${before}`],
  ] as const) {
    const called = sql.ref(`patchbay_spent_${change}`)
    await sql`create function ${called}() returns trigger language plpgsql as $$ begin ${add(rows)} return null; end $$`.execute(db)
    await sql`create trigger ${sql.ref(`key_usage_days_spent_${change}`)} after ${sql.raw(change)} on key_usage_days referencing ${tables}
      for each statement when (coalesce(current_setting('patchbay.adds_spend', true), '') <> 'on') execute function ${called}()`.execute(db)
  }
}
