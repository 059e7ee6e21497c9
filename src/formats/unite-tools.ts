/** Merges a preset's tools and a request's into one list (docs/contract/presets.md#merge). */
import type { ClientDialect } from '../canonical/call.ts'
import { isObject, type JsonValue } from '../lib/json/json.ts'
import { mapInSteps, type Steps } from '../lib/steps.ts'
import { serverToolName } from '../canonical/server-tool-name.ts'

/**
 * Returns the preset's tools in their order, each replaced by the request's tool of the same identity if there is one, followed by
 * the request's other tools.
 */
export function* uniteTools(
  dialect: ClientDialect,
  preset: readonly JsonValue[],
  request: readonly JsonValue[],
): Steps<readonly JsonValue[]> {
  const identity = (tool: JsonValue): string => identityOf(dialect, tool)
  const identities = yield* mapInSteps(request, identity)
  const asked = Map.groupBy(request, (_, at) => identities[at])
  // Reversed so that the first one can be taken from the end, which moves no other elements.
  for (const alike of asked.values()) alike.reverse()
  const united = yield* mapInSteps(preset, (tool) => {
    const replacements = asked.get(identity(tool))
    return replacements === undefined ? [tool] : replacements.splice(-1)
  })
  const left = new Set([...asked.values()].flat())
  return [...united.flat(), ...request.filter((tool) => left.has(tool))]
}

/** Tools of which several may exist side by side, distinguished by a name among their parameters. */
const AGENTS: ReadonlySet<string> = new Set(['advisor', 'subagent'])

/** Other types with a name beside their type: functions and tools of the client, and MCP servers, each a set of its own. */
const NAMED: Readonly<Record<string, string>> = { function: 'name', custom: 'name', namespace: 'name', mcp: 'server_label' }

/** The type of a function of the client that is written without one. Responses does not allow this. */
const UNTYPED: Readonly<Record<ClientDialect, string>> = { chat: 'function', responses: 'function', messages: 'custom' }

/** The identity of a tool. A tool of any other type exists only once. */
const identityOf = (dialect: ClientDialect, tool: JsonValue): string => {
  if (!isObject(tool)) return JSON.stringify(tool)
  const type = typeof tool['type'] === 'string' ? tool['type'] : UNTYPED[dialect]
  const server = serverToolName(type)
  if (server !== null) {
    const name = AGENTS.has(server) && isObject(tool['parameters']) ? tool['parameters']['name'] : undefined
    return JSON.stringify(['service', server, name ?? null])
  }
  const inside = dialect === 'chat' ? tool[type] : undefined
  const definition = isObject(inside) ? inside : tool
  const nameKey = Object.hasOwn(NAMED, type) ? NAMED[type] : undefined
  return JSON.stringify([type, nameKey === undefined ? null : (definition[nameKey] ?? null)])
}
