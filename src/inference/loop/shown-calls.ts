/** Decides which calls of tools a client is shown. */
import type { ClientDialect } from '../../canonical/call.ts'
import { serverToolName } from '../../canonical/server-tool-name.ts'
import type { AskedTool } from '../../tools/tool.ts'

/**
 * These clients parse Responses and Messages by fixed lists of the vendors' own items and blocks, and take any other for a broken answer;
 * some reject even Claude's own if they have not asked for the tool themselves. Their answers omit calls of tools of the service's own
 * types (docs/contract/tools.md#server-tools). A patch must be applied by the client, so every client gets its call.
 */
export const isShown = ({ tool, askedAs }: AskedTool, dialect: ClientDialect, userAgent: string | null): boolean =>
  dialect === 'chat' || tool === 'apply_patch' || serverToolName(askedAs) === null || userAgent === null || !STRICT.test(userAgent)

/**
 * The Vercel AI SDK and opencode (`ai/6.0.326 ai-sdk/provider-utils/4.0.64 runtime/bun/1.4.5`, since version 7
 * `ai-sdk-provider-utils/5.0.81`), LiteLLM (`litellm/1.110.2`) and pydantic-ai (`pydantic-ai/2.68.0`).
 */
const STRICT = /\b(?:ai-sdk[/-]provider-utils|litellm|pydantic-ai)\//
