import type { Prompt } from '../../canonical/prompt.ts'
import type { PlannedAttempt } from '../../routing/plan-attempts.ts'
import type { DeferredTools } from '../../tools/deferred/deferred-tools.ts'
import type { AskedTool, Tool } from '../../tools/tool.ts'

/** A tool that the service runs in this request. */
export interface OfferedTool {
  readonly asked: AskedTool
  /** The name that the model calls. */
  readonly name: string
  readonly tool: Tool
  /** The name that the client gave it, where several of a kind may stand side by side. */
  readonly instance: string | null
  /** For a search over withheld tools: the catalogue that is searched, by its hash. */
  readonly catalog?: string
  /** Its calls are not shown to the client. */
  readonly silent?: true
}

export interface OfferedTools {
  /** By the name that the model calls. */
  readonly byName: Pick<ReadonlyMap<string, OfferedTool>, 'get' | 'has'>
  /** The client's conversation with the tools that an endpoint is offered in place of those that it has not. */
  promptFor(planned: PlannedAttempt): Prompt
  /** Functions of the client's that the model reaches through wrappers; absent: none. */
  readonly deferred?: DeferredTools
}
