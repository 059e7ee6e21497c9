/**
 * Decides which of the tools that the service can run are provided by an endpoint itself, so that they are left to it
 * (docs/contract/tools.md#who-runs-a-tool).
 */
import type { ClientDialect } from '../../canonical/call.ts'
import type { Prompt, ProviderTool } from '../../canonical/prompt.ts'
import { serverToolName } from '../../canonical/server-tool-name.ts'
import type { ServerTool } from '../../canonical/server-tools.ts'
import { isObject } from '../../lib/json/json.ts'
import { openAiModel } from '../vendors/openai-model.ts'
import { runsByItself, type ToolHolder } from './vendor-tools.ts'
import { isKnownVendor, vendorOf } from '../vendors/vendors.ts'

/** `tool` is the service's tool that the client's `asked` stands for. */
export const hasOfItsOwn = (
  tool: ServerTool,
  asked: ProviderTool,
  { tools }: Pick<Prompt, 'tools'>,
  { provider, upstreamModel, dialect, client, rewritten }: ToolHolder,
): boolean => {
  if (dialect === 'openai-responses' && openAiModel(upstreamModel).refusedTools.test(tool)) return false
  const isVendors = serverToolName(asked.kind) === null
  // A client that declares the tool in the vendor's own words wants the vendor's tool, and gets it if the request can name it.
  if (isVendors && speaks(dialect, client) && VENDORS_DIALECT[provider] === client && (!rewritten || isCarried(asked, dialect))) return true
  if (tool !== 'web_search') return false
  switch (dialect) {
    case 'anthropic':
      return provider === 'anthropic'
    case 'openai-responses':
      return provider === 'openai' || provider === 'xai' || provider === 'azure'
    case 'google':
      return !tools.some(({ type }) => type === 'function')
    case 'openai-chat':
      return vendorOf(provider).webSearch !== null
    default:
      return false
  }
}

/** Says whether an unknown server may have the tool itself: its dialect has a word for it. */
export const mayHaveOfItsOwn = (tool: ServerTool, asked: ProviderTool, { provider, dialect, client, rewritten }: ToolHolder): boolean => {
  if (isKnownVendor(provider)) return false
  if (serverToolName(asked.kind) === null && speaks(dialect, client) && (!rewritten || isCarried(asked, dialect))) return true
  return tool === 'web_search' && (dialect === 'anthropic' || dialect === 'openai-responses')
}

/**
 * Says whether a rewritten request can name the tool. It must run by itself, since the canonical form has no word for answers to its calls.
 */
const isCarried = ({ kind, raw }: ProviderTool, dialect: string): boolean =>
  dialect === 'openai-responses' && isObject(raw) && runsByItself(kind, raw)

/** The dialect in which a vendor names its own tools. */
const VENDORS_DIALECT: Readonly<Record<string, ClientDialect>> = {
  openai: 'responses',
  azure: 'responses',
  xai: 'responses',
  anthropic: 'messages',
}

const speaks = (dialect: string, client: ClientDialect): boolean =>
  (client === 'messages' && dialect === 'anthropic') || (client === 'responses' && dialect === 'openai-responses')
