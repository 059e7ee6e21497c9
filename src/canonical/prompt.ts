/** A conversation and the tools offered, whatever dialect they came in. Parsed only where a translation needs it. */
export interface Prompt {
  readonly messages: readonly Message[]
  readonly tools: readonly FunctionTool[]
  readonly toolChoice: ToolChoice
  readonly outputFormat: OutputFormat
}

export interface Message {
  readonly role: 'system' | 'developer' | 'user' | 'assistant'
  readonly parts: readonly Part[]
}

export type Part =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'refusal'; readonly text: string }
  | { readonly type: 'reasoning'; readonly text: string }
  /** `url` is https:// or data:. */
  | { readonly type: 'image'; readonly url: string }
  | { readonly type: 'file'; readonly url: string; readonly filename: string | null }
  | { readonly type: 'tool-call'; readonly id: string; readonly name: string; readonly arguments: string }
  | { readonly type: 'tool-result'; readonly callId: string; readonly text: string }

export interface FunctionTool {
  readonly name: string
  readonly description: string | null
  /** JSON Schema of the arguments. */
  readonly parameters: unknown
}

export type ToolChoice = { readonly type: 'auto' | 'none' | 'required' } | { readonly type: 'tool'; readonly name: string }

export type OutputFormat =
  | { readonly type: 'text' }
  | { readonly type: 'json' }
  | { readonly type: 'json-schema'; readonly name: string; readonly schema: unknown }
