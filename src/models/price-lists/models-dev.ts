/** Reads the api.json of models.dev: providers with their models, and prices in dollars per million tokens. */
import { isObject, listOf, textsIn } from '../../lib/json/json.ts'
import type { ModelEntry } from '../catalogue-schema.ts'
import { asItIs, reported, tokensOf, type ListedEndpoint, type ListedPrices, type PriceFields } from './price-list.ts'
import { providerSlug } from './provider-names.ts'

export const isModelsDev = (file: Record<string, unknown>): boolean =>
  Object.values(providersIn(file)).some((provider) => isObject(provider) && isObject(provider['models']))

/** Some copies contain the map under `providers`. */
const providersIn = (file: Record<string, unknown>): Record<string, unknown> => (isObject(file['providers']) ? file['providers'] : file)

export const readModelsDev = (file: Record<string, unknown>, known: ReadonlySet<string>): readonly ListedEndpoint[] =>
  Object.entries(providersIn(file)).flatMap(([listedProvider, provider]) => {
    if (!isObject(provider) || !isObject(provider['models'])) return []
    return Object.entries(provider['models']).flatMap(([key, entry]): ListedEndpoint[] => {
      if (!isObject(entry)) return []
      const limit = isObject(entry['limit']) ? entry['limit'] : {}
      return [
        {
          place: `${listedProvider}.models.${key}`,
          provider: providerSlug('models.dev', listedProvider, known),
          listedProvider,
          upstreamModel: typeof entry['id'] === 'string' ? entry['id'] : key,
          facts: factsOf(entry, limit),
          limits: reported({ max_completion_tokens: tokensOf(limit['output']) }),
          prices: pricesOf(isObject(entry['cost']) ? entry['cost'] : {}),
        },
      ]
    })
  })

const factsOf = (entry: Record<string, unknown>, limit: Record<string, unknown>): Omit<ModelEntry, 'endpoints'> => {
  const modalities = isObject(entry['modalities']) ? entry['modalities'] : {}
  const input = modalitiesOf(modalities['input'])
  const output = modalitiesOf(modalities['output'])
  return {
    ...reported({
      name: typeof entry['name'] === 'string' && entry['name'] !== '' ? entry['name'] : undefined,
      created: secondsOf(entry['release_date']),
      context_length: tokensOf(limit['context']),
    }),
    ...(input.length === 0 ? {} : { input_modalities: input }),
    ...(output.length === 0 ? {} : { output_modalities: output }),
    supported_parameters: PARAMETERS.flatMap(([flag, names]) => (isGiven(entry[flag]) ? names : [])),
  }
}

/** A capability is either a flag or an object with details. */
const isGiven = (value: unknown): boolean => value === true || (isObject(value) && value['supported'] !== false)

const PARAMETERS: readonly (readonly [string, readonly string[]])[] = [
  ['tool_call', ['tools', 'tool_choice']],
  ['structured_output', ['response_format', 'structured_outputs']],
  ['reasoning', ['reasoning', 'reasoning_effort']],
  ['temperature', ['temperature']],
]

const MODALITIES = { text: 'text', image: 'image', audio: 'audio', video: 'video', pdf: 'file' } as const

const modalitiesOf = (value: unknown): (typeof MODALITIES)[keyof typeof MODALITIES][] =>
  textsIn(value).flatMap((name) => (name in MODALITIES ? [MODALITIES[name as keyof typeof MODALITIES]] : []))

/** Accepts `2026-03` and `2026-03-05`. */
const secondsOf = (value: unknown): number | undefined => {
  const ms = typeof value === 'string' && /^\d{4}-\d{2}(-\d{2})?$/.test(value) ? Date.parse(value) : Number.NaN
  return Number.isNaN(ms) || ms < 0 ? undefined : ms / 1000
}

const LONG_CONTEXT = 200_000

const pricesOf = (cost: Record<string, unknown>): ListedPrices => {
  const long = cost['context_over_200k']
  const tiers = listOf(cost['tiers']).flatMap((tier) => {
    const above = isObject(tier) && isObject(tier['tier']) ? tokensOf(tier['tier']['size']) : undefined
    return isObject(tier) && above !== undefined ? [{ above_prompt_tokens: above, ...tokenPrices(tier) }] : []
  })
  const isReported = tiers.some(({ above_prompt_tokens }) => above_prompt_tokens === LONG_CONTEXT)
  return {
    base: {
      ...tokenPrices(cost),
      ...reported<PriceFields>({ audio: asItIs(cost['input_audio']), completion_audio: asItIs(cost['output_audio']) }),
    },
    tiers: [...tiers, ...(isObject(long) && !isReported ? [{ above_prompt_tokens: LONG_CONTEXT, ...tokenPrices(long) }] : [])],
  }
}

const tokenPrices = (cost: Record<string, unknown>): PriceFields =>
  reported<PriceFields>({
    prompt: asItIs(cost['input']),
    completion: asItIs(cost['output']),
    cache_read: asItIs(cost['cache_read']),
    cache_write: asItIs(cost['cache_write']),
    reasoning: asItIs(cost['reasoning']),
  })
