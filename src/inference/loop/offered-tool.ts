import type { AskedTool, Tool } from '../../tools/tool.ts'

/** A tool that the service runs in this request. */
export interface OfferedTool {
  readonly asked: AskedTool
  /** What the model calls. */
  readonly name: string
  readonly tool: Tool
  /** The name that the client gave it, where several of a kind may stand side by side. */
  readonly instance: string | null
  /** For a search over withheld tools: the catalogue that is searched, by its hash. */
  readonly catalog?: string
  /** The client is not told of its calls. */
  readonly silent?: true
}
