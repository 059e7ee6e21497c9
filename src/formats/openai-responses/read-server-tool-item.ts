/** Reads items of server tools that a client sends back, as calls with their results: the reverse of server-tool-items.ts. */
import { placeOfServerCall, UNKNOWN_PLACE } from '../../canonical/place-of-call.ts'
import type { Part } from '../../canonical/prompt.ts'
import { serverToolName } from '../../canonical/server-tool-name.ts'
import { isServerTool, type ServerTool } from '../../canonical/server-tools.ts'
import { isObject, type JsonObject, objectIn, textOf } from '../../lib/json/json.ts'
import { type Node, optionalText, whole } from '../json-node.ts'
import { replayedCall, replayedResult } from '../replayed-calls.ts'

/** Returns null for an item that is not the service's. */
export const readServerToolItem = (type: string, item: Node): readonly Part[] | null => {
  const id = optionalText(item, 'id') ?? ''
  const place = placeOfServerCall(id)
  const own = serverToolName(type)
  const native = own === null && place !== null ? OPENAI_TYPES[type] : undefined
  const tool = isServerTool(own) ? own : native?.tool
  if (tool === undefined) return null
  const {
    type: _type,
    id: _id,
    status,
    call_id,
    encrypted_content: sealed,
    instance_name: instance,
    name: _name,
    catalog,
    ...shown
  } = whole(item)
  const callId = textOf(call_id) || id || `call${item.path.replaceAll(/\W+/g, '_')}`
  const { arguments: json, result } = spread(tool, shown)
  const call = replayedCall({
    id: callId,
    tool,
    instance: typeof instance === 'string' ? instance : null,
    arguments: json,
    place: place ?? UNKNOWN_PLACE,
    catalog: typeof catalog === 'string' ? catalog : null,
  })
  const answer = replayedResult({
    callId,
    text: JSON.stringify(result),
    failed: status === 'failed' || status === 'incomplete' || typeof shown['error'] === 'string',
    sealed: typeof sealed === 'string' ? sealed : null,
  })
  // The result of a patch that was handed to the client is a separate item from the client.
  if (native?.holds === 'call' || (tool === 'apply_patch' && status === 'completed')) return [call]
  return native?.holds === 'result' ? [answer] : [call, answer]
}

interface OpenAiType {
  readonly tool: ServerTool
  /** Set for tools whose result is an item of its own. */
  readonly holds?: 'call' | 'result'
}

/** OpenAI's item types for service tools. An image item is read elsewhere, as an image. */
const OPENAI_TYPES: Readonly<Record<string, OpenAiType>> = {
  web_search_call: { tool: 'web_search' },
  tool_search_call: { tool: 'tool_search', holds: 'call' },
  tool_search_output: { tool: 'tool_search', holds: 'result' },
  shell_call: { tool: 'shell', holds: 'call' },
  shell_call_output: { tool: 'shell', holds: 'result' },
}

/** Separates the arguments and the result, which an item shows side by side. */
const spread = (
  tool: ServerTool,
  shown: Readonly<Record<string, unknown>>,
): { readonly arguments: string; readonly result: Readonly<Record<string, unknown>> } => {
  const { arguments: written, action, operation, ...rest } = shown
  const { sources, ...asked } = isObject(action) ? (action as JsonObject) : {}
  const { type: _search, ...query } = asked
  const input = {
    ...query,
    ...(isObject(operation) ? operation : {}),
    ...(isObject(written) ? written : {}),
    ...pick(rest, ASKED[tool] ?? []),
  }
  return {
    arguments: typeof written === 'string' ? written : JSON.stringify(input),
    result: { ...(sources === undefined ? {} : { results: sources }), ...toldBy(tool, rest) },
  }
}

/** The result as the model read it, as far as the item shows it: what a provider has cached of the conversation holds. */
const toldBy = (tool: ServerTool, shown: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> => {
  const result = omit(shown, ASKED[tool] ?? [])
  const { result: text } = result
  if (tool === 'files' && typeof text === 'string') return { ...result, result: objectIn(text) ?? text }
  if (!AGENTS.has(tool)) return result
  const { model, ...said } = result
  const status = typeof shown['error'] === 'string' ? 'error' : 'ok'
  return { status, model, ...(tool === 'subagent' ? { task_name: shown['task_name'] } : {}), ...said }
}

const AGENTS: ReadonlySet<ServerTool> = new Set(['advisor', 'subagent', 'fusion'] as const)

/** The members of an item that are arguments of its call. */
const ASKED: Readonly<Partial<Record<ServerTool, readonly string[]>>> = {
  experimental__search_models: ['query'],
  web_fetch: ['url'],
  advisor: ['prompt'],
  subagent: ['task_name', 'task_description'],
  image_generation: ['prompt', 'result', 'imageB64', 'imageUrl'],
  tool_search: ['query'],
  files: ['operation', 'file_id', 'filename'],
  bash: ['command'],
}

const pick = (from: Readonly<Record<string, unknown>>, keys: readonly string[]): Readonly<Record<string, unknown>> =>
  Object.fromEntries(Object.entries(from).filter(([key]) => keys.includes(key) && !PICTURES.has(key)))

const omit = (from: Readonly<Record<string, unknown>>, keys: readonly string[]): Readonly<Record<string, unknown>> =>
  Object.fromEntries(Object.entries(from).filter(([key]) => !keys.includes(key)))

/** Members with images. The model did not see them, so they are left out of the arguments and, through `ASKED`, of the result. */
const PICTURES: ReadonlySet<string> = new Set(['result', 'imageB64', 'imageUrl'])
