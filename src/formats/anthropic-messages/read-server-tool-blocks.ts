/** Reads blocks of server tools that a client sends back, as calls and results: the reverse of server-tool-blocks.ts. */
import { placeOfServerCall, UNKNOWN_PLACE } from '../../canonical/place-of-call.ts'
import type { Part } from '../../canonical/prompt.ts'
import { serverToolName } from '../../canonical/server-tool-name.ts'
import { isServerTool, type ServerTool } from '../../canonical/server-tools.ts'
import { isObject, objectsIn, textsIn } from '../../lib/json/json.ts'
import { member, type Node, optionalText, requiredText } from '../json-node.ts'
import { type PartReaders, passOverDirectCaller, unknownContent } from '../prompt-reader.ts'
import { replayedCall, replayedResult } from '../replayed-calls.ts'

const readUse = (block: Node): readonly Part[] => {
  const id = requiredText(block, 'id')
  const name = requiredText(block, 'name')
  const place = placeOfServerCall(id)
  const own = serverToolName(name)
  const claudes = place === null ? undefined : claudesTool(name)
  const tool = isServerTool(own) ? own : claudes
  // The result of a call that a vendor ran can be read only by that vendor.
  if (tool === undefined) return [unknownContent('server_tool_use', block)]
  passOverDirectCaller(block)
  return [
    replayedCall({
      id: optionalText(block, 'call_id') ?? id,
      tool,
      instance: optionalText(block, 'instance_name'),
      arguments: JSON.stringify(member(block, 'input') ?? {}),
      place: place ?? UNKNOWN_PLACE,
      catalog: optionalText(block, 'catalog'),
    }),
  ]
}

const claudesTool = (name: string): ServerTool | undefined => {
  if (name.startsWith('tool_search_tool_')) return 'tool_search'
  return isServerTool(name) ? name : undefined
}

/** `isOwn`: the type is one that no vendor uses. */
const readResult =
  (type: string, isOwn: boolean) =>
  (block: Node): readonly Part[] => {
    const id = requiredText(block, 'tool_use_id')
    if (!isOwn && placeOfServerCall(id) === null) return [unknownContent(type, block)]
    const content = member(block, 'content')
    // The call has it.
    member(block, 'name')
    passOverDirectCaller(block)
    const result = shownResult(content)
    return [
      replayedResult({
        callId: optionalText(block, 'call_id') ?? id,
        text: typeof result === 'string' ? result : JSON.stringify(result),
        failed: isObject(content) && typeof content['error_code'] === 'string',
        sealed: sealedIn(content),
      }),
    ]
  }

export const SERVER_TOOL_BLOCKS: PartReaders = {
  server_tool_use: readUse,
  ...Object.fromEntries(
    ['web_search', 'web_fetch', 'tool_search', 'advisor'].map((tool) => {
      const type = `${tool}_tool_result`
      return [type, readResult(type, false)]
    }),
  ),
  ...Object.fromEntries(
    ['service', 'service_shell', 'service_bash', 'openrouter', 'openrouter_shell', 'openrouter_bash'].map((tool) => {
      const type = `${tool}_tool_result`
      return [type, readResult(type, true)]
    }),
  ),
}

/** The part of a result that a model can read, in the form that tools give it. */
const shownResult = (content: unknown): unknown => {
  if (Array.isArray(content)) {
    const blocks = objectsIn(content)
    const texts = textsIn(blocks.map(({ text }) => text))
    if (texts.length > 0) return texts.join('\n')
    return { results: blocks.map(({ url, title }) => ({ url, title })) }
  }
  if (!isObject(content)) return content ?? {}
  if (content['type'] === 'advisor_result') return { status: 'ok', advice: content['text'] }
  const { type: _type, content: document, error_code, error_message, ...rest } = content
  if (isObject(document)) return shownPage(rest, document)
  return {
    ...rest,
    ...(error_code === undefined ? {} : { error: error_code, ...(error_message === undefined ? {} : { message: error_message }) }),
  }
}

/** The page as the tool reported it, except for the address after redirects. Text of strangers is marked as untrusted here too. */
const shownPage = (
  { url, retrieved_at }: Readonly<Record<string, unknown>>,
  { title, source }: Readonly<Record<string, unknown>>,
): unknown => ({
  untrusted: true,
  source: url,
  url,
  title,
  content: isObject(source) ? source['data'] : '',
  status: 'completed',
  http_status: 200,
  retrieved_at,
})

/** The first block's seal holds everything that the model read. */
const sealedIn = (content: unknown): string | null => {
  const first: unknown = Array.isArray(content) ? content[0] : content
  const sealed = isObject(first) ? first['encrypted_content'] : undefined
  return typeof sealed === 'string' ? sealed : null
}
