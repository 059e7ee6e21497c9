/** The tool that a choice names, for a model that has to call it (docs/contract/tools.md#function-tools). */
import { type CustomTool, type FunctionTool, type Prompt, type ProviderTool, type Tool, WEB_SEARCH } from '../../canonical/prompt.ts'
import { GatewayError } from '../../errors.ts'
import { isObject } from '../../lib/json/json.ts'
import type { Translation } from '../losses/translation.ts'
import { isWebSearch } from './search-options.ts'

/** Undefined for a tool that a vendor runs, if the dialect has no word to demand it; the client is warned. Throws as `refuseChoice` does. */
export const demandedTool = ({ prompt: { tools }, lose }: Translation, name: string): FunctionTool | CustomTool | undefined => {
  const demanded = tools.find((tool: Tool): tool is FunctionTool | CustomTool => tool.type !== 'provider' && tool.name === name)
  if (demanded !== undefined) return demanded
  if (!tools.some((tool) => tool.type === 'provider' && isNamed(tool, name))) refuseChoice(name)
  lose('tool_choice', `This provider cannot be made to call ${name}; the choice is the model’s.`)
  return undefined
}

const isNamed = (tool: ProviderTool, name: string): boolean =>
  isSearchNamed(tool, name) || (isObject(tool.raw) && (tool.raw['name'] === name || isToolset(tool.raw)))

/** Says whether the choice demands the provider's own web search, and not a function of that name. */
export const demandsSearch = ({ tools, toolChoice }: Prompt): boolean =>
  toolChoice.type === 'tool' &&
  !tools.some((tool) => tool.type !== 'provider' && tool.name === toolChoice.name) &&
  tools.some((tool) => tool.type === 'provider' && isSearchNamed(tool, toolChoice.name))

const isSearchNamed = ({ kind }: ProviderTool, name: string): boolean => name === WEB_SEARCH && isWebSearch(kind)

/** Anthropic's sets of tools have no name; their members, whose names are not in the request, can be demanded by name. */
export const isToolset = ({ type }: Readonly<Record<string, unknown>>): boolean =>
  typeof type === 'string' && /(?:^|_)toolset(?:_\d{8})?$/.test(type)

/** Throws `invalid_request`: the request demands a call that the model could not make. */
export const refuseChoice = (name: string): never => {
  throw new GatewayError('invalid_request', `tool_choice: There is no tool named ${name} among the tools.`, {
    metadata: { field: 'tool_choice' },
  })
}

/** Warns that a demanded call was left out, for a request without any tool that could be called. */
export const loseChoice = ({ prompt: { toolChoice }, lose }: Translation): void => {
  if (toolChoice.type === 'required' || toolChoice.type === 'tool')
    lose('tool_choice', 'There is no tool that could be called; it was left out.')
}
