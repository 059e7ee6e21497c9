/** Databases as earlier versions left them: at each level of the schema, with rows in each table that existed by then. */
import { type Kysely, sql, type TableMetadata } from 'kysely'

import { systemClock } from '../../lib/clock.ts'
import { systemIds } from '../../lib/id.ts'
import type { EngineConnection } from '../database.ts'
import { migrate, migrationsOf } from '../tables/migrate.ts'
import type { Schema } from '../tables/schema.ts'

type Row = Readonly<Record<string, string | number | null>>

const AT = '2026-10-01T10:00:00.000Z'
const LATER = '2027-10-01T10:00:00.000Z'
const WORKSPACE = '00000000-0000-4000-8000-000000000001'
const KEYS = ['a'.repeat(64), 'b'.repeat(64)] as const

const key = (hash: string, kind: string): Row => ({
  hash,
  kind,
  name: `old ${kind}`,
  label: 'pb_…abcd',
  workspace_id: WORKSPACE,
  creator_user_id: 'user-1',
  disabled: 0,
  limit_nanos: kind === 'inference' ? 5_000_000_000 : null,
  limit_reset: null,
  include_byok_in_limit: 0,
  expires_at: null,
  created_at: AT,
  updated_at: null,
  deleted_at: null,
})

const version = (number: number): Row => ({
  id: `version-${number}`,
  preset_id: 'preset-1',
  version: number,
  shape: 'chat',
  config: `{"model":"openai/gpt-5.4","temperature":0.${number}}`,
  system_prompt: JSON.stringify(`Be kind, ${number} times. ✓`),
  creator_id: 'user-1',
  created_at: AT,
  updated_at: AT,
})

const generation = (id: string, day: string): Row => ({
  id,
  created_at: `${day}T11:00:00.000Z`,
  workspace_id: WORKSPACE,
  key_hash: KEYS[1],
  preset_id: 'preset-1',
  preset_version: 2,
  model: 'openai/gpt-5.4',
  provider: 'openai',
  streamed: 1,
  cancelled: 0,
  tokens_prompt: 10,
  tokens_completion: 5,
  cost_nanos: 1000,
  byok_cost_nanos: 0,
  record: JSON.stringify({ id, session_id: 'session', request_id: `req-${id}`, latency: 12, generation_time: 34 }),
})

const usage = (day: string): Row => ({ key_hash: KEYS[1], day, cost_nanos: 1000, byok_cost_nanos: 0, requests: 1, tokens: 15 })

const WINDOW = { subject: `key:${KEYS[1]}`, span: 'daily', window_start: '2026-10-02' }

