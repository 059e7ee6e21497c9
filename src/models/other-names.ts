/** The names that a client may use for a model by itself, and by which other names the same is known. */
import type { ModelEndpoint, Provider } from './model.ts'

/** Names of the model that an endpoint really asks its provider for, beside the id that the client wrote. */
export interface OtherNames {
  /** Ids of the catalogue that ask for the same at the same address. */
  readonly listed: readonly string[]
  /** How a client could spell it with the provider's slug before it. */
  readonly spelled: readonly string[]
  /** Names of the model that a client's name may be a variant of: `name:tag` and `name@revision` are the provider's to read. */
  readonly variantOf: readonly string[]
}

/**
 * Says whether a name that a client wrote may stand in a request to a provider. One that a server may read as a path, as a part
 * of an address, or as another name than it looks like, names no model.
 */
export const isPlainName = (name: string): boolean =>
  name.isWellFormed() && !AMBIGUOUS.test(name) && name.split('/').every((segment) => segment !== '' && segment !== '.' && segment !== '..')

/** Signs of addresses, white space and what cannot be seen. */
const AMBIGUOUS = /[?#%\\;]|[\p{C}\p{Z}\p{Default_Ignorable_Code_Point}]/u

/** By what every endpoint of the catalogue asks for. */
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
  /** An upstream that is itself a router reads the vendor in a name. */
  const spelledAt = ({ slug }: Provider, upstreamModel: string): readonly string[] => {
    const plain = plainOf(upstreamModel)
    return [`${slug}/${plain}`, ...(plain.includes('/') ? [plain] : [])]
  }
  return {
    of({ provider, upstreamModel, unlisted }) {
      const base = plainOf(upstreamModel).replace(/[:@][^/]*$/, '')
      const bases = unlisted === true && base !== '' ? [base, `${base}:latest`] : []
      return {
        listed: listedAt(provider, upstreamModel),
        spelled: spelledAt(provider, upstreamModel),
        variantOf: bases.flatMap((name) => [...listedAt(provider, name), ...spelledAt(provider, name)]),
      }
    },
  }
}

/** Providers at one address are one. */
const placeOf = ({ baseUrl }: Provider, upstreamModel: string): string => `${baseUrl.replace(/\/+$/, '')} ${plainOf(upstreamModel)}`

/** Servers take names in any case and in any form of the same letters, and the latest version where none is named. */
const plainOf = (upstreamModel: string): string => upstreamModel.normalize('NFKC').toLowerCase()
