/**
 * Combines all guardrails of a caller: allow-lists intersect, obligations add up, and filters are united with the strictest action
 * (docs/contract/guardrails.md#combination).
 */
import { type RoutingPolicy, ZDR_AUTHORS, type ZdrAuthor } from '../canonical/routing-policy.ts'
import type { ServerTool } from '../canonical/server-tools.ts'
import type { GuardrailResource } from '../contract/guardrail.ts'
import { GatewayError } from '../errors.ts'
import { builtinFilter, customFilter, type Filter, filterSet, type FilterSet, type Origin, united } from './filter.ts'
import { filtersFor, rewrites } from './screen-output.ts'

export interface Applied {
  readonly guardrail: GuardrailResource
  readonly scope: Origin['scope']
}

export interface Moderation {
  readonly endpoint: string
  readonly action: 'block' | 'flag'
  /** Null: the request itself asks for it with a plugin, and does not continue without a verdict. */
  readonly origin: Origin | null
}

export interface Effective {
  readonly applied: readonly Applied[]
  readonly policy: RoutingPolicy | null
  readonly input: FilterSet | null
  readonly output: (FilterSet & { readonly rewrites: boolean }) | null
  readonly moderation: readonly Moderation[]
  readonly deniedTools: readonly ServerTool[]
  /** Null means no restriction. */
  readonly dataRegions: readonly string[] | null
}

/**
 * `keyModels`: the only models that the key itself may call. Returns null if nothing applies, and then requests are not examined.
 * It compiles every pattern, so the caller should cache the result.
 */
export const effectiveOf = (applied: readonly Applied[], keyModels: readonly string[] | null = null): Effective | null => {
  if (applied.length === 0 && keyModels === null) return null
  const filters = united(applied.flatMap(filtersOf))
  const output = filterSet(filtersFor(filters, 'output'))
  return {
    applied,
    policy: policyOf(
      applied.map(({ guardrail }) => guardrail),
      keyModels,
    ),
    input: filterSet(filtersFor(filters, 'input')),
    output: output === null ? null : { ...output, rewrites: rewrites(output) },
    moderation: applied.flatMap((one) => (one.guardrail.moderation ?? []).map((entry) => ({ ...entry, origin: originOf(one) }))),
    deniedTools: applied.flatMap(({ guardrail }) => guardrail.denied_tools ?? []),
    dataRegions: intersection(applied.map(({ guardrail }) => guardrail.allowed_data_regions)),
  }
}

/** A self-hosted service is in none of the other regions that `allowed_data_regions` may name. */
const OUR_REGION = 'global'

/** Throws `permission_denied` if no request may pass through this service at all. */
export const assertRegion = ({ dataRegions }: Effective): void => {
  if (dataRegions?.includes(OUR_REGION) !== false) return
  throw new GatewayError(
    'permission_denied',
    `The guardrails of this key admit requests through ${dataRegions.join(', ') || 'no region'} only; this is ${OUR_REGION}.`,
  )
}

const originOf = ({ guardrail, scope }: Applied): Origin => ({ guardrailId: guardrail.id, scope })

const filtersOf = (applied: Applied): readonly Filter[] => {
  const origin = originOf(applied)
  const { content_filters: custom, content_filter_builtins: builtins } = applied.guardrail
  return [
    ...(builtins ?? []).map(({ slug, action, applies_to: side, scan_scope: scanScope = 'all_messages' }) =>
      builtinFilter({ slug, action, side, scanScope }, origin),
    ),
    ...(custom ?? []).map(({ pattern, action, label, applies_to: side }) => customFilter({ pattern, action, label, side }, origin)),
  ]
}

/** Returns null if no guardrail restricts models, providers or their use of data. */
const policyOf = (guardrails: readonly GuardrailResource[], keyModels: readonly string[] | null): RoutingPolicy | null => {
  const zdr = Object.fromEntries(
    ZDR_AUTHORS.map((author) => [author, guardrails.some((guardrail) => guardrail[`enforce_zdr_${author}`] === true)]),
  ) as Record<ZdrAuthor, boolean>
  const policy: RoutingPolicy = {
    allowedModels: [
      ...(keyModels === null ? [] : [keyModels]),
      ...guardrails.flatMap(({ allowed_models: list }) => (list === null ? [] : [list])),
    ],
    ignoredModels: guardrails.flatMap((guardrail) => guardrail.ignored_models ?? []),
    allowedProviders: guardrails.flatMap(({ allowed_providers: list }) => (list === null ? [] : [list])),
    ignoredProviders: guardrails.flatMap((guardrail) => guardrail.ignored_providers ?? []),
    zdr,
    paidTraining: guardrails.every((guardrail) => guardrail.enable_paid_model_training !== false),
    freeTraining: guardrails.every((guardrail) => guardrail.enable_free_model_training !== false),
    freePublication: guardrails.every((guardrail) => guardrail.enable_free_model_publication !== false),
  }
  const says =
    policy.allowedModels.length > 0 ||
    policy.ignoredModels.length > 0 ||
    policy.allowedProviders.length > 0 ||
    policy.ignoredProviders.length > 0 ||
    ZDR_AUTHORS.some((author) => zdr[author]) ||
    !policy.paidTraining ||
    !policy.freeTraining ||
    !policy.freePublication
  return says ? policy : null
}

/** Returns the entries that all given lists share; null if no list is given. Names are compared case-insensitively. */
const intersection = (lists: readonly (readonly string[] | null)[]): readonly string[] | null =>
  lists.reduce<readonly string[] | null>((allowed, list) => {
    if (list === null) return allowed
    if (allowed === null) return list
    const names = new Set(list.map((name) => name.toLowerCase()))
    return allowed.filter((name) => names.has(name.toLowerCase()))
  }, null)
