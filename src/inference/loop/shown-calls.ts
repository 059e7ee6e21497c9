/** Which calls of tools a client is shown. */
import type { ClientDialect } from '../../canonical/call.ts'
import { serverToolName } from '../../canonical/server-tool-name.ts'
import type { AskedTool } from '../../tools/tool.ts'

/**
 * The Vercel AI SDK, and opencode with it, reads Responses and Messages by lists of the vendors' own items and blocks, and takes any
 * other for a broken answer; its version 5 does so with Claude's own where it has not asked for the tool itself. It gets the answer
 * without calls of tools in the service's words (docs/contract/tools.md#server-tools). A patch is the client's to apply, so nobody is
 * spared it.
 */
export const isShown = ({ tool, askedAs }: AskedTool, dialect: ClientDialect, userAgent: string | null): boolean =>
  dialect === 'chat' || tool === 'apply_patch' || serverToolName(askedAs) === null || userAgent === null || !AI_SDK.test(userAgent)

/** `ai/6.0.326 ai-sdk/provider-utils/4.0.64 runtime/bun/1.4.5`, and since its version 7 `ai-sdk-provider-utils/5.0.81`. */
const AI_SDK = /\bai-sdk[/-]provider-utils\//
