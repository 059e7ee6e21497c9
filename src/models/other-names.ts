/** Checks names that a client may use for unlisted models, and finds the other names of the same model. */
import { withoutArea } from '../canonical/inference-profile.ts'
import type { ModelEndpoint, Provider } from './model.ts'

/** Names of the model that an endpoint really requests from its provider, other than the id that the client wrote. */
export interface OtherNames {
  /** Ids of the catalogue that request the same model at the same address. */
  readonly listed: readonly string[]
  /** The ways in which a client could write it with the provider's slug in front. */
  readonly spelled: readonly string[]
  /** Names of the model of which the client's name may be a variant: the provider interprets `name:tag` and `name@revision`. */
  readonly variantOf: readonly string[]
}

/**
 * Says whether a name that a client wrote may be part of a request to a provider. A name that a server may read as a path, as part of an
 * address, or as a name other than it looks like, names no model.
 */
export const isPlainName = (name: string): boolean =>
  name.isWellFormed() && !AMBIGUOUS.test(name) && name.split('/').every((segment) => segment !== '' && segment !== '.' && segment !== '..')

/** Characters of addresses, white space, and invisible characters. */
const AMBIGUOUS = /[?#%\\;]|[\p{C}\p{Z}\p{Default_Ignorable_Code_Point}]/u

/** Indexes every endpoint of the catalogue by the model that it requests. */
export interface NameIndex {
  of(endpoint: Pick<ModelEndpoint, 'provider' | 'upstreamModel' | 'unlisted'>): OtherNames
}

type Listed = { readonly id: string; readonly endpoints: readonly ModelEndpoint[] }

export const createNameIndex = (models: readonly Listed[]): NameIndex => {
  const ids = new Map<string, Set<string>>()
  for (const { id, endpoints } of models)
    for (const { provider, upstreamModel } of endpoints) {
      const place = placeOf(provider, upstreamModel)
      const there = ids.get(place)
      if (there === undefined) ids.set(place, new Set([id]))
      else there.add(id)
    }
  const listedAt = (provider: Provider, upstreamModel: string): readonly string[] => [...(ids.get(placeOf(provider, upstreamModel)) ?? [])]
  /** An upstream that is itself a router reads the vendor from a name. */
  const spelledAt = (provider: Provider, upstreamModel: string): readonly string[] =>
    [...new Set([plainOf(upstreamModel), ...spellingsOf(provider, upstreamModel)])].flatMap((name) => [
      `${provider.slug}/${name}`,
      ...(name.includes('/') ? [name] : []),
    ])
  return {
    of({ provider, upstreamModel, unlisted }) {
      const base = bareOf(provider, upstreamModel).replace(/[:@][^/]*$/, '')
      const bases = unlisted === true && base !== '' ? [base, `${base}:latest`] : []
      return {
        listed: listedAt(provider, upstreamModel),
        spelled: spelledAt(provider, upstreamModel),
        variantOf: bases.flatMap((name) => [...listedAt(provider, name), ...spelledAt(provider, name)]),
      }
    },
  }
}

/** Providers at the same address count as one. */
const placeOf = (provider: Provider, upstreamModel: string): string =>
  `${provider.baseUrl.replace(/\/+$/, '')} ${bareOf(provider, upstreamModel)}`

const spellingsOf = (provider: Provider, upstreamModel: string): readonly string[] => {
  const bare = bareOf(provider, upstreamModel)
  return provider.dialects.includes('google') ? [bare, `models/${bare}`] : [bare]
}

/** Leaves out what may stand before a model's name without changing which model answers. */
const bareOf = ({ dialects }: Provider, upstreamModel: string): string => {
  const plain = plainOf(upstreamModel)
  if (dialects.includes('google')) return plain.replace(/^models\//, '')
  return dialects.includes('bedrock') ? withoutArea(plain.replace(RESOURCE, '')) : plain
}

/** Bedrock takes the name of a model or a profile as its resource in AWS too. */
const RESOURCE = /^arn:aws[\w-]*:bedrock:[^/]*:(?:foundation-model|inference-profile)\//

/** Servers ignore the case and the Unicode form of names. */
const plainOf = (upstreamModel: string): string => upstreamModel.normalize('NFKC').toLowerCase()
