import type { JsonBody } from '../lib/json/json-body.ts'
import type { JsonObject } from '../lib/json/json.ts'
import type { Steps } from '../lib/steps.ts'
import type { OutputFormat, Prompt } from './prompt.ts'
import type { Settings } from './settings.ts'

/** The three dialects that clients speak. Each preset version records the dialect that it was saved from. */
export const CLIENT_DIALECTS = ['chat', 'responses', 'messages'] as const
export type ClientDialect = (typeof CLIENT_DIALECTS)[number]

export const forEachDialect = <Value>(valueOf: (dialect: ClientDialect) => Value): Readonly<Record<ClientDialect, Value>> => ({
  chat: valueOf('chat'),
  responses: valueOf('responses'),
  messages: valueOf('messages'),
})

/** Settings of a preset for which the client's dialect has no field. */
export interface CarriedSettings {
  /** The dialect that the preset was saved from, to which the paths belong. */
  readonly shape: ClientDialect
  /** The settings as the preset has them, by path. */
  readonly written: JsonObject
  readonly settings: Settings
  readonly outputFormat?: OutputFormat
}

/**
 * One inference request after its preset was applied: the facts that routing, limits and records need, and the client's own JSON.
 * Everything else stays in `body`, which goes upstream unchanged if the provider speaks the same dialect.
 */
export interface Call {
  readonly dialect: ClientDialect
  readonly body: JsonBody
  /** The client declared its tools with the legacy `functions` fields of Chat Completions, and understands only those. */
  readonly legacyFunctions?: true
  /** Models to try, in order. */
  readonly models: readonly string[]
  readonly stream: boolean
  /** The request's own cap on output tokens, if it set one. */
  readonly maxOutputTokens: number | null
  readonly sessionId: string | null
  readonly user: string | null
  /** Headers of the client that are meant for Anthropic, such as `anthropic-beta`; names in lower case. */
  readonly passHeaders: Readonly<Record<string, string>>
  /** The whole conversation, parsed on first use; throws `invalid_prompt` if it is malformed. */
  prompt(): Prompt
  /** Parses the conversation in steps so that a later `prompt()` is cheap; throws as `prompt` does. */
  readingPrompt(): Steps<void>
  /** `prompt` has them, `body` cannot, so a provider of the client's own dialect does not get them. */
  readonly carried?: CarriedSettings
  /**
   * Settings of a preset whose place a vendor's name takes in `body`. A provider of another dialect, which does not get that name, gets them.
   */
  readonly replaced?: Settings | undefined
  /** The conversation or its tools changed after the client wrote them: `prompt` includes the change, `body` does not. */
  readonly continued?: true
  /** The model may have to receive its own turn back exactly as it wrote it. */
  readonly replays?: true
}

/** Returns true if a provider of this dialect gets the client's own JSON. */
export const passesAsWritten = (call: Pick<Call, 'dialect' | 'continued'>, dialect: ClientDialect | null): boolean =>
  call.dialect === dialect && call.continued !== true
