/** All tools of this service, each kind with the function that creates it. */
import type { ServerTool } from '../canonical/server-tools.ts'
import type { Files } from '../files/files.ts'
import type { Clock } from '../lib/clock.ts'
import type { IdSource } from '../lib/id.ts'
import { advisorTool } from './agents/advisor.ts'
import { fusionTool } from './agents/fusion.ts'
import { subagentTool } from './agents/subagent.ts'
import { applyPatchTool } from './apply-patch.ts'
import { datetimeTool } from './datetime.ts'
import type { CatalogueMemory } from './deferred/catalogue-memory.ts'
import { filesTool } from './files.ts'
import { imageGenerationTool } from './image-generation.ts'
import { bashTool } from './sandbox/bash.ts'
import type { CommandRunner } from './sandbox/run-commands.ts'
import { shellTool } from './sandbox/shell.ts'
import { searchModelsTool } from './search-models.ts'
import type { ToolSettings } from './settings.ts'
import { toolSearchTool } from './tool-search.ts'
import type { MakeTool } from './tool.ts'
import type { SearchEngines } from './web-search/search-engines.ts'
import { webSearchTool } from './web-search/web-search.ts'

export type ToolKit = Readonly<Record<ServerTool, MakeTool>>

export interface ToolKitParts {
  readonly clock: Clock
  readonly ids: IdSource
  readonly settings: Pick<ToolSettings, 'advisor' | 'subagent' | 'fusion' | 'image_generation'>
  readonly searchEngines: SearchEngines
  readonly webFetch: MakeTool
  readonly catalogues: CatalogueMemory
  /** Null if the operator's file disables the tool. */
  readonly files: Files | null
  /** Null if no sandbox is configured. */
  readonly commands: CommandRunner | null
}

export const createToolKit = ({ clock, ids, settings, searchEngines, webFetch, catalogues, files, commands }: ToolKitParts): ToolKit => ({
  datetime: datetimeTool(clock),
  experimental__search_models: searchModelsTool,
  web_search: webSearchTool(searchEngines),
  web_fetch: webFetch,
  advisor: advisorTool(settings.advisor),
  subagent: subagentTool(settings.subagent),
  fusion: fusionTool(settings.fusion, { 'service:web_search': webSearchTool(searchEngines), 'service:web_fetch': webFetch }),
  image_generation: imageGenerationTool(settings.image_generation),
  apply_patch: applyPatchTool,
  tool_search: toolSearchTool(catalogues),
  files: filesTool(files, ids),
  shell: shellTool(commands),
  bash: bashTool(commands),
})
