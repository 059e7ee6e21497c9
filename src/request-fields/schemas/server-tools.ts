/**
 * Tools that the service runs itself. Their types have its prefix; the ecosystem's public prefix is an alias, so that unmodified
 * clients work, and a type is kept as it was sent (docs/contract/headers.md#names).
 */
import { z } from 'zod'

import { optionalCacheControl } from './cache.ts'
import { foundTools } from './deferred-tools.ts'
import { fusionMembers } from './plugins.ts'
import { toolReasoning } from './reasoning.ts'
import { optionalFlag, optionalPositiveInteger, optionalText, optionalTexts } from './scalars.ts'
import { serverToolTypes } from '../../canonical/server-tool-name.ts'
import { serverFetchMembers, serverSearchMembers } from './web-search.ts'

const serverTool = <Name extends string, Members extends z.ZodRawShape>(name: Name, members: Members) =>
  z.looseObject({ type: z.enum(serverToolTypes(name)), parameters: z.looseObject(members).nullish() })

const temperature = z.number().min(0).max(2).nullish()
const agentName = z
  .string()
  .regex(/^[a-zA-Z0-9 _-]{1,64}$/, 'Use 1 to 64 letters, digits, spaces, _ or -.')
  .nullish()
const agentToolCalls = z.int().min(1).max(25).nullish()

/** The environment of commands: a fresh container or an existing one. */
const sandboxMembers = {
  environment: z.looseObject({ type: z.string() }).nullish(),
  sleep_after_seconds: z.int().min(1).max(2_592_000).nullish(),
}
const nativeOrOwn = z.enum(['auto', 'native', 'service', 'openrouter']).nullish()

export const advisorTool = serverTool('advisor', {
  model: optionalText,
  name: agentName,
  instructions: optionalText,
  forward_transcript: optionalFlag,
  max_completion_tokens: optionalPositiveInteger,
  max_tool_calls: agentToolCalls,
  reasoning: toolReasoning,
  stream: optionalFlag,
  temperature,
}).meta({ id: 'AdvisorTool' })

export const subagentTool = serverTool('subagent', {
  model: optionalText,
  name: agentName,
  instructions: optionalText,
  tools: z.array(z.looseObject({ type: z.string() })).nullish(),
  max_tool_calls: agentToolCalls,
  max_completion_tokens: optionalPositiveInteger,
  reasoning: toolReasoning,
  temperature,
  inherit_functions: optionalFlag,
  inherited_function_names: optionalTexts,
}).meta({ id: 'SubagentTool' })

const isTimeZone = (name: string): boolean => {
  try {
    return Intl.DateTimeFormat('en-US', { timeZone: name }).resolvedOptions().timeZone !== ''
  } catch {
    return false
  }
}

/** A time zone that the system knows. */
export const timeZone = z.string().max(100).refine(isTimeZone, 'Use a time zone of the IANA database, such as Europe/Berlin.')
export const datetimeTool = serverTool('datetime', { timezone: timeZone.nullish() }).meta({ id: 'DatetimeTool' })
export const filesTool = serverTool('files', {}).meta({ id: 'FilesTool' })
export const fusionTool = serverTool('fusion', {
  ...fusionMembers,
  max_completion_tokens: optionalPositiveInteger,
  reasoning: toolReasoning,
  temperature,
  cache_control: optionalCacheControl,
}).meta({ id: 'FusionTool' })

/** All other parameters are image options of the model (docs/contract/tools.md#tool-types). */
export const imageGenerationTool = serverTool('image_generation', { model: optionalText }).meta({ id: 'ImageGenerationTool' })
export const searchModelsTool = serverTool('experimental__search_models', { max_results: z.int().min(1).max(20).nullish() }).meta({
  id: 'SearchModelsTool',
})
export const webFetchTool = serverTool('web_fetch', serverFetchMembers).meta({ id: 'WebFetchTool' })
export const webSearchTool = serverTool('web_search', serverSearchMembers).meta({ id: 'WebSearchTool' })
export const applyPatchTool = serverTool('apply_patch', { engine: nativeOrOwn }).meta({ id: 'ApplyPatchTool' })
export const bashTool = serverTool('bash', { engine: nativeOrOwn, ...sandboxMembers }).meta({ id: 'BashTool' })
export const shellTool = serverTool('shell', { engine: nativeOrOwn, ...sandboxMembers }).meta({ id: 'ShellTool' })
export const toolSearchTool = serverTool('tool_search', { max_results: foundTools }).meta({ id: 'ToolSearchTool' })
