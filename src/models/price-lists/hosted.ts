/**
 * Reads the answer of a hosted router to `GET /models`: a list in `data`, with prices as strings in dollars per token. The prices are those
 * of the router itself.
 */
import { isObject, listOf, textsIn } from '../../lib/json/json.ts'
import { type ModelEntry, MODALITIES, WRITTEN_MODALITIES } from '../catalogue-schema.ts'
import { asItIs, perToken, reported, tokensOf, type ListedEndpoint, type PriceFields } from './price-list.ts'

const PROVIDER = 'openrouter'

export const isHosted = (file: Record<string, unknown>): boolean =>
  Array.isArray(file['data']) && file['data'].some((entry: unknown) => isObject(entry) && isObject(entry['pricing']))

export const readHosted = (file: Record<string, unknown>, known: ReadonlySet<string>): readonly ListedEndpoint[] =>
  listOf(file['data']).flatMap((entry, index): ListedEndpoint[] => {
    if (!isObject(entry) || typeof entry['id'] !== 'string' || !isObject(entry['pricing'])) return []
    const top = isObject(entry['top_provider']) ? entry['top_provider'] : {}
    return [
      {
        place: `data[${index}] (${entry['id']})`,
        provider: known.has(PROVIDER) ? PROVIDER : null,
        listedProvider: PROVIDER,
        upstreamModel: entry['id'],
        facts: factsOf(entry),
        limits: reported({ max_completion_tokens: tokensOf(top['max_completion_tokens']) }),
        prices: { base: pricesOf(entry['pricing']), tiers: [] },
      },
    ]
  })

const factsOf = (entry: Record<string, unknown>): Omit<ModelEntry, 'endpoints'> => {
  const architecture = isObject(entry['architecture']) ? entry['architecture'] : {}
  const input = modalitiesOf(architecture['input_modalities'], MODALITIES)
  const output = modalitiesOf(architecture['output_modalities'], WRITTEN_MODALITIES)
  return {
    ...reported({
      name: typeof entry['name'] === 'string' && entry['name'] !== '' ? entry['name'] : undefined,
      created: tokensOf(entry['created']),
      context_length: tokensOf(entry['context_length']),
    }),
    ...(input.length === 0 ? {} : { input_modalities: input }),
    ...(output.length === 0 ? {} : { output_modalities: output }),
    supported_parameters: textsIn(entry['supported_parameters']).filter((name) => /^[a-z][a-z0-9_]*$/.test(name)),
  }
}

const modalitiesOf = <Modality extends string>(value: unknown, known: readonly Modality[]): Modality[] =>
  textsIn(value).flatMap((name) => known.filter((modality) => modality === name))

const pricesOf = (pricing: Record<string, unknown>): PriceFields =>
  reported<PriceFields>({
    prompt: perToken(pricing['prompt']),
    completion: perToken(pricing['completion']),
    cache_read: perToken(pricing['input_cache_read']),
    cache_write: perToken(pricing['input_cache_write']),
    reasoning: perToken(pricing['internal_reasoning']),
    audio: perToken(pricing['audio']),
    image: asItIs(pricing['image']),
    request: asItIs(pricing['request']),
    web_search: asItIs(pricing['web_search']),
  })
