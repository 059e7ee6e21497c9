/**
 * Refuses requests that ask a provider in a vendor's own words for a tool that is denied: by a field, or by a tool that this service does not
 * know (docs/contract/guardrails.md#tools).
 */
import {
  type AddedTool,
  addedTools,
  addsToolsByBlocks,
  addsToolsByMessages,
  mayAddTools,
  toolsOfMessages,
} from '../../canonical/added-tools.ts'
import type { Call } from '../../canonical/call.ts'
import { asksForSearch } from '../../canonical/search-words.ts'
import type { ServerTool } from '../../canonical/server-tools.ts'
import type { JsonBody } from '../../lib/json/json-body.ts'
import { isObject, listOf } from '../../lib/json/json.ts'
import type { Steps } from '../../lib/steps.ts'
import { vendorWordsIn } from '../../request-fields/vendor-words.ts'
import { refuseDenied, vendorsTool } from '../../tools/denied-tools.ts'

/** Throws `permission_denied`. */
export function* refuseVendorsTools({ body, dialect }: Call, denied: readonly ServerTool[]): Steps<void> {
  if (denied.length === 0) return
  if (asksForSearch(body.value('web_search_options'))) refuseDenied('web_search', denied, 'web_search_options')
  for (const { path, value, changes } of yield* vendorWordsIn(dialect, body)) {
    const at = path.join('.')
    if (changes.has('webSearchOptions') && asksForSearch(value)) refuseDenied('web_search', denied, at)
    if (changes.has('tools')) for (const tool of toolsIn(value)) refuseDenied(tool, denied, at)
  }
  for (const { raw, at } of yield* toolsOfRequest({ body, dialect })) {
    const tool = toolOf(raw)
    if (tool !== null) refuseDenied(tool, denied, at)
    yield
  }
}

/** The tools that the request declares, wherever it does. */
export function* toolsOfRequest({ body, dialect }: Pick<Call, 'body' | 'dialect'>): Steps<readonly AddedTool[]> {
  const listed = listOf(yield* body.parsing('tools')).map((raw, index) => ({ raw, at: `tools[${index}]` }))
  return [...listed, ...(dialect === 'responses' ? yield* addedByInput(body) : yield* addedByMessages(body))]
}

function* addedByInput(body: JsonBody): Steps<readonly AddedTool[]> {
  return (yield* mayAddTools(body.rawSearchable('input') ?? '')) ? addedTools(yield* body.parsing('input')) : []
}

function* addedByMessages(body: JsonBody): Steps<readonly AddedTool[]> {
  const messages = body.rawSearchable('messages') ?? ''
  const adds = (yield* addsToolsByMessages(messages)) || (yield* addsToolsByBlocks(messages))
  return adds ? toolsOfMessages(yield* body.parsing('messages')) : []
}

/** Null for a tool that the client runs. Kimi's search is a function that is built in. */
const toolOf = (raw: unknown): ServerTool | null => {
  if (!isObject(raw)) return null
  const { type, function: called, name } = raw
  if (type === 'function' || type === 'custom') return null
  // Google writes a tool as its only member.
  if (typeof type !== 'string') return name === undefined && called === undefined ? (toolsIn(Object.keys(raw))[0] ?? null) : null
  const inner = isObject(called) && typeof called['name'] === 'string' ? called['name'] : ''
  return vendorsTool(type) ?? vendorsTool(inner)
}

/** The tools in a list, and in the lists of an object (Groq): each an object, or a name. */
const toolsIn = (value: unknown): readonly ServerTool[] => {
  if (isObject(value)) return Object.values(value).flatMap((inner) => (Array.isArray(inner) ? toolsIn(inner) : []))
  return listOf(value).flatMap((tool) => (typeof tool === 'string' ? vendorsTool(tool) : toolOf(tool)) ?? [])
}
