/** Tools of the chat interface (docs/contract/tools.md#tool-types). */
import { z } from 'zod'

import { optionalCacheControl } from './cache.ts'
import { optionalFlag, optionalObject, optionalText } from './scalars.ts'
import {
  advisorTool,
  bashTool,
  datetimeTool,
  filesTool,
  fusionTool,
  imageGenerationTool,
  searchModelsTool,
  subagentTool,
  webFetchTool,
  webSearchTool,
} from './server-tools.ts'
import { serverSearchMembers } from './web-search.ts'

const functionMembers = { name: z.string().min(1), description: optionalText, parameters: optionalObject }

/** The only tool whose type may be absent: Mistral's client leaves it out. */
export const functionTool = z
  .looseObject({
    type: z.literal('function').nullish(),
    function: z.looseObject({ ...functionMembers, strict: optionalFlag }),
    cache_control: optionalCacheControl,
  })
  .meta({ id: 'ChatFunctionTool' })

/** OpenAI's custom tool, which takes any text. */
const customTool = z
  .looseObject({
    type: z.literal('custom'),
    custom: z.looseObject({
      name: z.string().min(1),
      description: optionalText,
      format: z
        .discriminatedUnion('type', [
          z.looseObject({ type: z.literal('text') }),
          z.looseObject({
            type: z.literal('grammar'),
            grammar: z.looseObject({ syntax: z.enum(['lark', 'regex']), definition: z.string() }),
          }),
        ])
        .nullish(),
    }),
  })
  .meta({ id: 'ChatCustomTool' })

/** Types of the Responses interface, which here mean the service's own web search; options are beside the type or in `parameters`. */
const webSearchShorthand = z
  .looseObject({
    type: z.enum(['web_search', 'web_search_preview', 'web_search_preview_2025_03_11', 'web_search_2025_08_26']),
    ...serverSearchMembers,
    parameters: z.looseObject(serverSearchMembers).nullish(),
  })
  .meta({ id: 'ChatWebSearchTool' })

export const CHAT_TOOLS = [
  functionTool,
  customTool,
  advisorTool,
  bashTool,
  datetimeTool,
  filesTool,
  fusionTool,
  imageGenerationTool,
  searchModelsTool,
  subagentTool,
  webFetchTool,
  webSearchTool,
  webSearchShorthand,
] as const

export const chatTools = z
  .array(z.discriminatedUnion('type', CHAT_TOOLS).meta({ id: 'ChatTool' }))
  .meta({ description: 'A tool of a type that is not listed is kept as it is, with a warning.' })

export const chatToolChoice = z
  .union([
    z.enum(['none', 'auto', 'required', 'any']),
    z.looseObject({ type: z.literal('function').nullish(), function: z.looseObject({ name: z.string().min(1) }) }),
    z.looseObject({ type: z.string().regex(/^(?!function$)/, 'Expected function.name beside this type.') }),
  ])
  .meta({ id: 'ChatToolChoice', description: 'any is another name of required.' })

/** The legacy names of tools and of the tool choice. */
export const legacyFunctions = z.array(z.looseObject(functionMembers)).meta({ deprecated: true, description: 'Use tools.' })
export const legacyFunctionCall = z
  .union([z.enum(['none', 'auto']), z.looseObject({ name: z.string().min(1) })])
  .meta({ deprecated: true, description: 'Use tool_choice.' })
