/** The plugin `web-fetch`: the tool of that name, with the plugin's options, as if the request asked for it. */
import { isObject, type JsonObject } from '../lib/json.ts'
import { serverToolTypes } from '../canonical/server-tool-name.ts'
import { readAgain } from './read-again.ts'
import type { Prepared } from './stages.ts'

/** A request that has the tool already keeps its own options. */
export const withFetchTool = (prepared: Prepared, { id: _id, enabled: _enabled, ...parameters }: JsonObject): Prepared => {
  const { body } = prepared.call
  const tools = body.value('tools')
  const listed = Array.isArray(tools) ? (tools as readonly unknown[]) : []
  if (listed.some((tool) => isObject(tool) && TYPES.has(String(tool['type'])))) return prepared
  const tool = JSON.stringify({ type: TYPE, parameters })
  const before = listed.length === 0 ? undefined : body.raw('tools')
  const all = before === undefined ? `[${tool}]` : `${before.slice(0, before.lastIndexOf(']'))},${tool}]`
  return { ...prepared, call: readAgain(prepared, body.with({ tools: all })) }
}

const [TYPE] = serverToolTypes('web_fetch')
const TYPES: ReadonlySet<string> = new Set(serverToolTypes('web_fetch'))
