/** Reads LiteLLM's model_prices_and_context_window.json: one flat map, with prices in dollars per token. */
import { isObject, listOf } from '../../lib/json/json.ts'
import type { ModelEntry } from '../catalogue-schema.ts'
import { asItIs, perToken, reported, tokensOf, type ListedEndpoint, type ListedPrices, type PriceFields } from './price-list.ts'
import { providerSlug } from './provider-names.ts'

/** The entry that documents the others. */
const SPECIMEN = 'sample_spec'

export const isLitellm = (file: Record<string, unknown>): boolean =>
  SPECIMEN in file || Object.values(file).some((entry) => isObject(entry) && typeof entry['litellm_provider'] === 'string')

export const readLitellm = (file: Record<string, unknown>, known: ReadonlySet<string>): readonly ListedEndpoint[] =>
  Object.entries(file).flatMap(([key, entry]) => {
    if (key === SPECIMEN || !isObject(entry)) return []
    const { litellm_provider: listedProvider, mode = 'chat' } = entry
    if (typeof listedProvider !== 'string' || typeof mode !== 'string' || !MODES.has(mode)) return []
    return [
      {
        place: key,
        provider: providerSlug('litellm', listedProvider, known),
        listedProvider,
        upstreamModel: nameOf(key, listedProvider),
        facts: factsOf(entry),
        limits: reported({ max_completion_tokens: tokensOf(entry['max_output_tokens']) }),
        prices: pricesOf(entry),
      },
    ]
  })

/** The modes of conversations and embeddings; the others are billed in units that the catalogue does not know. */
const MODES: ReadonlySet<string> = new Set(['chat', 'responses', 'completion', 'embedding'])

/** Most keys have the provider as a prefix of its own name for the model. */
const nameOf = (key: string, provider: string): string => {
  const prefix = provider === 'bedrock_converse' ? 'bedrock/' : `${provider}/`
  return key.startsWith(prefix) ? key.slice(prefix.length) : key
}

const factsOf = (entry: Record<string, unknown>): Omit<ModelEntry, 'endpoints'> => ({
  ...reported({ context_length: tokensOf(entry['max_input_tokens'] ?? entry['max_tokens']) }),
  input_modalities: ['text', ...MODALITIES.flatMap(([flag, modality]) => (entry[flag] === true ? [modality] : []))],
  output_modalities: [entry['mode'] === 'embedding' ? 'embeddings' : 'text'],
  supported_parameters: PARAMETERS.flatMap(([flag, names]) => (entry[flag] === true ? names : [])),
})

const MODALITIES = [
  ['supports_vision', 'image'],
  ['supports_audio_input', 'audio'],
  ['supports_pdf_input', 'file'],
] as const

const PARAMETERS: readonly (readonly [string, readonly string[]])[] = [
  ['supports_function_calling', ['tools']],
  ['supports_tool_choice', ['tool_choice']],
  ['supports_parallel_function_calling', ['parallel_tool_calls']],
  ['supports_response_schema', ['response_format', 'structured_outputs']],
  ['supports_reasoning', ['reasoning', 'reasoning_effort']],
]

const pricesOf = (entry: Record<string, unknown>): ListedPrices => {
  const bands = bandsOf(entry['tiered_pricing'])
  const searches = entry['search_context_cost_per_query']
  return {
    base: {
      ...tokenPrices(bands[0] ?? entry, ''),
      ...reported<PriceFields>({
        audio: perToken(entry['input_cost_per_audio_token']),
        completion_audio: perToken(entry['output_cost_per_audio_token']),
        completion_image: perToken(entry['output_cost_per_image_token']),
        request: asItIs(entry['input_cost_per_request']),
        web_search: isObject(searches) ? asItIs(searches['search_context_size_medium']) : undefined,
      }),
    },
    tiers: [
      ...bands.slice(1).map((band) => ({ above_prompt_tokens: band.from, ...tokenPrices(band, '') })),
      ...thresholdsOf(entry).map((thousands) => ({
        above_prompt_tokens: thousands * 1000,
        ...tokenPrices(entry, `_above_${thousands}k_tokens`),
      })),
    ],
  }
}

const tokenPrices = (entry: Record<string, unknown>, suffix: string): PriceFields =>
  reported<PriceFields>({
    prompt: perToken(entry[`input_cost_per_token${suffix}`]),
    completion: perToken(entry[`output_cost_per_token${suffix}`]),
    cache_read: perToken(entry[`cache_read_input_token_cost${suffix}`]),
    cache_write: perToken(entry[`cache_creation_input_token_cost${suffix}`]),
    cache_write_1h: perToken(entry[`cache_creation_input_token_cost_above_1hr${suffix}`]),
    reasoning: perToken(entry[`output_cost_per_reasoning_token${suffix}`]),
  })

const THRESHOLD = /^input_cost_per_token_above_(\d{1,6})k_tokens$/

const thresholdsOf = (entry: Record<string, unknown>): number[] =>
  Object.keys(entry).flatMap((name) => {
    const thousands = THRESHOLD.exec(name)?.[1]
    return thousands === undefined ? [] : [Number(thousands)]
  })

/** The first band begins at 0; each further band applies to the whole request above its beginning. */
const bandsOf = (value: unknown): readonly ({ readonly from: number } & Record<string, unknown>)[] =>
  listOf(value).flatMap((band) => {
    const from = isObject(band) && Array.isArray(band['range']) ? Number(band['range'][0]) : Number.NaN
    return isObject(band) && Number.isSafeInteger(from) && from >= 0 ? [{ ...band, from }] : []
  })
