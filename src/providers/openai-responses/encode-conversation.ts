/** Encodes a conversation as input items in its own order: the dialect has an item for each thing that a turn can hold. */
import type { Message, MessagePhase, Part } from '../../canonical/prompt.ts'
import { mediaOfResult, piecesOfResult } from '../../canonical/result-pieces.ts'
import { isObject, type JsonObject } from '../../lib/json/json.ts'
import { mapInSteps, type Steps } from '../../lib/steps.ts'
import { answerable } from '../tools/answerable.ts'
import type { Target } from '../provider.ts'
import type { Translation } from '../losses/translation.ts'
import { callId, encodeAssistantPart, type ItemContext, encodeUserPart, type OutputPart } from './encode-parts.ts'
import type { OpenAiModel } from '../vendors/openai-model.ts'
import { vendorOf } from '../vendors/vendors.ts'
import type { LostMarks } from './lost-marks.ts'
import { type Item, withPhases } from './phases.ts'

export interface EncodedConversation {
  readonly instructions: string | null
  readonly input: readonly JsonObject[]
  /** The input contains thinking of earlier turns. */
  readonly replaysThinking: boolean
  /** At least one cache mark was kept. */
  readonly keepsMarks: boolean
}

export function* encodeConversation(
  translation: Translation,
  target: Target,
  family: OpenAiModel,
  marks: LostMarks,
): Steps<EncodedConversation> {
  const { messages } = translation.prompt
  const context: ItemContext = {
    lose: translation.lose,
    refuse: translation.refuse,
    target,
    family,
    marked: marks.lose,
    customCalls: new Set(),
  }
  const instructions = leadingInstructions(messages)
  const said = instructions === null ? messages : messages.slice(1)
  const items = (yield* mapInSteps(said, (message) => encodeMessage(message, context))).flat()
  yield
  const input = answerable(messages, dropDanglingThinking(family.phases ? withPhases(items) : items, translation))
  const keepsMarks = input.some(
    ({ content }) => Array.isArray(content) && content.some((part) => isObject(part) && 'prompt_cache_breakpoint' in part),
  )
  return { instructions, input, replaysThinking: input.some(({ type }) => type === 'reasoning'), keepsMarks }
}

/** The first system message comes before all items anyway; as `instructions` it has the form that a native client would use. */
const leadingInstructions = ([first, ...others]: readonly Message[]): string | null => {
  if (first === undefined || others.length === 0 || first.role !== 'system' || first.name !== undefined) return null
  const [part, ...more] = first.parts
  return part?.type === 'text' && more.length === 0 && part.cache === undefined ? part.text : null
}

const encodeMessage = (message: Message, context: ItemContext): Item[] => {
  const at = message.at ?? 'messages'
  if (message.name !== undefined) context.lose(`${at}.name`, 'This provider has no names of speakers; it was left out.')
  const items: Item[] = []
  let content: JsonObject[] = []
  let phase: MessagePhase | undefined
  const closeMessage = (): void => {
    if (content.length > 0)
      items.push({ at, json: { type: 'message', role: message.role, content, ...(phase === undefined ? {} : { phase }) } })
    content = []
    phase = undefined
  }
  const encodePart = message.role === 'assistant' ? encodeAssistantPart : encodeUserPart
  // Clients write the empty text of a turn of calls, which some servers refuse and which would part thinking from its call.
  const calls = message.parts.some(({ type }) => type === 'tool-call')
  for (const part of message.parts) {
    if (calls && part.type === 'text' && part.text === '') continue
    const output: OutputPart = itemOf(part, at, context) ?? encodePart(part, at, context)
    if (output === null) continue
    if ('content' in output) {
      if (part.type === 'text' && part.phase !== phase) {
        closeMessage()
        ;({ phase } = part)
      }
      content.push(output.content)
    } else {
      closeMessage()
      items.push({ at, json: output.item })
    }
  }
  closeMessage()
  return items
}

/** Parts that become items of their own in any role. */
const itemOf = (part: Part, at: string, context: ItemContext): OutputPart => {
  if (part.type === 'tool-call') {
    if (part.proof !== undefined) context.lose(at, 'The proof of a tool call belongs to another provider; it was left out.')
    if (part.cache !== undefined) context.marked(at)
    const called = { call_id: callId(part.id), name: part.name }
    if (part.custom !== true) return { item: { type: 'function_call', ...called, arguments: part.arguments } }
    context.customCalls.add(part.id)
    return { item: { type: 'custom_tool_call', ...called, input: part.arguments } }
  }
  if (part.type !== 'tool-result') return null
  if (part.isError === true) context.lose(at, 'This provider has no mark for a failed tool; its result was sent as it is.')
  if (part.cache !== undefined) context.marked(at)
  // Other servers of this dialect are known to take one text.
  const pieces = vendorOf(context.target.provider).openAiModels
    ? piecesOfResult(part)
    : [{ type: 'text', text: part.text } as const, ...mediaOfResult(part)]
  const listed = (part.text === '' ? mediaOfResult(part) : pieces).flatMap((piece): readonly JsonObject[] => {
    if (piece.type === 'text') return [{ type: 'input_text', text: piece.text }]
    const output = encodeUserPart(piece, at, context)
    return output !== null && 'content' in output ? [output.content] : []
  })
  return {
    item: {
      type: context.customCalls.has(part.callId) ? 'custom_tool_call_output' : 'function_call_output',
      call_id: callId(part.callId),
      output: listed.length === 0 || (listed.length === 1 && listed[0]?.['type'] === 'input_text') ? part.text : listed,
    },
  }
}

/** The API requires each piece of thinking to be followed by what it led to, in the same turn. */
const dropDanglingThinking = (items: readonly Item[], { lose }: Translation): JsonObject[] => {
  const kept: JsonObject[] = []
  let follower: JsonObject | null = null
  for (const { at, json } of items.toReversed()) {
    if (
      json['type'] === 'reasoning' &&
      !(follower?.['type'] === 'function_call' || follower?.['type'] === 'custom_tool_call' || follower?.['role'] === 'assistant')
    ) {
      lose(at, 'Thinking that led to nothing cannot be handed back to this provider; it was left out.')
      continue
    }
    kept.push(json)
    if (json['type'] !== 'reasoning') follower = json
  }
  return kept.reverse()
}
