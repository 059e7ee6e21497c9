/** Several advisors, or several subagents, may be declared side by side: all but one need a name of their own. */
import type { ServerTool } from '../../canonical/server-tools.ts'
import { invalidRequest } from '../../contract/validate.ts'
import { cutText } from '../../lib/text/cut-text.ts'
import type { AskedTool } from '../tool.ts'

/** Throws `invalid_request` if two of a kind have the same name. */
export const refuseSameNames = (asked: readonly AskedTool[]): void => {
  for (const kind of NAMED) {
    const names = new Set<string>()
    for (const { tool, at, parameters } of asked) {
      if (tool !== kind) continue
      const { name } = parameters
      const own = typeof name === 'string' ? name.trim() : ''
      if (names.has(own)) {
        throw invalidRequest([
          own === ''
            ? {
                path: at,
                message: `Only one ${kind} tool can serve as the default. All other ${kind} tools must have a name defined.`,
              }
            : { path: `${at}.parameters.name`, message: `There is another ${kind} of the name "${cutText(own, 64)}".` },
        ])
      }
      names.add(own)
    }
  }
}

const NAMED = ['advisor', 'subagent'] as const satisfies readonly ServerTool[]
