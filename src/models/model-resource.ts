/** Models as the API lists them. */
import type { ModelResource, PricingSource } from '../contract/model.ts'
import { movedDecimal } from '../lib/decimal.ts'
import type { PriceSource } from './catalogue-imports.ts'
import type { PriceEntry } from './catalogue-schema.ts'
import type { Model } from './model.ts'

export const modelResource = (model: Model): ModelResource => {
  const [first] = model.endpoints
  const { outputModalities: output } = model
  const input = model.inputModalities ?? ['text']
  return {
    id: model.id,
    canonical_slug: model.id,
    name: model.name,
    created: model.created,
    context_length: model.contextLength,
    architecture: {
      modality: `${input.join('+')}->${output.join('+')}`,
      input_modalities: [...input],
      output_modalities: [...output],
      tokenizer: 'Other',
      instruct_type: null,
    },
    pricing: pricingOf(first?.prices ?? null),
    top_provider: {
      is_moderated: false,
      context_length: model.contextLength,
      max_completion_tokens: first?.maxCompletionTokens ?? null,
    },
    per_request_limits: null,
    supported_parameters: [...model.supportedParameters],
    default_parameters: null,
    supported_voices: null,
    links: { details: `/api/v1/models/${pathOf(model.id)}/endpoints` },
  }
}

/** Author and slug must each be one path segment, but a slug may contain slashes of its own. */
const pathOf = (id: string): string => {
  const slug = id.indexOf('/') + 1
  return id.slice(0, slug) + id.slice(slug).replaceAll('/', '%2F')
}

/** A preset listed as a model, with the capabilities of the model to which it resolves (docs/contract/models.md#presets-as-models). */
export const presetAsModel = (
  preset: { readonly slug: string; readonly name: string; readonly description: string | null; readonly created: number },
  resolved: Model,
): ModelResource => ({
  ...modelResource(resolved),
  id: `@preset/${preset.slug}`,
  canonical_slug: `@preset/${preset.slug}`,
  name: preset.name,
  created: preset.created,
  ...(preset.description === null ? {} : { description: preset.description }),
  // Presets themselves are only for management keys; this link works for every key that has the preset in its model list.
  links: { details: `/api/v1/models/@preset/${preset.slug}` },
})

/** The source and age of a price; null if the source is not known. */
export const pricingSource = (source: PriceSource | undefined, nowMs: number): PricingSource =>
  source === undefined
    ? null
    : { from: source.from, as_of: source.asOf, age_days: source.asOf === null ? null : ageDays(source.asOf, nowMs) }

const DAY_MS = 24 * 60 * 60 * 1000

/** A list that, by another clock, is dated tomorrow has the age 0. */
export const ageDays = (asOf: string, nowMs: number): number => Math.max(0, Math.floor((nowMs - Date.parse(asOf)) / DAY_MS))

export const pricingOf = (prices: PriceEntry | null): Record<string, string> => {
  // -1 is the API's own sign for a price that is not known beforehand.
  if (prices === null) return { prompt: '-1', completion: '-1' }
  return {
    prompt: perToken(prices.prompt),
    completion: perToken(prices.completion),
    request: decimal(prices.request ?? 0),
    ...(prices.cache_read === undefined ? {} : { input_cache_read: perToken(prices.cache_read) }),
    ...(prices.cache_write === undefined ? {} : { input_cache_write: perToken(prices.cache_write) }),
    ...(prices.cache_write_1h === undefined ? {} : { input_cache_write_1h: perToken(prices.cache_write_1h) }),
    ...(prices.image === undefined ? {} : { image: decimal(prices.image) }),
    ...(prices.audio === undefined ? {} : { audio: perToken(prices.audio) }),
    ...(prices.web_search === undefined ? {} : { web_search: decimal(prices.web_search) }),
    ...(prices.reasoning === undefined ? {} : { internal_reasoning: perToken(prices.reasoning) }),
  }
}

const perToken = (dollarsPerMillion: number): string => movedDecimal(dollarsPerMillion, -6)

const decimal = (dollars: number): string => movedDecimal(dollars, 0)
