/**
 * The locks of a preset that names in a request could get around: an ending of a model's name says how its providers are
 * chosen, and a provider's name may stand for an endpoint of a service tier (docs/contract/presets.md#merge).
 */
export interface RoutingLocks {
  /** How providers are sorted. */
  readonly sort: boolean
  readonly tier: boolean
  /** The search of the web before the answer. */
  readonly search: boolean
  /** The names that the preset itself has: a request may use these as they are. */
  readonly models: readonly string[]
  readonly providers: readonly string[]
  /** Such a request is refused; otherwise the name is not heeded in this respect. */
  readonly rejects: boolean
}
