/**
 * Tools that the service runs, as output items. An item has the type by which the client asked for the tool: our own
 * (`service:datetime`) or OpenAI's (`web_search_call`), whose clients also know its intermediate events
 * (docs/contract/responses.md#server-tools).
 */
import { serverToolName } from '../../canonical/server-tool-name.ts'
import type { ServerCall, ServerOutcome, ServerTool } from '../../canonical/server-tools.ts'
import { type JsonObject, listOf } from '../../lib/json/json.ts'

/** Renders one call as items: nearly always one; OpenAI's own forms of some tools put the result into a second item. */
export interface ToolItems {
  /** `outcome` is null while the tool runs. */
  item(call: ServerCall, outcome: ServerOutcome | null, asked: AskedContents): JsonObject
  result?(call: ServerCall, outcome: ServerOutcome): JsonObject
  /** Types of the events between the first event of an item and its end. */
  readonly begun: readonly string[]
  readonly ended: readonly string[]
}

/** The names of the service's tools that a request lists in `include`. */
export type AskedContents = ReadonlySet<string>

export const toolItems = ({ tool, askedAs }: ServerCall): ToolItems =>
  serverToolName(askedAs) === null ? (OPENAI_ITEMS[tool] ?? OWN_ITEMS) : OWN_ITEMS

const OWN_ITEMS: ToolItems = {
  item: (call, outcome, asked) => ({
    type: call.askedAs,
    id: call.id,
    status: ownStatus(call.tool, outcome),
    ...OWN_MEMBERS[call.tool]?.(call, outcome?.value ?? {}, asked),
    ...pictureMembers(outcome?.pictures?.[0]),
    call_id: call.callId,
    ...(outcome?.fault === null || outcome === null ? {} : { error: outcome.fault.message }),
    ...(outcome?.sealed === undefined ? {} : { encrypted_content: outcome.sealed }),
  }),
  begun: [],
  ended: [],
}

const pictureMembers = (dataUrl: string | undefined): JsonObject =>
  dataUrl === undefined ? {} : { result: base64Of(dataUrl), imageB64: base64Of(dataUrl), imageUrl: dataUrl }

/** Only these tools have a status for failure; the others are incomplete. */
const FAILABLE: ReadonlySet<ServerTool> = new Set(['advisor', 'subagent', 'shell', 'bash'])

const ownStatus = (tool: ServerTool, outcome: ServerOutcome | null): string => {
  if (outcome === null) return 'in_progress'
  if (outcome.fault === null) return 'completed'
  return FAILABLE.has(tool) ? 'failed' : 'incomplete'
}

type Members = (call: ServerCall, value: JsonObject, asked: AskedContents) => JsonObject

const OWN_MEMBERS: Readonly<Partial<Record<ServerTool, Members>>> = {
  datetime: (_, value) => pick(value, ['datetime', 'timezone']),
  experimental__search_models: ({ input, arguments: json }) => ({ ...pick(input, ['query']), arguments: json }),
  web_search: (call, value) => ({ action: searchAction(call, value) }),
  web_fetch: ({ input }, value, asked) => ({
    ...pick(input, ['url']),
    ...pick(value, ['url', 'title', ...(asked.has('web_fetch.content') ? ['content'] : [])]),
    ...(value['http_status'] === undefined ? {} : { httpStatus: value['http_status'] }),
  }),
  advisor: ({ input, name }, value) => ({
    ...pick(input, ['prompt']),
    ...pick(value, ['model', 'advice']),
    instance_name: name,
  }),
  subagent: ({ input, name, instance }, value) => ({
    ...pick(input, ['task_name', 'task_description']),
    ...pick(value, ['model', 'outcome']),
    ...(instance === undefined ? {} : { name: instance }),
    instance_name: name,
  }),
  fusion: (_, value) => pick(value, ['analysis', 'responses', 'failed_models', 'failure_reason', 'sources']),
  image_generation: ({ input }, value) => ({
    ...pick(input, ['prompt']),
    ...(value['revised_prompt'] === undefined ? {} : { revisedPrompt: value['revised_prompt'] }),
  }),
  apply_patch: ({ input }) => ({ operation: input }),
  tool_search: ({ input, arguments: json, catalog, name }) => ({
    query: input['query'] ?? input['pattern'] ?? '',
    arguments: json,
    ...(catalog === undefined ? {} : { catalog, instance_name: name }),
  }),
  files: ({ input, arguments: json }, value) => ({
    ...pick(input, ['operation', 'file_id', 'filename']),
    ...(value['result'] === undefined ? {} : { result: JSON.stringify(value['result']) }),
    arguments: json,
  }),
  shell: ({ input }, value) => ({
    action: pick(input, ['commands', 'timeout_ms', 'max_output_length']),
    ...pick(value, ['output', 'container_id']),
  }),
  bash: (_, value) => ({
    ...pick(value, ['command', 'stdout', 'stderr', 'container_id']),
    ...(value['exitCode'] === undefined ? {} : { exit_code: value['exitCode'] }),
  }),
}

