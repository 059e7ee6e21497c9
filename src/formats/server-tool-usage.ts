/** Tool counts in an answer's `usage` (docs/contract/tools.md#counting): tools of the service, and searches of the provider. */
import type { JsonObject } from '../lib/json/json.ts'
import { dollars } from '../lib/money.ts'
import type { AnswerTail } from './format.ts'

/** Members of `usage`; empty if no tool ran. */
export const serverToolUsage = (tail: AnswerTail): JsonObject => {
  const counted = serverToolUse(tail)
  const details = serverToolDetails(tail)
  return { ...(details === null ? {} : { server_tool_use_details: details }), ...(counted === null ? {} : { server_tool_use: counted }) }
}

export const serverToolDetails = ({ usage, serverTools }: AnswerTail): JsonObject | null => {
  if (serverTools === undefined) return usage.webSearches > 0 ? { web_search_requests: usage.webSearches } : null
  return {
    tool_calls_requested: serverTools.requested,
    tool_calls_executed: serverTools.executed,
    web_search_requests: usage.webSearches + serverTools.searches,
  }
}

/** Null if nothing was searched or fetched. */
export const serverToolUse = ({ usage, serverTools }: AnswerTail): JsonObject | null => {
  const searches = usage.webSearches + (serverTools?.searches ?? 0)
  const fetches = serverTools?.fetches ?? 0
  return searches + fetches === 0 ? null : { web_search_requests: searches, web_fetch_requests: fetches }
}

/** Members of `cost_details`. */
export const serverToolCost = ({ cost, serverTools }: AnswerTail): JsonObject =>
  serverTools === undefined && cost.serverToolNanos === undefined ? {} : { server_tool_cost: dollars(cost.serverToolNanos ?? 0) }
