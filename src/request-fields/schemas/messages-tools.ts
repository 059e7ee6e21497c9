/** The 17 tools of the messages interface: the sixteen with fixed types, and the generic one (docs/contract/tools.md#tool-types). */
import { z } from 'zod'

import { optionalCacheControl } from './cache.ts'
import { jsonObject, optionalFlag, optionalPositiveInteger, optionalText, optionalTexts } from './scalars.ts'
import {
  bashTool,
  datetimeTool,
  imageGenerationTool,
  searchModelsTool,
  shellTool,
  toolSearchTool,
  webFetchTool,
  webSearchTool,
} from './server-tools.ts'
import { userLocation } from './web-search.ts'

const shared = { cache_control: optionalCacheControl, defer_loading: optionalFlag, allowed_callers: optionalTexts }

/** The client's own tool, the only one whose type may be absent. */
export const customTool = z
  .looseObject({
    type: z.literal('custom').nullish(),
    name: z.string().min(1),
    description: optionalText,
    input_schema: jsonObject,
    ...shared,
  })
  .meta({ id: 'MessagesCustomTool' })

const hostedSearchMembers = {
  name: z.literal('web_search'),
  max_uses: optionalPositiveInteger,
  allowed_domains: optionalTexts,
  blocked_domains: optionalTexts,
  user_location: userLocation,
  ...shared,
}

const advisorTool = z
  .looseObject({
    type: z.literal('advisor_20260301'),
    name: z.literal('advisor'),
    model: z.string().min(1),
    max_uses: optionalPositiveInteger,
    caching: optionalCacheControl,
    ...shared,
  })
  .meta({ id: 'MessagesAdvisorTool' })

const searchOverTools = <Name extends string>(name: Name) =>
  z.looseObject({ type: z.enum([name, `${name}_20251119`]), name: z.literal(name), strict: optionalFlag, ...shared })

export const MESSAGES_TYPED_TOOLS = [
  customTool,
  z.looseObject({ type: z.literal('bash_20250124'), name: z.literal('bash'), ...shared }),
  z.looseObject({ type: z.literal('text_editor_20250124'), name: z.literal('str_replace_editor'), ...shared }),
  z.looseObject({ type: z.literal('web_search_20250305'), ...hostedSearchMembers }),
  z.looseObject({ type: z.literal('web_search_20260209'), ...hostedSearchMembers }),
  advisorTool,
  bashTool,
  datetimeTool,
  imageGenerationTool,
  searchModelsTool,
  webFetchTool,
  webSearchTool,
  searchOverTools('tool_search_tool_bm25'),
  searchOverTools('tool_search_tool_regex'),
  shellTool,
  toolSearchTool,
] as const

/** Any other tool of the provider, of which only the type is known. */
export const genericTool = z.looseObject({ type: z.string().min(1) })

export const messagesTools = z
  .array(z.union([z.discriminatedUnion('type', MESSAGES_TYPED_TOOLS), genericTool]).meta({ id: 'MessagesTool' }))
  .meta({ description: "A tool of a type that is not listed is kept as it is, with a warning unless it is one of Anthropic's." })

const disableParallel = { disable_parallel_tool_use: optionalFlag }

export const messagesToolChoice = z
  .discriminatedUnion('type', [
    z.looseObject({ type: z.literal('auto'), ...disableParallel }),
    z.looseObject({ type: z.literal('any'), ...disableParallel }),
    z.looseObject({ type: z.literal('none') }),
    z.looseObject({ type: z.literal('tool'), name: z.string().min(1), ...disableParallel }),
  ])
  .meta({ id: 'MessagesToolChoice' })
