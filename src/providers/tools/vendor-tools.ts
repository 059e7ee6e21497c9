/**
 * Tools that the service cannot run: either a vendor runs them, or it has trained its models for them. An endpoint has such a tool if the
 * tool is passed on to it as it was written and is known there (docs/contract/tools.md#who-runs-a-tool).
 */
import type { ClientDialect } from '../../canonical/call.ts'
import { OWN_DIALECT } from '../../canonical/provider-dialects.ts'
import { rulesOf } from '../anthropic/model-rules.ts'
import { openAiModel } from '../vendors/openai-model.ts'
import { isKnownVendor } from '../vendors/vendors.ts'

/** The endpoint that is asked to have the tool. */
export interface ToolHolder {
  /** Our slug of the provider, and its name of the model. */
  readonly provider: string
  readonly upstreamModel: string
  /** The dialect in which it is asked, and that of the client. */
  readonly dialect: string
  readonly client: ClientDialect
  /** The request is rewritten for the endpoint, even in the client's dialect, for example because tools of the service run beside it. */
  readonly rewritten: boolean
}

/** The tool as the client declared it. */
type Declared = Readonly<Record<string, unknown>>

/** Says whether only vendors have a tool of this type. */
export const isVendorTool = (type: string): boolean => ruleOf(type) !== undefined

/** Call it only for types for which `isVendorTool` is true. */
export const hasVendorTool = (type: string, declared: Declared, holder: ToolHolder): boolean =>
  ruleOf(type)?.(type, declared, holder) === true || hasInChat(type, holder)

/** Says whether a tool of Responses needs nothing from the client, so that it works even if the client is not shown its calls. */
export const runsByItself = (type: string, { require_approval: approval }: Declared): boolean =>
  BY_ITSELF.has(type) || (type === 'mcp' && approval === 'never')

const BY_ITSELF: ReadonlySet<string> = new Set(['file_search', 'code_interpreter', 'image_generation'])

type Rule = (type: string, declared: Declared, holder: ToolHolder) => boolean

const ruleOf = (type: string): Rule | undefined => RULES.find(([types]) => types.test(type))?.[1]

const RULES: readonly (readonly [RegExp, Rule])[] = [
  [
    /^(?:file_search|code_interpreter|mcp)$/,
    (type, declared, holder) => holder.dialect === 'openai-responses' && (isRelayed(holder) || runsByItself(type, declared)),
  ],
  [
    /^computer(?:_use_preview)?$/,
    // docs.x.ai, "Tools": xAI has the tools above but no computer.
    (type, _, holder) =>
      holder.dialect === 'openai-responses' &&
      isRelayed(holder) &&
      holder.provider !== 'xai' &&
      !openAiModel(holder.upstreamModel).refusedTools.test(type),
  ],
  // Claude is trained on these tools and the client runs them, whichever interface the client speaks.
  [
    /^(?:text_editor|computer|memory)_\d{8}$/,
    (_, __, holder) => holder.dialect === 'anthropic' && (isClaude(holder) || isStrangers(holder)),
  ],
  // The calls of a set name it, for which a request that is written anew has no word.
  [
    /^(?:code_execution_\d{8}|mcp_toolset|(?:browser|computer)_toolset_\d{8})$/,
    (_, __, holder) => holder.dialect === 'anthropic' && isRelayed(holder) && (isClaude(holder) || isStrangers(holder)),
  ],
]

/** Finds the types of these rules in JSON text, and rules out most requests with tools. */
export const MAY_NAME_VENDOR_TOOL =
  /"type"\s*:\s*"(?:file_search|code_interpreter|mcp|computer|browser_toolset_|text_editor_|memory_|code_execution_)|\\u00[67]/

const isRelayed = ({ dialect, client, rewritten }: ToolHolder): boolean => !rewritten && dialect === OWN_DIALECT[client]

const isClaude = ({ upstreamModel }: ToolHolder): boolean => rulesOf(upstreamModel).claude

/** The tools of an operator's own server are unknown, so it gets what the client wrote. */
const isStrangers = (holder: ToolHolder): boolean => isRelayed(holder) && !isKnownVendor(holder.provider)

/** Chat Completions defines no such tools, but some of its servers have one: console.groq.com/docs/code-execution. */
const hasInChat = (type: string, holder: ToolHolder): boolean =>
  holder.dialect === 'openai-chat' &&
  isRelayed(holder) &&
  (isStrangers(holder) || (holder.provider === 'groq' && type === 'code_interpreter'))
