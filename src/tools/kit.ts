/** All tools of this service, each kind with the function that creates it. */
import type { ServerTool } from '../canonical/server-tools.ts'
import { invalidField } from '../contract/validate.ts'
import type { Clock } from '../lib/clock.ts'
import { advisorTool } from './agents/advisor.ts'
import { fusionTool } from './agents/fusion.ts'
import { subagentTool } from './agents/subagent.ts'
import { applyPatchTool } from './apply-patch.ts'
import { datetimeTool } from './datetime.ts'
import type { CatalogueMemory } from './deferred/catalogue-memory.ts'
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
  readonly settings: ToolSettings
  readonly searchEngines: SearchEngines
  readonly webFetch: MakeTool
  readonly catalogues: CatalogueMemory
  readonly files: MakeTool
  /** Null if no sandbox is configured. */
  readonly commands: CommandRunner | null
}

export const createToolKit = ({ clock, settings, searchEngines, webFetch, catalogues, files, commands }: ToolKitParts): ToolKit => {
  const unlessOff = (setting: SwitchedTool, make: MakeTool): MakeTool => (settings[setting]?.enabled === false ? turnedOff(setting) : make)
  const offeredSearch = unlessOff('web_search', webSearchTool(searchEngines))
  const offeredFetch = unlessOff('web_fetch', webFetch)
  return {
    datetime: unlessOff('datetime', datetimeTool(clock)),
    experimental__search_models: unlessOff('search_models', searchModelsTool),
    web_search: offeredSearch,
    web_fetch: offeredFetch,
    advisor: unlessOff('advisor', advisorTool(settings.advisor)),
    subagent: unlessOff('subagent', subagentTool(settings.subagent)),
    fusion: unlessOff('fusion', fusionTool(settings.fusion, { 'service:web_search': offeredSearch, 'service:web_fetch': offeredFetch })),
    image_generation: unlessOff('image_generation', imageGenerationTool(settings.image_generation)),
    apply_patch: unlessOff('apply_patch', applyPatchTool),
    tool_search: unlessOff('tool_search', toolSearchTool(catalogues)),
    files: unlessOff('files', files),
    shell: unlessOff('shell', shellTool(commands)),
    bash: unlessOff('shell', bashTool(commands)),
  }
}

type SwitchedTool = Exclude<keyof ToolSettings, 'loop' | 'result_bytes'>

const turnedOff =
  (setting: SwitchedTool): MakeTool =>
  ({ at, askedAs }) => {
    throw invalidField(at, `${askedAs} is turned off here (tools.${setting}.enabled).`)
  }
