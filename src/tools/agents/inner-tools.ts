/** Service tools for a model that a tool calls: all except those that would call further agents. */
import { serverToolName } from '../../canonical/server-tool-name.ts'
import { SERVER_TOOLS, type ServerTool } from '../../canonical/server-tools.ts'
import { invalidField } from '../../contract/validate.ts'

const INNER_TOOLS: ReadonlySet<ServerTool> = new Set([
  'datetime',
  'experimental__search_models',
  'web_search',
  'web_fetch',
  'image_generation',
])

/** Throws `invalid_request` for a tool that such a model cannot have. `at` is the path of the list. */
export const checkInnerTools = (tools: readonly { readonly type: string }[], at: string, askedBy: ServerTool): void => {
  for (const [index, { type }] of tools.entries()) {
    const name = serverToolName(type)
    const tool = SERVER_TOOLS.find((known) => known === name)
    if (tool === undefined || !INNER_TOOLS.has(tool)) {
      const message =
        tool === askedBy
          ? `${type} cannot be one of its own tools.`
          : `Only tools of the service can be given to a ${askedBy}: ${[...INNER_TOOLS].map((one) => `service:${one}`).join(', ')}.`
      throw invalidField(`${at}[${index}]`, message)
    }
  }
}
