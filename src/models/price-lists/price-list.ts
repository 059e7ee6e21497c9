/** The lists of models and prices that others publish, in one shape. */
import type { EndpointEntry, ModelEntry } from '../catalogue-schema.ts'

export const PRICE_LIST_KINDS = ['litellm', 'models.dev', 'hosted'] as const

/** `hosted`: what `GET /models` of a hosted router answers. */
export type PriceListKind = (typeof PRICE_LIST_KINDS)[number]

/** One model at one provider. */
export interface ListedEndpoint {
  /** Where the list has it: a path that a person can look for. */
  readonly place: string
  /** Our slug of the provider; null where we have none for the list's name. */
  readonly provider: string | null
  /** The list's own name of the provider. */
  readonly listedProvider: string
  readonly upstreamModel: string
  readonly facts: Omit<ModelEntry, 'endpoints'>
  readonly limits: Pick<EndpointEntry, 'max_completion_tokens'>
  readonly prices: ListedPrices
}

/** The facts of a list under the names of the catalogue, each in the unit of the catalogue. */
export interface ListedPrices {
  readonly base: PriceFields
  readonly tiers: readonly ({ readonly above_prompt_tokens: number } & PriceFields)[]
}

export type PriceFields = Partial<Record<PriceField, Price>>

export type PriceField =
  | 'prompt'
  | 'completion'
  | 'cache_read'
  | 'cache_write'
  | 'cache_write_1h'
  | 'reasoning'
  | 'request'
  | 'image'
  | 'audio'
  | 'completion_audio'
  | 'completion_image'
  | 'web_search'

/** As the list writes it, and by how many decimal places it is to be moved to the unit of the catalogue. */
export interface Price {
  readonly text: string
  readonly places: number
}

/** Dollars a token, where the catalogue has dollars a million tokens. */
export const perToken = (value: unknown): Price | undefined => priceOf(value, 6)

/** In the unit of the catalogue already. */
export const asItIs = (value: unknown): Price | undefined => priceOf(value, 0)

/** A text or a number, which prints with the digits that it was written with. */
const priceOf = (value: unknown, places: number): Price | undefined => {
  if (typeof value !== 'string' && typeof value !== 'number') return undefined
  return { text: String(value), places }
}

/** The fields without those that a list leaves out. */
export const reported = <Fields extends object>(fields: { readonly [Name in keyof Fields]: Fields[Name] | undefined }): Partial<Fields> =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Partial<Fields>

export const tokensOf = (value: unknown): number | undefined => {
  const tokens = Number(value)
  return value !== null && value !== '' && Number.isSafeInteger(tokens) && tokens > 0 ? tokens : undefined
}
