/**
 * Tools that the service runs, as blocks of a message: each call is directly followed by its result. If Claude has such a tool,
 * the blocks are Claude's own; the others have blocks that typed clients keep without interpreting them
 * (docs/contract/messages.md#server-tools).
 */
import type { ServerCall, ServerOutcome, ServerTool, ServerToolFault } from '../../canonical/server-tools.ts'
import type { JsonObject, JsonValue } from '../../lib/json/json.ts'
import { imageBlock } from './image-block.ts'

/** `input`: a stream opens the block with an empty one and sends the actual one afterwards. */
export const useBlock = (call: ServerCall, input: JsonObject = call.input): JsonObject => ({
  type: 'server_tool_use',
  id: call.id,
  name: nameOf(call),
  input,
  ...originOf(call),
})

/**
 * The model's own id and name of the call, for when the block is sent back. Typed clients may drop them; then the block's id is
 * used as the call's.
 */
const originOf = ({ callId, name, tool, catalog }: ServerCall): JsonObject => ({
  call_id: callId,
  ...(name === `service_${tool}` ? {} : { instance_name: name }),
  ...(catalog === undefined ? {} : { catalog }),
})

export const resultBlock = (call: ServerCall, outcome: ServerOutcome): JsonObject => {
  const { type, content } = RESULTS[call.tool] ?? OTHER
  const prefix = call.askedAs.startsWith('openrouter:') ? 'openrouter' : 'service'
  return {
    type: type(prefix),
    tool_use_id: call.id,
    call_id: call.callId,
    ...(type === OTHER.type ? { name: nameOf(call) } : {}),
    content: content(outcome),
  }
}

/** Claude's own name for its tools, in any of their versions; otherwise the type that the client asked for. */
const nameOf = ({ tool, askedAs }: ServerCall): string => {
  if (tool === 'tool_search') return askedAs.includes('bm25') ? 'tool_search_tool_bm25' : 'tool_search_tool_regex'
  return NATIVE.has(tool) ? tool : askedAs
}

const NATIVE: ReadonlySet<ServerTool> = new Set(['web_search', 'web_fetch', 'advisor'])

interface ResultForm {
  type(prefix: string): string
  content(outcome: ServerOutcome): JsonValue
}

const RESULTS: Readonly<Partial<Record<ServerTool, ResultForm>>> = {
  web_search: {
    type: () => 'web_search_tool_result',
    content: ({ fault, value, sealed = '' }) => {
      if (fault !== null) return { type: 'web_search_tool_result_error', error_code: codeOf(fault, SEARCH_CODES, 'unavailable') }
      return listOf(value['results']).map(({ url = '', title = '', published = null }, index) => ({
        type: 'web_search_result',
        url,
        title,
        page_age: published,
        // The first result's seal holds everything that the model read.
        encrypted_content: index === 0 ? sealed : '',
      }))
    },
  },
  web_fetch: {
    type: () => 'web_fetch_tool_result',
    content: ({ fault, value }) => {
      if (fault !== null) return { type: 'web_fetch_tool_result_error', error_code: codeOf(fault, FETCH_CODES, 'url_not_accessible') }
      const { url = '', title = null, content = '', retrieved_at = null } = value
      const document = { type: 'document', source: { type: 'text', media_type: 'text/plain', data: content }, title, citations: null }
      return { type: 'web_fetch_result', url, retrieved_at, content: document }
    },
  },
  tool_search: {
    type: () => 'tool_search_tool_result',
    content: ({ fault, value }) =>
      fault === null
        ? {
            type: 'tool_search_tool_search_result',
            tool_references: listOf(value['tools']).map(({ name = '' }) => ({ type: 'tool_reference', tool_name: name })),
          }
        : {
            type: 'tool_search_tool_result_error',
            error_code: codeOf(fault, TOOL_SEARCH_CODES, 'unavailable'),
            error_message: fault.message,
          },
  },
  advisor: {
    type: () => 'advisor_tool_result',
    content: ({ fault, value }) =>
      fault === null
        ? { type: 'advisor_result', text: value['advice'] ?? '', stop_reason: 'end_turn' }
        : { type: 'advisor_tool_result_error', error_code: codeOf(fault, ADVISOR_CODES, 'unavailable') },
  },
  shell: { type: (prefix) => `${prefix}_shell_tool_result`, content: ({ value }) => value },
  bash: { type: (prefix) => `${prefix}_bash_tool_result`, content: ({ value }) => value },
}

/** Claude has no published block for the other tools; this one holds the text that the model read, and images. */
const OTHER: ResultForm = {
  type: () => 'service_tool_result',
  content: ({ text, pictures = [] }) => [{ type: 'text', text }, ...pictures.map(imageBlock)],
}

/** Typed clients know only these codes; any other fault is reported with the block's general code. */
const codeOf = ({ code }: { readonly code: ServerToolFault }, known: readonly ServerToolFault[], general: ServerToolFault): string =>
  known.includes(code) ? code : general

const COMMON: readonly ServerToolFault[] = ['invalid_tool_input', 'too_many_requests']
const SEARCH_CODES: readonly ServerToolFault[] = [...COMMON, 'max_uses_exceeded', 'query_too_long', 'request_too_large']
const FETCH_CODES: readonly ServerToolFault[] = [
  ...COMMON,
  'max_uses_exceeded',
  'url_too_long',
  'url_not_allowed',
  'url_not_in_prior_context',
  'unsupported_content_type',
  'content_too_large',
  'unavailable',
]
const TOOL_SEARCH_CODES: readonly ServerToolFault[] = [...COMMON, 'execution_time_exceeded']
const ADVISOR_CODES: readonly ServerToolFault[] = [
  'max_uses_exceeded',
  'prompt_too_long',
  'too_many_requests',
  'execution_time_exceeded',
  'model_not_found',
]

const listOf = (value: JsonValue | undefined): readonly JsonObject[] =>
  Array.isArray(value)
    ? (value as readonly JsonValue[]).filter(
        (item): item is JsonObject => typeof item === 'object' && item !== null && !Array.isArray(item),
      )
    : []
