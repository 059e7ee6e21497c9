/** The prices of a list in the form of the catalogue: exact to a nano-dollar, and without implausible ones. */
import { scaledDecimal } from '../../lib/decimal.ts'
import { dollars } from '../../lib/money.ts'
import type { PriceEntry } from '../catalogue-schema.ts'
import type { ListedPrices, Price, PriceField, PriceFields } from './price-list.ts'

/** A refused price. The message is a sentence without its full stop. */
export class SenselessPrice extends Error {
  override readonly name = 'SenselessPrice'
}

/** Null if the list has no price per token. Throws SenselessPrice. */
export const exactPrices = ({ base, tiers }: ListedPrices, mayBeFree: boolean): PriceEntry | null => {
  const exact = exactFields(base)
  const { prompt, completion = 0 } = exact
  if (prompt === undefined) return null
  if (prompt === 0 && completion === 0 && !mayBeFree)
    throw new SenselessPrice('says that the model costs nothing; if that is so, give it these prices in your own file')
  const ordered = tiers.flatMap(({ above_prompt_tokens, ...fields }) => {
    const tier = exactFields(fields)
    return tier.prompt === undefined
      ? []
      : [{ above_prompt_tokens, ...tier, prompt: tier.prompt, completion: tier.completion ?? completion }]
  })
  return {
    ...exact,
    prompt,
    completion,
    ...(ordered.length === 0 ? {} : { tiers: ordered.toSorted((a, b) => a.above_prompt_tokens - b.above_prompt_tokens) }),
  }
}

const exactFields = (fields: PriceFields): Partial<Record<PriceField, number>> =>
  Object.fromEntries(
    (Object.entries(fields) as [PriceField, Price][]).flatMap(([field, price]) => {
      const exact = exactPrice(field, price)
      return exact === 0 && ABSENT_AT_ZERO.has(field) ? [] : [[field, exact]]
    }),
  )

const NANO_PLACES = 9

const exactPrice = (field: PriceField, { text, places }: Price): number => {
  const nanos = scaledDecimal(text, places + NANO_PLACES)
  if (nanos === null) throw new SenselessPrice(`${field}: ${JSON.stringify(text.slice(0, 40))} is no amount of money`)
  if (nanos < 0) throw new SenselessPrice(`${field}: ${text} is negative`)
  const { most, unit } = BOUNDS[field] ?? PER_MILLION
  if (nanos > most * 10 ** NANO_PLACES) throw new SenselessPrice(`${field}: $${dollars(nanos)} ${unit} is more than anybody asks`)
  if (nanos === 0 && Number(text) > 0) throw new SenselessPrice(`${field}: ${text} is less than a nano-dollar`)
  return dollars(nanos)
}

const PER_MILLION = { most: 10_000, unit: 'a million tokens' }
const BOUNDS: Partial<Record<PriceField, { readonly most: number; readonly unit: string }>> = {
  request: { most: 100, unit: 'a request' },
  image: { most: 100, unit: 'a picture' },
  web_search: { most: 100, unit: 'a search' },
}

/** Lists write zero here if there is no separate price; taken literally it would make reasoning or audio free. */
const ABSENT_AT_ZERO: ReadonlySet<PriceField> = new Set([
  'reasoning',
  'audio',
  'completion_audio',
  'completion_image',
  'request',
  'image',
  'web_search',
])