/** The rows that were written at each level, by the migration that made room for them. */
const WRITTEN: Readonly<Record<string, Readonly<Record<string, readonly Row[]>>>> = {
  '0001-first-tables': {
    workspaces: [
      { id: WORKSPACE, slug: 'default', name: 'Default', description: null, created_at: AT, created_by: 'user-1', updated_at: AT },
    ],
    users: [{ id: 'user-1', name: 'Owner', email: null, created_at: AT }],
    api_keys: [key(KEYS[0], 'management'), key(KEYS[1], 'inference')],
    presets: [
      {
        id: 'preset-1',
        workspace_id: WORKSPACE,
        slug: 'bot',
        name: 'bot',
        description: null,
        status: 'active',
        status_updated_at: null,
        creator_user_id: 'user-1',
        last_version: 2,
        designated_version_id: 'version-2',
        labels: '{"live":1}',
        created_at: AT,
        updated_at: AT,
      },
    ],
    preset_versions: [version(1), version(2)],
    idempotency_keys: [
      {
        workspace_id: WORKSPACE,
        route: 'messages',
        slug: 'bot',
        key: 'k',
        body_sha256: 'c'.repeat(64),
        status: 200,
        body: '{}',
        created_at: AT,
      },
    ],
    generations: [generation('gen-1', '2026-10-01')],
    key_usage_days: [usage('2026-10-01')],
  },
  '0002-service-facts': { service_facts: [{ name: 'first-start', value: AT }] },
  '0004-ledger': {
    generations: [generation('gen-2', '2026-10-02')],
    key_usage_days: [usage('2026-10-02')],
    ledger: [
      {
        request_id: 'gen-2',
        attempt_no: 0,
        kind: 'final',
        key_hash: KEYS[1],
        workspace_id: WORKSPACE,
        provider: 'openai',
        amount_n: 1000,
        byok_n: 0,
        upstream_n: null,
        estimated: 0,
        usage_json: '{}',
        day: '2026-10-02',
        created_at: '2026-10-02T11:00:00.000Z',
      },
    ],
    workspace_budgets: [
      {
        id: 'budget-1',
        workspace_id: WORKSPACE,
        span: 'monthly',
        limit_nanos: 9_000_000_000,
        include_byok: 0,
        allow_last_request: 1,
        created_at: AT,
        updated_at: AT,
      },
    ],
    credit_entries: [{ id: 'credit-1', workspace_id: WORKSPACE, amount_nanos: 7_000_000_000, note: 'prepaid', created_at: AT }],
    scope_window: [{ ...WINDOW, window_end: '2026-10-03', committed_n: 1000, byok_n: 0, held_n: 500 }],
    hold: [
      {
        request_id: 'gen-3',
        key_hash: KEYS[1],
        workspace_id: WORKSPACE,
        user_id: 'user-1',
        node_id: 'node-1',
        node_epoch: 1,
        provider: 'openai',
        amount_n: 500,
        charge_n: 500,
        state: 'held',
        created_at: '2026-10-02T12:00:00.000Z',
        ends_at: LATER,
        lease_until: LATER,
      },
    ],
    hold_scope: [{ request_id: 'gen-3', ...WINDOW, amount_n: 500 }],
  },
  '0005-guardrails': {
    guardrails: [
      {
        id: 'guardrail-1',
        workspace_id: WORKSPACE,
        is_default: 1,
        name: 'Default',
        limit_nanos: null,
        reset_interval: null,
        include_byok: 0,
        settings: '{}',
        created_at: AT,
        updated_at: null,
      },
    ],
    guardrail_assignments: [
      {
        id: 'assigned-1',
        guardrail_id: 'guardrail-1',
        workspace_id: WORKSPACE,
        subject_kind: 'key',
        subject: KEYS[1],
        assigned_by: null,
        created_at: AT,
      },
    ],
  },
  '0006-management': {
    workspace_members: [{ id: 'member-1', workspace_id: WORKSPACE, user_id: 'user-1', role: 'admin', created_at: AT }],
    byok_keys: [
      {
        id: 'byok-1',
        workspace_id: WORKSPACE,
        provider: 'openai',
        name: null,
        label: 'sk-…x',
        disabled: 0,
        is_fallback: 0,
        is_required: 0,
        is_byok_only: 0,
        declared_zdr: null,
        sort_order: 0,
        allowed_models: null,
        allowed_user_ids: null,
        allowed_api_key_hashes: null,
        version: 1,
        sealed_secret: 'sealed',
        wrapped_data_key: 'wrapped',
        kek_id: 'kek',
        created_at: AT,
        updated_at: AT,
      },
    ],
    audit_log: [
      {
        id: 'audit-1',
        created_at: AT,
        workspace_id: WORKSPACE,
        user_id: 'user-1',
        key_hash: null,
        action: 'created',
        object_type: 'preset',
        object_id: 'preset-1',
        before: null,
        after: '{}',
      },
    ],
    activity_days: [
      {
        day: '2026-10-02',
        workspace_id: WORKSPACE,
        key_hash: KEYS[1],
        model: 'openai/gpt-5.4',
        provider: 'openai',
        requests: 1,
        tokens_prompt: 10,
        tokens_completion: 5,
        tokens_reasoning: 0,
        cost_nanos: 1000,
        byok_cost_nanos: 0,
      },
    ],
  },
  '0008-catalogue-imports': { catalogue_imports: [{ kind: 'litellm', as_of: '2026-10-01', imported_at: AT, models: '[]' }] },
  '0009-preset-moves': {
    preset_moves: [
      { preset_id: 'preset-1', position: 1, label: null, from_version: 1, to_version: 2, moved_at: AT, user_id: 'user-1', key_hash: null },
    ],
  },
  '0011-sessions': {
    sessions: [
      {
        id: 'session-1',
        digest: 'd'.repeat(64),
        csrf_digest: 'e'.repeat(64),
        workspace_id: WORKSPACE,
        user_id: 'user-1',
        role: 'admin',
        key_hash: null,
        user_agent: 'Browser ✓',
        created_at: AT,
        last_used_at: AT,
        expires_at: LATER,
        ends_at: LATER,
      },
    ],
    login_links: [
      {
        id: 'link-1',
        digest: 'f'.repeat(64),
        workspace_id: WORKSPACE,
        user_id: 'user-1',
        role: 'member',
        created_at: AT,
        expires_at: LATER,
      },
    ],
  },
  '0012-preset-tests': {
    preset_tests: [{ id: 'test-1', preset_id: 'preset-1', name: 'Greets', sealed_input: 'sealed', creator_id: 'user-1', created_at: AT }],
  },
  '0013-observability-destinations': {
    observability_destinations: [
      {
        id: 'destination-1',
        workspace_id: WORKSPACE,
        type: 'webhook',
        name: null,
        enabled: 1,
        settings: '{}',
        sealed_config: 'sealed',
        created_at: AT,
        updated_at: AT,
        deleted_at: null,
      },
    ],
  },
  '0016-preset-rollouts': {
    preset_rollouts: [
      {
        preset_id: 'preset-1',
        id: 'rollout-1',
        state: 'ended',
        live_version: 2,
        splits: '[]',
        segments: '[]',
        sticky: 'user',
        halt: null,
        looks: '{}',
        started_at: AT,
        updated_at: AT,
        ended_at: AT,
        reason: 'It was ended.',
      },
    ],
  },
  '0017-generation-contents': {
    generation_contents: [{ id: 'gen-2', workspace_id: WORKSPACE, created_at: AT, expires_at: LATER, sealed: 'sealed' }],
  },
  '0018-people': {
    key_uses: [{ key_hash: KEYS[1], last_used_at: AT }],
    oauth_codes: [
      {
        id: 'code-1',
        digest: '9'.repeat(64),
        workspace_id: WORKSPACE,
        user_id: 'user-1',
        callback_url: null,
        code_challenge: null,
        code_challenge_method: 'S256',
        key_settings: '{}',
        created_at: AT,
        expires_at: LATER,
        used_at: null,
        key_hash: null,
      },
    ],
  },
  '0019-evaluations': {
    evaluations: [
      {
        id: 'evaluation-1',
        workspace_id: WORKSPACE,
        preset_id: 'preset-1',
        preset_slug: 'bot',
        state: 'done',
        key_hash: KEYS[1],
        sealed_spec: 'sealed',
        items_total: 1,
        cost_nanos: 1000,
        passed: 1,
        reason: null,
        held_by: null,
        held_until: null,
        created_at: AT,
        ended_at: AT,
      },
    ],
    evaluation_items: [{ evaluation_id: 'evaluation-1', position: 0, sealed_item: 'sealed', sealed_result: null }],
  },
  '0020-endpoint-health': {
    endpoint_slots: [{ slot: '2026-10-01T10:00', endpoint: 'openai/gpt-5.4', ok: 3, failed: 1 }],
    endpoint_last: [
      { endpoint: 'openai/gpt-5.4', ok_at: AT, error_at: AT, error_type: 'rate_limit', error_status: 429, error_message: 'Too many ✓' },
    ],
  },
  '0022-traces-waiting': {
    traces_waiting: [
      { id: 'trace-1', destination_id: 'destination-1', sealed: 'sealed', created_at: AT, held_by: 'sender-1', held_until: AT },
    ],
  },
  '0023-trace-senders': {
    trace_senders: [{ id: 'sender-2', held_until: AT }],
  },
  '0025-files': {
    files: [
      {
        id: 'file_1',
        workspace_id: WORKSPACE,
        filename: 'notes ✓.txt',
        mime_type: 'text/plain',
        size_bytes: 5,
        complete: 1,
        created_at: AT,
      },
    ],
    file_pieces: [{ file_id: 'file_1', position: 0, sealed: 'sealed' }],
  },
  // A day without use: an invented day would have no hours.
  '0032-usage-days': { usage_summed_days: [{ day: '2026-09-01', run: 'run-1', complete: 1 }] },
}

