import type { JsonBody } from '../lib/json-body.ts'
import type { Steps } from '../lib/steps.ts'
import type { Prompt } from './prompt.ts'

/** The three dialects that clients speak. A preset version remembers the one it was saved from. */
export const CLIENT_DIALECTS = ['chat', 'responses', 'messages'] as const
export type ClientDialect = (typeof CLIENT_DIALECTS)[number]

/**
 * One inference request after its preset was applied: what routing, limits and records need to know, and the client's
 * own JSON. Everything else stays in `body`, which goes upstream as it is where the provider speaks the same dialect.
 */
export interface Call {
  readonly dialect: ClientDialect
  readonly body: JsonBody
  /** The client asked for tools in the older words of Chat Completions, and knows no others. */
  readonly legacyFunctions?: true
  /** Models to try, the first one first. */
  readonly models: readonly string[]
  readonly stream: boolean
  /** The request's own cap on output tokens, if it set one. */
  readonly maxOutputTokens: number | null
  readonly sessionId: string | null
  readonly user: string | null
  /** Headers of the client that are meant for Anthropic, such as `anthropic-beta`; names in lower case. */
  readonly passHeaders: Readonly<Record<string, string>>
  /** The whole conversation, parsed when first asked for; throws `invalid_prompt` when it is malformed. */
  prompt(): Prompt
  /** Parses it ahead of those who ask for it; throws as `prompt` does. */
  readingPrompt(): Steps<void>
  /** The conversation or its tools changed after the client wrote them: `prompt` has the change, `body` is as it came. */
  readonly continued?: true
  /** The model may have to get its turn back, as it said it. */
  readonly replays?: true
}

/** Says whether a provider of this dialect gets the client's own JSON. */
export const passesAsWritten = (call: Pick<Call, 'dialect' | 'continued'>, dialect: ClientDialect | null): boolean =>
  call.dialect === dialect && call.continued !== true
