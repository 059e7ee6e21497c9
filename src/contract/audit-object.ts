/** The kinds of objects that entries of the audit log are about. */
export const AUDIT_OBJECTS = [
  'api_key',
  'audit_log',
  'catalogue',
  'credit',
  'file',
  'generation_content',
  'generations',
  'guardrail',
  'member',
  'observability_destination',
  'preset',
  'provider_key',
  'root_secret',
  'session',
  'workspace',
  'workspace_budget',
] as const

export type AuditObject = (typeof AUDIT_OBJECTS)[number]
