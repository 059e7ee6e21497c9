/** The form of tool names at providers that refuse other names. */
export interface ToolNameForm {
  readonly lawful: RegExp
  /** Matches, in JSON text, a member `name` that may be of another form. */
  readonly unlawfulMember: RegExp
}

const form = (pattern: string): ToolNameForm => ({
  lawful: new RegExp(`^(?:${pattern})$`),
  unlawfulMember: new RegExp(`"name"\\s*:\\s*"(?!(?:${pattern})")`),
})

/** OpenAI and its followers: "^[a-zA-Z0-9_-]{1,64}$". Anthropic and Bedrock (ToolSpecification) say the same. */
export const DASHED = form('[a-zA-Z0-9_-]{1,64}')

/** Amazon Nova accepts a dash, but then fails to call the tool: "Model produced invalid sequence as part of ToolUse". */
export const UNDASHED = form('[a-zA-Z0-9_]{1,64}')

/** platform.moonshot.ai, "Tool use"; Google, FunctionDeclaration: "must start with a letter or an underscore", for all of its APIs. */
export const DASHED_WORD = form('[a-zA-Z_][a-zA-Z0-9_-]{0,62}')
