/** The models and providers that a caller's guardrails permit. The request's own preferences can narrow the choice, never widen it. */
export interface RoutingPolicy {
  /** Each list must contain the model or provider; `*` in a model pattern matches any text. Empty: no restriction. */
  readonly allowedModels: readonly (readonly string[])[]
  readonly ignoredModels: readonly string[]
  readonly allowedProviders: readonly (readonly string[])[]
  readonly ignoredProviders: readonly string[]
  /** Authors whose models require zero data retention; `other` stands for all authors that are not named. */
  readonly zdr: Readonly<Record<ZdrAuthor, boolean>>
  /**
   * These permit paid endpoints that train on the data they are sent, free endpoints that train on it, and free endpoints that
   * publish it.
   */
  readonly paidTraining: boolean
  readonly freeTraining: boolean
  readonly freePublication: boolean
}

export const ZDR_AUTHORS = ['anthropic', 'openai', 'google', 'xai', 'other'] as const
export type ZdrAuthor = (typeof ZDR_AUTHORS)[number]
