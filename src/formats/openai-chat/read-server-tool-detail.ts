/** Reads an entry of `reasoning_details` for a call that the service ran, as a call with its result. */
import { placeOfServerCall, UNKNOWN_PLACE } from '../../canonical/place-of-call.ts'
import type { Part } from '../../canonical/prompt.ts'
import { serverToolName } from '../../canonical/server-tool-name.ts'
import { isServerTool, type ServerTool } from '../../canonical/server-tools.ts'
import { type Node, optionalText } from '../json-node.ts'
import { replayedCall, replayedResult } from '../replayed-calls.ts'

export const SERVER_TOOL_DETAIL = 'reasoning.server_tool_call'

/** Returns null for a tool that is not the service's. */
export const readServerToolDetail = (detail: Node): readonly Part[] | null => {
  const name = optionalText(detail, 'tool_name') ?? ''
  const tool = toolNamed(name)
  if (tool === null) return null
  const id = optionalText(detail, 'id')
  const callId = optionalText(detail, 'tool_call_id') ?? id ?? `call_${detail.path.replaceAll(/\W+/g, '_')}`
  return [
    replayedCall({
      id: callId,
      tool,
      instance: optionalText(detail, 'instance_name'),
      arguments: optionalText(detail, 'arguments') ?? '{}',
      place: (id === null ? null : placeOfServerCall(id)) ?? UNKNOWN_PLACE,
      catalog: optionalText(detail, 'catalog'),
    }),
    replayedResult({ callId, text: optionalText(detail, 'result') ?? '', failed: false, sealed: null }),
  ]
}

const toolNamed = (name: string): ServerTool | null => {
  const own = serverToolName(name)
  if (isServerTool(own)) return own
  if (own === 'search_tools') return 'tool_search'
  return name.startsWith('web_search') ? 'web_search' : null
}
