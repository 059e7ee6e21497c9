/**
 * The preset locks that names in a request could circumvent: the suffix of a model name says how its providers are chosen, and a
 * provider name may stand for an endpoint of a service tier (docs/contract/presets.md#merge).
 */
export interface RoutingLocks {
  /** The order of providers is locked. */
  readonly sort: boolean
  readonly tier: boolean
  /** The web search before the answer is locked. */
  readonly search: boolean
  /** The names that the preset itself uses; a request may use them unchanged. */
  readonly models: readonly string[]
  readonly providers: readonly string[]
  /** A request that would circumvent a lock is refused; otherwise that aspect of the name is ignored. */
  readonly rejects: boolean
}
