/**
 * Reads an item of the input: a message, thinking, or a call and its result; each is a piece of a turn
 * (docs/contract/responses.md#input).
 */
import { answeredBuiltIn, builtInArguments, builtInOutput, calledBuiltIn } from '../../canonical/built-in-tools.ts'
import type { MessagePhase, Part } from '../../canonical/prompt.ts'
import { isObject } from '../../lib/json/json.ts'
import { urlOfMedia } from '../../lib/network/data-url.ts'
import { openProof, type ReasoningProof, UNSIGNED } from '../../canonical/reasoning.ts'
import { children, member, type Node, optionalText, requiredText, requiredUrl, requiredWord } from '../json-node.ts'
import {
  cacheMark,
  type PartReaders,
  type Piece,
  passOverDirectCaller,
  readAnnotations,
  readContent,
  readerFor,
  type Readers,
  toolResult,
  unknownContent,
  unknownAt,
  unknownPart,
  type UnknownPart,
} from '../prompt-reader.ts'
import { fileAddress, imageDetail, readInputAudio } from '../media-parts.ts'
import { RESPONSES_ROLES } from '../roles.ts'
import { readServerToolItem } from './read-server-tool-item.ts'

export const readItem = (item: Node): Piece => {
  // A message may omit its type.
  const type = optionalText(item, 'type') ?? 'message'
  const ran = readServerToolItem(type, item)
  if (ran !== null) return { ...ofAssistant(ran), at: item.path }
  const piece = readerFor(ITEMS, type)?.(item) ??
    readBuiltIn(item) ??
    readOtherCall(type, item) ?? {
      role: fromClient(type) ? 'user' : 'assistant',
      parts: [unknownPart(type, item)],
      open: true,
    }
  return { ...piece, at: item.path }
}

/** Tool outputs and approvals come from the client; every other item without a canonical form belongs to the model's turn. */
const fromClient = (type: string): boolean => type.endsWith('_output') || type === 'mcp_approval_response'

const ofAssistant = (parts: readonly Part[]): Piece => ({ role: 'assistant', parts, open: true })

const ITEMS: Readers<Piece> = {
  message: (item) => readMessage(item),
  reasoning: (item) => ofAssistant(readReasoning(item)),
  function_call: (item) => ofAssistant([{ ...readCall(item), arguments: optionalText(item, 'arguments') ?? '{}' }]),
  custom_tool_call: (item) => ofAssistant([{ ...readCall(item), arguments: optionalText(item, 'input') ?? '', custom: true }]),
  function_call_output: (item) => readOutput(item),
  custom_tool_call_output: (item) => readOutput(item),
  image_generation_call: (item) => ofAssistant(readPicture(item)),
  // OpenAI ran the program, so the output is no client's.
  program_output: (item) => ofAssistant([unknownPart('program_output', item)]),
  // Asks for a summary in place of an answer: an answer would take the place of the conversation.
  compaction_trigger: (item) => ({ role: 'user', parts: [unknownContent('compaction_trigger', item)], open: true }),
}

/** Reads a call of a built-in tool, or its output. The output of a local shell may have its call's id in either member. */
const readBuiltIn = (item: Node): Piece | null => {
  const { members } = item
  const id = members['call_id'] ?? (members['type'] === 'local_shell_call_output' ? members['id'] : null)
  if (typeof id !== 'string') return null
  const builtIn = calledBuiltIn(members)
  if (builtIn !== null || answeredBuiltIn(members) !== null) {
    for (const key of BUILT_IN_MEMBERS) member(item, key)
  }
  passOverDirectCaller(item)
  if (builtIn !== null)
    return ofAssistant([{ type: 'tool-call', id, name: builtIn, builtIn, arguments: builtInArguments(builtIn, members) }])
  if (answeredBuiltIn(members) === null) return null
  return { role: 'user', parts: toolResult(id, [{ type: 'text', text: builtInOutput(members) }]), open: true }
}

/** The run is over: its output is cut to its limit already, and its environment means nothing to another one. */
const BUILT_IN_MEMBERS = ['call_id', 'action', 'operation', 'output', 'max_output_length', 'environment'] as const

/**
 * Reads calls of other client tools that have item types of their own (`tool_search_call`, `computer_call`), and their outputs.
 * Returns null for what a provider ran itself, which has no `call_id`.
 */
const readOtherCall = (type: string, item: Node): Piece | null => {
  const id = item.members['call_id']
  if (typeof id !== 'string' || !/_(?:call|output)$/.test(type)) return null
  member(item, 'call_id')
  // Either side may have run the call, wherever; it is over.
  for (const key of ['execution', 'environment']) member(item, key)
  passOverDirectCaller(item)
  if (type.endsWith('_call'))
    return ofAssistant([{ type: 'tool-call', id, name: type.slice(0, -'_call'.length), arguments: textOf(otherArguments(item)) }])
  const output = member(item, 'output')
  const tools = member(item, 'tools')
  const found = Array.isArray(tools) ? { tools: tools.flatMap((tool: unknown) => (isObject(tool) ? [tool['name']] : [])) } : ''
  const seen = isObject(output) ? output['image_url'] : null
  const said: Part = typeof seen === 'string' ? { type: 'image', url: seen } : { type: 'text', text: textOf(output ?? found) }
  return { role: 'user', parts: toolResult(id, [said]), open: true }
}

