/** A plugin that stands for a tool of the service: adds the tool with the plugin's options, as if the request had asked for it. */
import { serverToolTypes } from '../canonical/server-tool-name.ts'
import type { ServerTool } from '../canonical/server-tools.ts'
import { isObject, type JsonObject } from '../lib/json/json.ts'
import type { Steps } from '../lib/steps.ts'
import { readAgain } from './read-call.ts'
import type { Prepared } from './request.ts'

/** A request that already has the tool keeps its own options. */
export function* withTool(
  prepared: Prepared,
  tool: ServerTool,
  { id: _id, enabled: _enabled, ...parameters }: JsonObject,
): Steps<Prepared> {
  const { body } = prepared.call
  const [type, ...others] = serverToolTypes(tool)
  const tools = body.value('tools')
  const listed = Array.isArray(tools) ? (tools as readonly unknown[]) : []
  if (listed.some((one) => isObject(one) && [type, ...others].some((known) => known === one['type']))) return prepared
  const added = JSON.stringify({ type, parameters })
  const before = listed.length === 0 ? undefined : body.raw('tools')
  const all = before === undefined ? `[${added}]` : `${before.slice(0, before.lastIndexOf(']'))},${added}]`
  return { ...prepared, call: yield* readAgain(prepared, yield* body.changing({ tools: all })) }
}
