/** What may serve a request besides what the request itself asks for: a guardrail's restrictions (contract 7.1). Null: no restriction. */
export interface RoutingPolicy {
  readonly allowedModels: readonly string[] | null
  readonly ignoredModels: readonly string[] | null
  readonly allowedProviders: readonly string[] | null
  readonly ignoredProviders: readonly string[] | null
  /** Only endpoints that keep nothing. */
  readonly zdr: boolean
  /** No endpoint that trains on what it is sent. */
  readonly denyTraining: boolean
}
