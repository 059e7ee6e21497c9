/** Claude's shell that a client of Messages asks for by the service's own type, and runs itself (docs/contract/tools.md#commands). */
import { claudesBash } from '../../canonical/claudes-bash.ts'
import type { FunctionTool, ProviderTool, Tool } from '../../canonical/prompt.ts'
import type { Warning } from '../../canonical/warning.ts'
import type { AskedTool } from '../../tools/tool.ts'

export interface ClientsShell {
  /** The tool that goes to the model in the place of each one that asked for it; null for one that repeats another. */
  readonly replaced: ReadonlyMap<ProviderTool, FunctionTool | null>
  readonly warnings: readonly Warning[]
}

/** `tools`: all tools of the request. Two tools of one name are refused by providers, and both would mean the same. */
export const clientsShell = (
  asked: readonly { readonly tool: ProviderTool; readonly asked: AskedTool }[],
  tools: readonly Tool[],
): ClientsShell => {
  const isDeclared = tools.some((tool) => tool.type === 'function' && tool.knownToClaude !== undefined)
  const replaced = new Map(asked.map(({ tool }, index) => [tool, isDeclared || index > 0 ? null : shellFor(tool)] as const))
  return { replaced, warnings: asked.flatMap(unusedOf) }
}

const shellFor = ({ cache }: ProviderTool): FunctionTool => ({ ...claudesBash(), ...(cache === undefined ? {} : { cache }) })

/** Only the service's sandbox has such options. */
const unusedOf = ({ asked: { at, parameters } }: { readonly asked: AskedTool }): readonly Warning[] =>
  Object.keys(parameters).flatMap((name) =>
    SHELLS.has(name)
      ? []
      : [
          {
            code: 'unsupported_field',
            field: at,
            message: `The client runs this shell, so that ${name} asks for nothing; it was left out.`,
          },
        ],
  )

const SHELLS: ReadonlySet<string> = new Set(['engine', 'cache_control'])
