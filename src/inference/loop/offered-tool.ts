import type { Prompt } from '../../canonical/prompt.ts'
import type { PlannedAttempt } from '../../routing/plan-attempts.ts'
import type { DeferredTools } from '../../tools/deferred/deferred-tools.ts'
import type { AskedTool, Tool } from '../../tools/tool.ts'

/** A tool that the service runs in this request. */
export interface OfferedTool {
  readonly asked: AskedTool
  /** The name by which the model calls it. */
  readonly name: string
  readonly tool: Tool
  /** The name that the client gave it, for tools of which several of a kind may be offered together. */
  readonly instance: string | null
  /** For a search over withheld tools: the hash of the catalogue that is searched. */
  readonly catalog?: string
  /** Its calls are not shown to the client. */
  readonly silent?: true
}

export interface OfferedTools {
  /** By the name with which the model calls the tool. */
  readonly byName: Pick<ReadonlyMap<string, OfferedTool>, 'get' | 'has'>
  /** The client's conversation, with the offered tools in place of those that the endpoint lacks. */
  promptFor(planned: PlannedAttempt): Prompt
  /** Functions of the client's that the model reaches through wrappers; absent if there are none. */
  readonly deferred?: DeferredTools
}
