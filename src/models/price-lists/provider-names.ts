/** The names that the lists use for providers of the catalogue, if they differ from our slugs. */
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

/** Null if `known` has no provider of that name. */
export const providerSlug = (kind: keyof typeof NAMES, listed: string, known: ReadonlySet<string>): string | null => {
  const slug = NAMES[kind][listed] ?? listed
  return known.has(slug) ? slug : null
}

/** The vendor in model ids of providers that serve their own models, if it differs from the slug. */
const VENDORS: Readonly<Record<string, string>> = {
  xai: 'x-ai',
  mistral: 'mistralai',
  moonshot: 'moonshotai',
  zai: 'z-ai',
  alibaba: 'qwen',
}

/** The id of a model that no catalogue has yet. The names of a hosted router are already ids. */
export const newModelId = (provider: string, upstreamModel: string): string =>
  provider === 'openrouter' ? upstreamModel : `${VENDORS[provider] ?? provider}/${upstreamModel}`
