/** Guardrails and whom they are assigned to. */
export interface GuardrailTables {
  guardrails: GuardrailsTable
  guardrail_assignments: GuardrailAssignmentsTable
}

export interface GuardrailsTable {
  id: string
  workspace_id: string
  /** 1: that of the whole workspace. */
  is_default: number
  name: string
  limit_nanos: number | null
  reset_interval: 'daily' | 'weekly' | 'monthly' | null
  include_byok: number
  /** JSON of everything else that may be set. */
  settings: string
  created_at: string
  updated_at: string | null
}

export interface GuardrailAssignmentsTable {
  id: string
  guardrail_id: string
  workspace_id: string
  subject_kind: 'key' | 'member'
  /** Hash of a key, or id of a user. */
  subject: string
  assigned_by: string | null
  created_at: string
}
