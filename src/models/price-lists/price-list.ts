/** The common form of the published lists of models and prices. */
import type { EndpointEntry, ModelEntry } from '../catalogue-schema.ts'

export const PRICE_LIST_KINDS = ['litellm', 'models.dev', 'hosted'] as const

/** `hosted`: the answer of a hosted router to `GET /models`. */
export type PriceListKind = (typeof PRICE_LIST_KINDS)[number]

/** One model at one provider. */
export interface ListedEndpoint {
  /** The position in the list: a path that a person can search for. */
  readonly place: string
  /** Our slug of the provider; null if there is none for the list's name. */
  readonly provider: string | null
  /** The list's own name for the provider. */
  readonly listedProvider: string
  readonly upstreamModel: string
  readonly facts: Omit<ModelEntry, 'endpoints'>
  readonly limits: Pick<EndpointEntry, 'max_completion_tokens'>
  readonly prices: ListedPrices
}

/** The prices of a list under the field names of the catalogue. */
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

/** The price as the list writes it, and the number of decimal places to move it to the unit of the catalogue. */
export interface Price {
  readonly text: string
  readonly places: number
}

/** Dollars per token, which the catalogue states per million tokens. */
export const perToken = (value: unknown): Price | undefined => priceOf(value, 6)

/** Already in the unit of the catalogue. */
export const asItIs = (value: unknown): Price | undefined => priceOf(value, 0)

/** A string or a number; a number prints with the digits with which it was written. */
const priceOf = (value: unknown, places: number): Price | undefined => {
  if (typeof value !== 'string' && typeof value !== 'number') return undefined
  return { text: String(value), places }
}

/** Removes the fields that a list leaves out. */
export const reported = <Fields extends object>(fields: { readonly [Name in keyof Fields]: Fields[Name] | undefined }): Partial<Fields> =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Partial<Fields>

export const tokensOf = (value: unknown): number | undefined => {
  const tokens = Number(value)
  return value !== null && value !== '' && Number.isSafeInteger(tokens) && tokens > 0 ? tokens : undefined
}