/** Brings an empty database to the schema of the last of `names`, and writes at each level the rows that its versions wrote. */
export const makeOlderDatabase = async (connection: EngineConnection, names: readonly string[]): Promise<void> => {
  for (const [index, name] of names.entries()) {
    await migrate(connection, { clock: systemClock, ids: systemIds }, migrationsOf(connection.engine, names.slice(0, index + 1)))
    for (const [table, rows] of Object.entries(WRITTEN[name] ?? {})) for (const row of rows) await insert(connection, table, row)
  }
  for (const table of await connection.kysely.introspection.getTables()) {
    if (!NAMED.has(table.name) && (await isEmpty(connection, table.name))) await insert(connection, table.name, inventedRow(table))
  }
}

const insert = async ({ kysely }: EngineConnection, table: string, row: Row): Promise<void> => {
  const columns = sql.join(Object.keys(row).map((column) => sql.ref(column)))
  await sql`insert into ${sql.table(table)} (${columns}) values (${sql.join(Object.values(row))})`.execute(kysely)
}

const isEmpty = async ({ kysely }: EngineConnection, table: string): Promise<boolean> =>
  (await sql`select 1 from ${sql.table(table)} limit 1`.execute(kysely)).rows.length === 0

/** A row for a table that has none in WRITTEN. A table whose rules this row would break must have a row there. */
const inventedRow = ({ name: table, columns }: TableMetadata): Row =>
  Object.fromEntries(
    columns.map(({ name, dataType }) => {
      if (name === 'workspace_id') return [name, WORKSPACE]
      if (dataType !== 'text') return [name, 1]
      return [name, name.endsWith('_at') ? AT : `${table} ${name} ✓`]
    }),
  )

