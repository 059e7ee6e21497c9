/** Handles names in a request that would change what its preset locks (docs/contract/presets.md#merge). */
import type { RoutingLocks } from '../canonical/routing-locks.ts'
import type { Warning } from '../canonical/warning.ts'
import { invalidRequest } from '../contract/validate.ts'
import { type AskedModel, names, type Variant } from './candidate.ts'
import type { Model } from '../models/model.ts'
import type { Preferences } from './preferences.ts'
import { PLAIN } from './resolve-model.ts'

/** The model as its name asks for it, without the parts of the variant that the preset locks. */
export const withinLocks = (name: string, asked: AskedModel, locks: RoutingLocks | null): AskedModel =>
  locks === null || locks.models.includes(name) ? asked : { model: asked.model, variant: { ...asked.variant, ...heldOf(locks) } }

const heldOf = ({ sort, tier, search }: RoutingLocks): Partial<Variant> => ({
  ...(sort ? { sort: PLAIN.sort, free: PLAIN.free, longest: PLAIN.longest } : {}),
  ...(tier ? { admits: PLAIN.admits } : {}),
  ...(search ? { searches: PLAIN.searches } : {}),
})

/** The names of providers that may ask for an endpoint of a service tier. */
export const tierNames = ({ only, order }: Preferences, locks: RoutingLocks | null): readonly string[] => {
  const named = [...only, ...order]
  return locks?.tier === true ? named.filter((name) => locks.providers.includes(name)) : named
}

/**
 * One warning for each ignored name; `endings` are the fields with model names whose variant is ignored. Throws `invalid_request` if the
 * preset refuses such names.
 */
export const warnOfLocks = (
  endings: readonly string[],
  asked: readonly AskedModel[],
  preferences: Preferences,
  locks: RoutingLocks,
): readonly Warning[] => {
  const heeded = tierNames(preferences, locks)
  const isHeld = (name: string): boolean => !heeded.includes(name) && asked.some(({ model }) => hasTierNamed(model, name))
  const faults = [
    ...endings.map((path) => ({ path, message: 'The preset locks what the ending of this name sets', ignored: 'the ending' })),
    ...(['only', 'order'] as const)
      .filter((list) => locks.tier && preferences[list].some(isHeld))
      .map((list) => ({
        path: `provider.${list}`,
        message: 'The preset locks service_tier, so no name may choose an endpoint of a tier',
        ignored: 'the name',
      })),
  ]
  if (locks.rejects && faults.length > 0) throw invalidRequest(faults.map(({ path, message }) => ({ path, message: `${message}.` })))
  return faults.map(({ path, message, ignored }) => ({ code: 'locked_field', field: path, message: `${message}; ${ignored} was ignored.` }))
}

const hasTierNamed = ({ endpoints }: Model, name: string): boolean =>
  endpoints.some((endpoint) => endpoint.serviceTier !== null && names(endpoint, name))
