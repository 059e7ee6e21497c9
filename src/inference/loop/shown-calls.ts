/** Which calls of tools a client is shown. */
import type { ClientDialect } from '../../canonical/call.ts'
import { serverToolName } from '../../canonical/server-tool-name.ts'
import type { AskedTool } from '../../tools/tool.ts'

/**
 * These clients read Responses and Messages by lists of the vendors' own items and blocks, and take any other for a broken answer;
 * some do so with Claude's own where they have not asked for the tool themselves. They get the answer without calls of tools in the
 * service's words (docs/contract/tools.md#server-tools). A patch is the client's to apply, so every client gets its call.
 */
export const isShown = ({ tool, askedAs }: AskedTool, dialect: ClientDialect, userAgent: string | null): boolean =>
  dialect === 'chat' || tool === 'apply_patch' || serverToolName(askedAs) === null || userAgent === null || !STRICT.test(userAgent)

/**
 * The Vercel AI SDK and opencode (`ai/6.0.326 ai-sdk/provider-utils/4.0.64 runtime/bun/1.4.5`, since version 7
 * `ai-sdk-provider-utils/5.0.81`), LiteLLM (`litellm/1.83.0`) and pydantic-ai (`pydantic-ai/2.68.0`).
 */
const STRICT = /\b(?:ai-sdk[/-]provider-utils|litellm|pydantic-ai)\//
