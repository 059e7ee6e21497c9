/** Which models and providers a caller's guardrails leave to a request. The request's own wishes can narrow it, never widen it. */
export interface RoutingPolicy {
  /** Each list must have the model; of models, `*` in a pattern stands for any text. Empty: any. */
  readonly allowedModels: readonly (readonly string[])[]
  readonly ignoredModels: readonly string[]
  readonly allowedProviders: readonly (readonly string[])[]
  readonly ignoredProviders: readonly string[]
  /** Zero retention is required for models of these authors; `other` stands for all that are not named. */
  readonly zdr: Readonly<Record<ZdrAuthor, boolean>>
  /** Says whether endpoints may be used that train on what they are sent, that are free and publish it, that are free and train. */
  readonly paidTraining: boolean
  readonly freeTraining: boolean
  readonly freePublication: boolean
}

export const ZDR_AUTHORS = ['anthropic', 'openai', 'google', 'xai', 'other'] as const
export type ZdrAuthor = (typeof ZDR_AUTHORS)[number]