/** The messages that running nodes send each other: only PostgreSQL has these tables, and they are not kept. */
const TABLES_OF_NODES: readonly string[] = ['nodes', 'limit_rates', 'limit_running', 'limit_places']

const NAMED: ReadonlySet<string> = new Set([...TABLES_OF_NODES, ...Object.values(WRITTEN).flatMap((tables) => Object.keys(tables))])

/** Every row of every table that is kept, including empty tables, in an order that can be compared. */
export const rowsOf = async (kysely: Kysely<Schema>): Promise<Readonly<Record<string, readonly Readonly<Record<string, unknown>>[]>>> => {
  const found: Record<string, Readonly<Record<string, unknown>>[]> = {}
  for (const { name } of await kysely.introspection.getTables()) {
    if (TABLES_OF_NODES.includes(name)) continue
    const { rows } = await sql<Record<string, unknown>>`select * from ${sql.table(name)}`.execute(kysely)
    found[name] = rows.map((row) => ({ ...row })).toSorted((a, b) => (textOf(a) < textOf(b) ? -1 : 1))
  }
  return found
}

/** Sorts the members, because the order of columns differs if a column was added later. */
const textOf = (row: Readonly<Record<string, unknown>>): string =>
  JSON.stringify(Object.entries(row).toSorted(([a], [b]) => (a < b ? -1 : 1)))
