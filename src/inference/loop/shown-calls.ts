/** Which calls of tools a client is shown. */
import type { ClientDialect } from '../../canonical/call.ts'
import { serverToolName } from '../../canonical/server-tool-name.ts'
import type { ServerTool } from '../../canonical/server-tools.ts'
import type { AskedTool } from '../../tools/tool.ts'

/**
 * The Vercel AI SDK, and opencode with it, reads Responses and Messages by lists of the vendors' own items and blocks, and takes any
 * other for a broken answer: it gets the answer without these calls (docs/contract/tools.md#server-tools).
 */
export const isShown = ({ tool, askedAs }: AskedTool, dialect: ClientDialect, userAgent: string | null): boolean =>
  userAgent === null || !AI_SDK.test(userAgent) || IS_VENDORS[dialect](tool, askedAs)

/** `ai/6.0.326 ai-sdk/provider-utils/4.0.64 runtime/bun/1.4.5`, and since its version 7 `ai-sdk-provider-utils/5.0.81`. */
const AI_SDK = /\bai-sdk[/-]provider-utils\//

/** Says whether the call comes in a form of the vendor's. Chat Completions has none, and clients pass over what they do not know. */
const IS_VENDORS: Readonly<Record<ClientDialect, (tool: ServerTool, askedAs: string) => boolean>> = {
  chat: () => true,
  // An item has the type that was asked for. A patch is the client's to apply, so nobody is spared it.
  responses: (tool, askedAs) => tool === 'apply_patch' || serverToolName(askedAs) === null,
  messages: (tool) => CLAUDES_OWN.has(tool),
}

const CLAUDES_OWN: ReadonlySet<ServerTool> = new Set(['web_search', 'web_fetch', 'advisor', 'tool_search'])
