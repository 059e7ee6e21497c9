/** Guardrails, their assignments, and what they found. */
export interface GuardrailTables {
  guardrails: GuardrailsTable
  guardrail_assignments: GuardrailAssignmentsTable
  guardrail_hours: GuardrailHoursTable
}

export interface GuardrailsTable {
  id: string
  workspace_id: string
  /** 1 if it is the default of the whole workspace. */
  is_default: number
  name: string
  limit_nanos: number | null
  reset_interval: 'daily' | 'weekly' | 'monthly' | null
  include_byok: number
  /** JSON of all other settings. */
  settings: string
  created_at: string
  updated_at: string | null
}

export interface GuardrailAssignmentsTable {
  id: string
  guardrail_id: string
  workspace_id: string
  subject_kind: 'key' | 'member'
  /** The hash of a key, or the id of a user. */
  subject: string
  assigned_by: string | null
  created_at: string
}

/** In how many requests of an hour a rule found something. */
export interface GuardrailHoursTable {
  guardrail_id: string
  /** `YYYY-MM-DDTHH`, UTC: the hour in which the requests began. */
  hour: string
  /** The placeholder of a filter, which several filters may share, or a moderation endpoint. */
  rule: string
  requests: number
}
