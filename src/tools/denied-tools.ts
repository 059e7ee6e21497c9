/**
 * Tools that a guardrail or a workspace forbids, whether the service or the provider would run them
 * (docs/contract/guardrails.md#tools).
 */
import { vendorsWebTool } from '../canonical/search-words.ts'
import { serverToolName } from '../canonical/server-tool-name.ts'
import { isServerTool, type ServerTool } from '../canonical/server-tools.ts'
import { GatewayError } from '../errors.ts'

/** `names`: tool names, with or without a prefix; a name that no tool has is ignored. */
export const deniedTools = (byGuardrails: readonly ServerTool[] = NONE, names: readonly string[] = NONE): readonly ServerTool[] =>
  names.length === 0 ? byGuardrails : [...byGuardrails, ...names.map((name) => serverToolName(name) ?? name).filter(isServerTool)]

const NONE: readonly never[] = []

/** `at`: the path in the request that asks for the tool. Throws `permission_denied`. */
export const refuseDenied = (tool: ServerTool, denied: readonly ServerTool[], at: string): void => {
  if (!denied.includes(tool)) return
  throw new GatewayError(
    'permission_denied',
    `${at}: the tool ${tool} is switched off for this key by a guardrail or by its workspace. Send the request without it.`,
  )
}

/**
 * The tool that a vendor's own tool stands for, by its type: a version that is newer than this release, or another vendor's name; null if it
 * is none of those that vendors run.
 */
export const vendorsTool = (type: string): ServerTool | null =>
  vendorsWebTool(type) ?? VENDORS_RUN.find((name) => type.startsWith(`${name}_`)) ?? null

const VENDORS_RUN: readonly ServerTool[] = ['image_generation', 'advisor']
