/** Determines which tools of a request the service runs: its own, with either prefix, and those vendors' tools that it also has. */
import { builtInTool } from '../canonical/built-in-tools.ts'
import type { ClientDialect } from '../canonical/call.ts'
import type { ProviderTool } from '../canonical/prompt.ts'
import { serverToolName } from '../canonical/server-tool-name.ts'
import { SERVER_TOOLS, type ServerTool } from '../canonical/server-tools.ts'
import { invalidField } from '../contract/validate.ts'
import { GatewayError } from '../errors.ts'
import { cutText } from '../lib/text/cut-text.ts'
import { isObject, type JsonObject, type JsonValue } from '../lib/json/json.ts'
import type { AskedTool } from './tool.ts'

/** Returns null for a tool that is not the service's. Throws `invalid_request` for an unknown tool with our prefix. */
export const askedTool = ({ kind, at, raw }: ProviderTool, dialect: ClientDialect): AskedTool | null => {
  if (isObject(raw) && kind === 'shell' && builtInTool(raw) !== null) return null
  const own = serverToolName(kind)
  const tool = own === null ? shorthandOf(kind, dialect) : SERVER_TOOLS.find((name) => name === own)
  if (tool === undefined) {
    throw new GatewayError(
      'invalid_request',
      `${at}: there is no server tool "${cutText(kind, 100)}"; there are ${SERVER_TOOLS.join(', ')}.`,
    )
  }
  // A client that searches the tools itself receives the calls. No other tool has this member.
  if (tool === null || (tool === 'tool_search' && isObject(raw) && raw['execution'] === 'client')) return null
  refuseElsewhere(tool, kind, at, dialect)
  return { tool, askedAs: kind, at, parameters: parametersOf(raw, own !== null) }
}

/** Tools that only some interfaces can express. `instead`: the tool with the same function on another interface. */
const INTERFACES: Readonly<Partial<Record<ServerTool, { readonly on: readonly ClientDialect[]; readonly instead?: string }>>> = {
  apply_patch: { on: ['responses'] },
  shell: { on: ['responses', 'messages'] },
  bash: { on: ['messages'], instead: 'Responses has service:shell.' },
}

const refuseElsewhere = (tool: ServerTool, kind: string, at: string, dialect: ClientDialect): void => {
  const interfaces = INTERFACES[tool]
  if (interfaces === undefined || interfaces.on.includes(dialect)) return
  const { on, instead = '' } = interfaces
  throw invalidField(at, `${kind} is only for ${on.map((one) => INTERFACE_NAMES[one]).join(' and ')}. ${instead}`.trimEnd())
}

const INTERFACE_NAMES: Readonly<Record<ClientDialect, string>> = { chat: 'Chat Completions', responses: 'Responses', messages: 'Messages' }

const shorthandOf = (kind: string, dialect: ClientDialect): ServerTool | null =>
  SHORTHANDS[dialect].find(({ type }) => type.test(kind))?.tool ?? null

interface Shorthand {
  readonly type: RegExp
  readonly tool: ServerTool
}

const OPENAI_SEARCH: Shorthand = { type: /^web_search(?:_preview)?(?:_\d{4}_\d{2}_\d{2})?$/, tool: 'web_search' }

/** Types of vendors' own tools, with their versions (docs/contract/tools.md#tool-types). */
const SHORTHANDS: Readonly<Record<ClientDialect, readonly Shorthand[]>> = {
  chat: [OPENAI_SEARCH],
  responses: [
    OPENAI_SEARCH,
    { type: /^image_generation$/, tool: 'image_generation' },
    { type: /^shell$/, tool: 'shell' },
    { type: /^apply_patch$/, tool: 'apply_patch' },
    { type: /^tool_search$/, tool: 'tool_search' },
  ],
  messages: [
    { type: /^web_search_\d{8}$/, tool: 'web_search' },
    { type: /^web_fetch_\d{8}$/, tool: 'web_fetch' },
    { type: /^advisor_\d{8}$/, tool: 'advisor' },
    { type: /^tool_search_tool_(?:regex|bm25)(?:_\d{8})?$/, tool: 'tool_search' },
  ],
}

/** Some SDKs write options in `parameters`, others beside the type; `parameters` takes precedence. */
const parametersOf = (raw: unknown, isOwn: boolean): JsonObject => {
  if (!isObject(raw)) return {}
  const { type: _type, name, parameters, filters, ...beside } = raw as Record<string, JsonValue>
  const all = {
    // Beside a vendor's type, `name` is the tool's own name and not an option.
    ...(isOwn && name !== undefined ? { name } : {}),
    ...beside,
    ...(isObject(filters) ? filters : {}),
    ...(isObject(parameters) ? parameters : {}),
  }
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== null))
}
