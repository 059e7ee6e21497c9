/** The plugins (docs/contract/tools.md#plugins). */
import { z } from 'zod'

import { optionalFlag, optionalPositiveInteger, optionalText, optionalTexts } from './scalars.ts'
import { fetchMembers, foundPages, searchEngine, searchMode, userLocation } from './web-search.ts'

const PATTERNS_MAX = 1024
const PATTERN_LENGTH_MAX = 1024
const PATTERNS_LENGTH_MAX = 65_536

const modelPatterns = z
  .array(z.string().max(PATTERN_LENGTH_MAX))
  .max(PATTERNS_MAX)
  .refine(
    (patterns) => patterns.reduce((sum, pattern) => sum + pattern.length, 0) <= PATTERNS_LENGTH_MAX,
    `At most ${PATTERNS_LENGTH_MAX} characters in all.`,
  )
  .nullish()

const autoRouterMembers = {
  enabled: optionalFlag,
  allowed_models: modelPatterns,
  excluded_models: modelPatterns,
  cost_tier: z.enum(['low', 'medium', 'high', 'xhigh', 'max']).nullish(),
  cost_quality_tradeoff: z.int().min(0).max(10).nullish().meta({ deprecated: true }),
}

/** The models that a fusion asks in parallel, and the tools that they get. */
export const fusionMembers = {
  analysis_models: z.array(z.string()).min(1).max(8).nullish(),
  model: optionalText,
  max_tool_calls: z.int().min(1).max(16).nullish(),
  tools: z
    .array(z.looseObject({ type: z.string() }))
    .max(8)
    .nullish(),
}

export const PLUGINS = [
  z.looseObject({ id: z.literal('auto-router'), ...autoRouterMembers, pin_model: optionalFlag }).meta({ id: 'AutoRouterPlugin' }),
  z.looseObject({ id: z.literal('auto-beta-router'), ...autoRouterMembers }).meta({ id: 'AutoBetaRouterPlugin' }),
  z.looseObject({ id: z.literal('moderation') }),
  z
    .looseObject({
      id: z.literal('web'),
      enabled: optionalFlag,
      engine: searchEngine,
      max_results: foundPages,
      max_uses: optionalPositiveInteger,
      mode: searchMode,
      search_prompt: optionalText,
      include_domains: optionalTexts,
      exclude_domains: optionalTexts,
      user_location: userLocation,
    })
    .meta({ id: 'WebPlugin' }),
  z.looseObject({ id: z.literal('web-fetch'), ...fetchMembers }).meta({ id: 'WebFetchPlugin' }),
  z.looseObject({
    id: z.literal('file-parser'),
    enabled: optionalFlag,
    pdf: z.looseObject({ engine: z.enum(['mistral-ocr', 'native', 'cloudflare-ai', 'pdf-text']).nullish() }).nullish(),
  }),
  z.looseObject({ id: z.literal('response-healing'), enabled: optionalFlag }),
  z.looseObject({ id: z.literal('context-compression'), enabled: optionalFlag, engine: z.literal('middle-out').nullish() }),
  z.looseObject({
    id: z.literal('pareto-router'),
    enabled: optionalFlag,
    max_price: z.number().min(0).nullish(),
    min_coding_score: z.number().min(0).max(1).nullish(),
    price_source: z.enum(['prompt', 'weighted_avg']).nullish(),
  }),
  z
    .looseObject({
      id: z.literal('fusion'),
      enabled: optionalFlag,
      ...fusionMembers,
      preset: z.enum(['general-high', 'general-budget', 'general-fast']).nullish(),
    })
    .meta({ id: 'FusionPlugin' }),
  z.looseObject({
    id: z.literal('switchyard-router'),
    algorithm: z.enum(['capability', 'stage', 'auto', 'random', 'composite', 'passthrough']).nullish(),
  }),
  z
    .looseObject({
      id: z.literal('jev-router'),
      models: modelPatterns,
      allowed_models: modelPatterns,
      excluded_models: modelPatterns,
      // Any text is allowed: an operator may define further tiers.
      cost_tier: optionalText,
    })
    .meta({ id: 'JevRouterPlugin' }),
  z
    .looseObject({
      id: z.literal('alignment'),
      rules: z.array(z.string().max(2000).regex(/\S/, 'A rule must say something.')).min(1).max(32),
      mode: z.enum(['enforce', 'audit']).nullish(),
      threshold: z.number().min(0).max(1).nullish(),
      max_retries: z.int().min(0).nullish(),
      instruct: optionalFlag,
    })
    .meta({ id: 'AlignmentPlugin' }),
] as const

export const plugins = z
  .array(z.discriminatedUnion('id', PLUGINS).meta({ id: 'Plugin' }))
  .meta({ description: 'A plugin of an id that is not listed is kept as it is, with a warning.' })