/** A computer may get several actions at once. */
const otherArguments = (item: Node): unknown => {
  const key = ['action', 'actions', 'operation', 'arguments'].find((one) => (item.members[one] ?? null) !== null)
  if (key === undefined) return {}
  return key === 'actions' ? { actions: member(item, key) } : member(item, key)
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value))

const readCall = (item: Node): Omit<Extract<Part, { type: 'tool-call' }>, 'arguments'> => {
  const namespace = optionalText(item, 'namespace')
  passOverDirectCaller(item)
  return {
    type: 'tool-call',
    id: requiredText(item, 'call_id'),
    name: requiredText(item, 'name'),
    ...(namespace === null ? {} : { namespace }),
  }
}

/** Reads an image from an earlier answer of this service: base64, or its URL. */
const readPicture = (item: Node): Part[] => {
  const result = optionalText(item, 'result') ?? ''
  if (result === '') return [unknownPart('image_generation_call', item)]
  // The picture is made; these say how.
  for (const key of ['action', 'revised_prompt', 'background', 'quality', 'size']) member(item, key)
  const format = optionalText(item, 'output_format') ?? 'png'
  const type = format === 'svg' ? 'svg+xml' : format
  return [{ type: 'image', url: urlOfMedia(result, `image/${type}`) }]
}

/** Codex sends outputs that belong to no call, some of them without an id; the translation decides how to handle them. */
const readOutput = (item: Node): Piece => {
  passOverDirectCaller(item)
  // The call has its name.
  for (const key of ['name', 'namespace']) member(item, key)
  const content = isAbsent(item, 'output') ? [] : readContent(item, 'output', PARTS)
  return { role: 'user', parts: toolResult(optionalText(item, 'call_id') ?? '', content), open: true }
}

const readMessage = (item: Node): Piece => {
  const role = requiredWord(item, 'role', RESPONSES_ROLES)
  const parts = readContent(item, 'content', PARTS)
  if (role !== 'assistant') return { role, parts, open: false }
  const phase = PHASES.find((known) => known === member(item, 'phase'))
  return { role, parts: phase === undefined ? parts : parts.map((part) => (part.type === 'text' ? { ...part, phase } : part)), open: true }
}

const PHASES: readonly MessagePhase[] = ['commentary', 'final_answer']

/**
 * Reads the full text if the item has it, otherwise its summary, joined as paragraphs; and the proof that the model's provider
 * wants back.
 */
const readReasoning = (item: Node): Part[] => {
  const full = readTexts(item, 'content')
  const summarized = full === '' ? readTexts(item, 'summary') : ''
  // A full text holds what its summary says, and only routers name the form of a proof.
  for (const key of ['summary', 'format']) member(item, key)
  const shown = full === '' ? summarized : full
  const read = readProof(item)
  if (shown === '' && read === null) return []
  const summary = full === '' && shown !== '' ? { summary: true } : {}
  if (read === null) return [{ type: 'reasoning', text: shown, ...summary }]
  // A signature is valid only for its own text, even if the client changed or dropped the readable one.
  const { text, ...proof } = read
  return [text === undefined ? { type: 'reasoning', text: shown, ...summary, proof } : { type: 'reasoning', text, proof }]
}

const readTexts = (item: Node, key: string): string =>
  children(item, key)
    .map((part) => requiredText(part, 'text'))
    .join('\n\n')

const readProof = (item: Node): ReasoningProof | null => {
  const data = optionalText(item, 'encrypted_content')
  if (data === null || data === '' || data === UNSIGNED) return null
  const id = optionalText(item, 'id')
  return openProof(data) ?? { format: 'openai-responses-v1', kind: 'encrypted', data, ...(id === null ? {} : { id }) }
}

const text = (part: Node): Part[] => [{ type: 'text', text: requiredText(part, 'text'), ...cacheMark(part) }]

const PARTS: PartReaders = {
  input_text: text,
  text,
  output_text: (part) => {
    const { urls, others } = readAnnotations(part, (annotation) => annotation)
    return [...text(part).map((said) => (urls.length === 0 ? said : { ...said, annotations: urls })), ...others]
  },
  refusal: (part) => [{ type: 'refusal', text: requiredText(part, 'refusal') }],
  input_image: (part) =>
    isAbsent(part, 'image_url')
      ? [unknownContent('input_image', part)]
      : [{ type: 'image', url: requiredUrl(part, 'image_url'), ...imageDetail(part), ...cacheMark(part) }],
  input_audio: readInputAudio,
  input_video: (part) => [{ type: 'video', url: requiredUrl(part, 'video_url') }],
  input_file: (part) => readFile(part),
}

/** Reads a file part. A `file_id` refers to another service's storage. */
const readFile = (part: Node): Part[] => {
  const filename = optionalText(part, 'filename')
  const data = optionalText(part, 'file_data')
  if (data !== null) return [{ type: 'file', url: fileAddress(data, filename), filename, ...cacheMark(part) }, ...fileDetail(part)]
  if (isAbsent(part, 'file_url')) return [unknownContent('input_file', part)]
  return [{ type: 'file', url: requiredUrl(part, 'file_url'), filename, ...cacheMark(part) }, ...fileDetail(part)]
}

/** The detail at which a file is read; no other dialect can express it. */
const fileDetail = (part: Node): UnknownPart[] => {
  const { detail } = imageDetail(part)
  return detail === undefined ? [] : [unknownAt('detail', `${part.path}.detail`)]
}

const isAbsent = (part: Node, key: string): boolean => member(part, key) === undefined
