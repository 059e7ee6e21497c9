/** The names that the lists have for the providers of the catalogue, where they are not their slugs. */
import type { PriceListKind } from './price-list.ts'

const NAMES: Readonly<Record<Exclude<PriceListKind, 'hosted'>, Readonly<Record<string, string>>>> = {
  litellm: {
    gemini: 'google',
    bedrock_converse: 'bedrock',
    together_ai: 'together',
    fireworks_ai: 'fireworks',
    dashscope: 'alibaba',
  },
  'models.dev': {
    'amazon-bedrock': 'bedrock',
    togetherai: 'together',
    'fireworks-ai': 'fireworks',
    moonshotai: 'moonshot',
  },
}

/** Null where `known` has no provider of that name. */
export const providerSlug = (kind: keyof typeof NAMES, listed: string, known: ReadonlySet<string>): string | null => {
  const slug = NAMES[kind][listed] ?? listed
  return known.has(slug) ? slug : null
}

/** Providers that serve models of their own have these as the vendor in a model's id, where it is not the slug. */
const VENDORS: Readonly<Record<string, string>> = {
  xai: 'x-ai',
  mistral: 'mistralai',
  moonshot: 'moonshotai',
  zai: 'z-ai',
  alibaba: 'qwen',
}

/** The id of a model that no catalogue has yet. A hosted router's names are ids already. */
export const newModelId = (provider: string, upstreamModel: string): string =>
  provider === 'openrouter' ? upstreamModel : `${VENDORS[provider] ?? provider}/${upstreamModel}`
