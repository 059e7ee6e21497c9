/** Functions that the client withholds, and that a tool search finds: each found function is added at the end of the model's list. */
import type { Call } from '../../canonical/call.ts'
import type { FunctionTool, Tool as PromptTool } from '../../canonical/prompt.ts'
import { invalidField } from '../../contract/validate.ts'
import { isObject } from '../../lib/json/json.ts'
import { type AskedTool, failed, type Withheld } from '../../tools/tool.ts'
import type { OfferedTool } from './offered-tool.ts'

export interface FoundTools extends Withheld {
  /** Splits the list as the model sees it now into the tools shown from the start and the functions found since. */
  shownOf(tools: readonly PromptTool[]): { readonly first: readonly PromptTool[]; readonly found: readonly FunctionTool[] }
  /** Tools that answer, by name, a call of a function that has not been found yet. */
  readonly hidden: ReadonlyMap<string, OfferedTool>
}

export const withholdTools = (tools: readonly PromptTool[], search: AskedTool): FoundTools => {
  const withheld = tools.filter(isWithheld)
  const names = new Map(withheld.map((tool) => [tool.name, tool]))
  const hidden = new Map(withheld.map(({ name }) => [name, hiddenTool(name, search)]))
  const found = new Map<string, FunctionTool>()
  return {
    tools: withheld,
    load(loaded) {
      for (const name of loaded) {
        const tool = names.get(name)
        if (tool !== undefined) found.set(name, found.get(name) ?? withoutMark(tool))
        hidden.delete(name)
      }
    },
    shownOf: (all) => ({ first: all.filter((tool) => !isWithheld(tool)), found: [...found.values()] }),
    hidden,
  }
}

/** Tools of a namespace stay together, so they are never withheld. */
export const isWithheld = (tool: PromptTool): tool is FunctionTool =>
  tool.type === 'function' && tool.deferred === true && tool.namespace === undefined && tool.builtIn === undefined

export const withoutMark = ({ deferred: _mark, ...tool }: FunctionTool): FunctionTool => tool

const hiddenTool = (name: string, asked: AskedTool): OfferedTool => ({
  asked,
  name,
  tool: {
    description: '',
    parameters: {},
    run: () => Promise.resolve(failed('unknown_tool', `The tool ${name} is not in your list yet: search for it first.`)),
  },
  instance: null,
  silent: true,
})

/** Checks the restrictions on a request that asks for a tool search, whoever runs it. Throws `invalid_request`. */
export const checkToolSearch = ({ dialect, body }: Call, { at, askedAs }: AskedTool): void => {
  if (dialect === 'chat')
    throw invalidField(
      at,
      `${askedAs} is for Responses and Messages; on Chat Completions use deferred_tools, which searches with any model.`,
    )
  const choice = body.value('tool_choice') ?? null
  const kind = isObject(choice) ? choice['type'] : choice
  if (choice !== null && kind !== 'auto' && kind !== 'allowed_tools')
    throw invalidField(
      'tool_choice',
      'Beside a tool search the choice must be left out, auto or allowed_tools: any other leaves the model no way to search.',
    )
}
