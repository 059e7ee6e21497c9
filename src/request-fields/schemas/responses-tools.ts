/** The 28 tools of the Responses interface (docs/contract/tools.md#tool-types). */
import { z } from 'zod'

import {
  jsonObject,
  optionalFlag,
  optionalNumber,
  optionalPositiveInteger,
  optionalText,
  optionalTexts,
  positiveInteger,
  texts,
} from './scalars.ts'
import {
  advisorTool,
  applyPatchTool,
  bashTool,
  datetimeTool,
  filesTool,
  fusionTool,
  imageGenerationTool,
  searchModelsTool,
  shellTool,
  subagentTool,
  toolSearchTool,
  webFetchTool,
  webSearchTool,
} from './server-tools.ts'
import { searchToolMembers } from './web-search.ts'

const functionMembers = {
  name: z.string().min(1),
  description: optionalText,
  strict: optionalFlag,
  defer_loading: optionalFlag,
  async: optionalFlag,
}

const functionTool = z
  .looseObject({ type: z.literal('function'), ...functionMembers, parameters: jsonObject.nullable() })
  .meta({ id: 'ResponsesFunctionTool' })

const searchTool = <Type extends string>(type: Type) => z.looseObject({ type: z.literal(type), ...searchToolMembers })

const fileSearchTool = z.looseObject({
  type: z.literal('file_search'),
  vector_store_ids: texts,
  filters: z.looseObject({ type: z.enum(['eq', 'ne', 'gt', 'gte', 'lt', 'lte', 'in', 'nin', 'and', 'or']) }).nullish(),
  max_num_results: optionalPositiveInteger,
  ranking_options: z.looseObject({ ranker: optionalText, score_threshold: optionalNumber }).nullish(),
})

const computerTool = z.looseObject({
  type: z.literal('computer_use_preview'),
  display_width: positiveInteger,
  display_height: positiveInteger,
  environment: z.enum(['windows', 'mac', 'linux', 'ubuntu', 'browser']),
})

const codeInterpreterTool = z.looseObject({
  type: z.literal('code_interpreter'),
  container: z.union([
    z.string(),
    z.looseObject({ type: z.literal('auto'), file_ids: optionalTexts, memory_limit: z.enum(['1g', '4g', '16g', '64g']).nullish() }),
  ]),
})

const toolNames = z.looseObject({ tool_names: optionalTexts })

const mcpTool = z
  .looseObject({
    type: z.literal('mcp'),
    server_label: z.string().min(1),
    server_url: optionalText,
    connector_id: optionalText,
    tunnel_id: optionalText,
    allowed_tools: z.union([texts, z.looseObject({ tool_names: optionalTexts, read_only: optionalFlag })]).nullish(),
    authorization: optionalText,
    headers: z.record(z.string(), z.string()).nullish(),
    require_approval: z
      .union([z.enum(['always', 'never']), z.looseObject({ always: toolNames.nullish(), never: toolNames.nullish() })])
      .nullish(),
    server_description: optionalText,
  })
  .meta({ id: 'McpTool' })

/** The words are those of the picture model, and a newer one may know more: `xhigh`, `svg`. */
const hostedImageTool = z
  .looseObject({
    type: z.literal('image_generation'),
    model: optionalText,
    size: optionalText,
    quality: optionalText,
    background: optionalText,
    output_format: optionalText,
    output_compression: z.int().min(0).max(100).nullish(),
    moderation: optionalText,
    partial_images: z.int().min(0).nullish(),
    input_fidelity: optionalText,
    input_image_mask: z.looseObject({ file_id: optionalText, image_url: optionalText }).nullish(),
  })
  .meta({ id: 'HostedImageGenerationTool' })

const customTool = z
  .looseObject({
    type: z.literal('custom'),
    name: z.string().min(1),
    description: optionalText,
    format: z
      .discriminatedUnion('type', [
        z.looseObject({ type: z.literal('text') }),
        z.looseObject({ type: z.literal('grammar'), syntax: z.enum(['lark', 'regex']), definition: z.string() }),
      ])
      .nullish(),
  })
  .meta({ id: 'CustomTool' })

const namespaceTool = z
  .looseObject({
    type: z.literal('namespace'),
    name: z.string().min(1),
    description: z.string(),
    tools: z.array(
      z.discriminatedUnion('type', [
        z.looseObject({ type: z.literal('function'), ...functionMembers, parameters: jsonObject.nullish() }),
        customTool,
      ]),
    ),
  })
  .meta({ id: 'NamespaceTool' })

export const RESPONSES_TOOLS = [
  functionTool,
  searchTool('web_search_preview'),
  searchTool('web_search_preview_2025_03_11'),
  searchTool('web_search'),
  searchTool('web_search_2025_08_26'),
  fileSearchTool,
  computerTool,
  codeInterpreterTool,
  mcpTool,
  hostedImageTool,
  z.looseObject({ type: z.literal('local_shell') }),
  z.looseObject({ type: z.literal('shell') }),
  z.looseObject({ type: z.literal('apply_patch') }),
  customTool,
  namespaceTool,
  advisorTool,
  subagentTool,
  datetimeTool,
  filesTool,
  fusionTool,
  imageGenerationTool,
  searchModelsTool,
  webFetchTool,
  webSearchTool,
  applyPatchTool,
  bashTool,
  shellTool,
  toolSearchTool,
] as const

/** OpenAI's own types: of the tool search, here an alias (docs/contract/tools.md#tool-search), and of tools that its newer models have. */
export const OPENAIS_TOOLS = [
  z.looseObject({ type: z.literal('tool_search') }),
  z.looseObject({ type: z.literal('computer') }),
  z.looseObject({ type: z.literal('programmatic_tool_calling') }),
] as const

export const responsesTools = z
  .array(z.discriminatedUnion('type', [...RESPONSES_TOOLS, ...OPENAIS_TOOLS]).meta({ id: 'ResponsesTool' }))
  .meta({ description: 'A tool of a type that is not listed is kept as it is, with a warning.' })