const OPENAI_ITEMS: Readonly<Partial<Record<ServerTool, ToolItems>>> = {
  web_search: {
    item: (call, outcome) => ({
      type: 'web_search_call',
      id: call.id,
      call_id: call.callId,
      status: statusOf(outcome, 'failed'),
      action: searchAction(call, outcome?.value ?? {}),
      ...(outcome?.sealed === undefined ? {} : { encrypted_content: outcome.sealed }),
    }),
    begun: ['response.web_search_call.in_progress', 'response.web_search_call.searching'],
    ended: ['response.web_search_call.completed'],
  },
  image_generation: {
    item: (call, outcome) => ({
      type: 'image_generation_call',
      id: call.id,
      status: statusOf(outcome, 'failed'),
      result: base64Of(outcome?.pictures?.[0]),
    }),
    begun: ['response.image_generation_call.in_progress', 'response.image_generation_call.generating'],
    ended: ['response.image_generation_call.completed'],
  },
  tool_search: {
    item: ({ id, input, callId }, outcome) => ({
      type: 'tool_search_call',
      id,
      call_id: callId,
      execution: 'server',
      arguments: input,
      status: statusOf(outcome, 'incomplete'),
    }),
    result: ({ id, callId }, outcome) => ({
      type: 'tool_search_output',
      id: `${id}_output`,
      call_id: callId,
      execution: 'server',
      tools: listOf(outcome.value['definitions']),
      status: statusOf(outcome, 'incomplete'),
    }),
    begun: [],
    ended: [],
  },
  shell: {
    item: ({ id, input, callId }, outcome) => ({
      type: 'shell_call',
      id,
      call_id: callId,
      action: { commands: [], timeout_ms: null, max_output_length: null, ...pick(input, ['commands', 'timeout_ms', 'max_output_length']) },
      environment: null,
      status: statusOf(outcome, 'incomplete'),
    }),
    result: ({ id, input, callId }, outcome) => ({
      type: 'shell_call_output',
      id: `${id}_output`,
      call_id: callId,
      max_output_length: input['max_output_length'] ?? null,
      output: listOf(outcome.value['output']),
      status: statusOf(outcome, 'incomplete'),
    }),
    begun: [],
    ended: [],
  },
  apply_patch: {
    item: ({ id, input, callId }, outcome) => ({
      type: 'apply_patch_call',
      id,
      call_id: callId,
      operation: input,
      status: outcome === null ? 'in_progress' : 'completed',
    }),
    begun: [],
    ended: [],
  },
}

/** `faulty`: the status of a call that ended with a fault. */
const statusOf = (outcome: ServerOutcome | null, faulty: 'failed' | 'incomplete'): string => {
  if (outcome === null) return 'in_progress'
  return outcome.fault === null ? 'completed' : faulty
}

const searchAction = ({ input }: ServerCall, value: JsonObject): JsonObject => ({
  type: 'search',
  query: input['query'] ?? '',
  sources: listOf(value['results']).flatMap((result) =>
    typeof result === 'object' && result !== null && 'url' in result ? [{ type: 'url', url: result.url }] : [],
  ),
})

const base64Of = (dataUrl: string | undefined): string | null => dataUrl?.replace(/^data:[^,]*;base64,/, '') ?? null

/** Returns the members of `keys` that are present. */
const pick = (from: JsonObject, keys: readonly string[]): JsonObject =>
  Object.fromEntries(keys.flatMap((key) => (from[key] === undefined ? [] : [[key, from[key]]])))
