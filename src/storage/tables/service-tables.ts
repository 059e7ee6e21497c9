/** Workspaces, people, and what a service records about itself. */
import type { ColumnType } from 'kysely'

import type { JsonText } from './column-types.ts'

export interface ServiceTables {
  workspaces: WorkspacesTable
  users: UsersTable
  idempotency_keys: IdempotencyKeysTable
  change_counter: ChangeCounterTable
  service_facts: ServiceFactsTable
  catalogue_imports: CatalogueImportsTable
}

export interface WorkspacesTable {
  id: string
  slug: string
  name: string
  description: string | null
  created_at: string
  created_by: string
  updated_at: string
  settings: JsonText
  /** The row stays for rows that refer to it; its slug is freed. */
  deleted_at: string | null
}

interface UsersTable {
  id: string
  name: string
  email: string | null
  created_at: string
}

interface IdempotencyKeysTable {
  workspace_id: string
  route: string
  slug: string
  key: string
  body_sha256: string
  status: number
  body: string
  /** A list in JSON, sealed if the body is; null if there are none. */
  warnings: ColumnType<string | null, string | null | undefined>
  created_at: string
}

interface ChangeCounterTable {
  /** Always 1: the table has one row. */
  id: number
  value: number
}

interface ServiceFactsTable {
  name: string
  value: string
}

interface CatalogueImportsTable {
  kind: string
  /** A day, such as `2026-11-22`. */
  as_of: string
  imported_at: string
  models: JsonText
}
