/** Prompt caching (docs/contract/requests.md#shared-fields). */
import { z } from 'zod'

import { optionalText, textUpTo } from './scalars.ts'

export const cacheControl = z
  .looseObject({ type: z.literal('ephemeral'), ttl: z.enum(['5m', '1h']).nullish() })
  .meta({ id: 'CacheControl', description: 'Marks a cache breakpoint; at top level, on the last block that can be cached.' })

export const optionalCacheControl = cacheControl.nullish()

/** Vendors with a lower limit are sent a hash of the key. */
export const promptCacheKey = textUpTo(1024)

export const promptCacheOptions = z
  .looseObject({ mode: z.enum(['explicit', 'implicit']).nullish(), ttl: optionalText })
  .meta({ id: 'PromptCacheOptions', description: 'explicit: only marked blocks are cached.' })

/** OpenAI's older setting, which is still of use for models without `prompt_cache_options`. */
export const promptCacheRetention = z.string().min(1).meta({ description: 'How long OpenAI keeps a cached prompt: in_memory or 24h.' })

/**
 * One text of a system prompt. The blocks themselves are kept because of `cache_control` and `citations`
 * (docs/contract/presets.md#system-prompt).
 */
export const textBlock = z
  .looseObject({
    type: z.literal('text'),
    text: z.string(),
    cache_control: optionalCacheControl,
    citations: z.array(z.looseObject({})).nullish(),
  })
  .meta({ id: 'TextBlock' })

/** The forms of system text: `system` of messages, the content of a system or developer message of chat. */
export const systemContent = z.union([z.string(), z.array(textBlock)])
