/**
 * Takes thinking out of a conversation that a provider cannot verify, both from a client's own JSON and from the canonical form. The words
 * and the calls of the turn stay.
 */
import { passesAsWritten, type ClientDialect } from '../../canonical/call.ts'
import type { Message, Part, Prompt } from '../../canonical/prompt.ts'
import { openProof } from '../../canonical/reasoning.ts'
import type { JsonBody } from '../../lib/json/json-body.ts'
import { editElementsInSteps, editMembers, rawMember } from '../../lib/json/json-splice.ts'
import { isObject, listOf, textOf, type JsonObject } from '../../lib/json/json.ts'
import type { Steps } from '../../lib/steps.ts'
import type { Attempt } from '../provider.ts'

/** `proof`: what the provider sent to prove the thinking; the id of an item that it sent without a proof. */
export type IsRefused = (proof: string) => boolean

/** Null if the conversation holds no such thinking. `own`: the client dialect that the provider speaks; null if no client speaks it. */
export function* withoutThinking(
  { call }: Pick<Attempt, 'call'>,
  own: ClientDialect | null,
  isRefused: IsRefused,
): Steps<Attempt['call'] | null> {
  if (own !== null && passesAsWritten(call, own)) {
    const body = yield* withoutThinkingInBody(call.body, own, isRefused)
    return body === null ? null : { ...call, body }
  }
  const given = call.prompt()
  const prompt = withoutThinkingInPrompt(given, isRefused)
  return prompt === given ? null : { ...call, prompt: () => prompt }
}

const withoutThinkingInPrompt = (prompt: Prompt, isRefused: IsRefused): Prompt => {
  const messages = prompt.messages.map((message): Message => {
    if (message.role !== 'assistant') return message
    const parts = message.parts.flatMap((part) => withoutProof(part, isRefused))
    if (parts.length === message.parts.length && parts.every((part, index) => part === message.parts[index])) return message
    const { own: _, ...rest } = message
    return { ...rest, parts }
  })
  return messages.every((message, index) => message === prompt.messages[index]) ? prompt : { ...prompt, messages }
}

const withoutProof = (part: Part, isRefused: IsRefused): readonly Part[] => {
  if ((part.type !== 'reasoning' && part.type !== 'tool-call') || part.proof === undefined || !isRefused(part.proof.data)) return [part]
  if (part.type === 'reasoning') return []
  const { proof: _, ...call } = part
  return [call]
}

/** The list with the conversation, and an edit of one of its elements, given as JSON text and as a value; null removes the element. */
interface Conversation {
  readonly list: string
  readonly edit: (text: string, element: JsonObject, isRefused: IsRefused) => Steps<string | null> | string | null
}

function* withoutThinkingInBody(body: JsonBody, own: ClientDialect, isRefused: IsRefused): Steps<JsonBody | null> {
  const { list, edit } = CONVERSATIONS[own]
  yield* body.reading([list])
  const given = body.raw(list)
  const elements = listOf(body.value(list))
  if (given?.startsWith('[') !== true) return null
  const kept = yield* editElementsInSteps(given, (text, index) => {
    const element = elements[index]
    return isObject(element) ? edit(text, element, isRefused) : text
  })
  return kept === given ? null : yield* body.changing({ [list]: kept })
}

/** The same proof, whether or not this service sealed it for the client. */
const proofIn = (value: unknown): string => openProof(textOf(value))?.data ?? textOf(value)

const editItem = (text: string, item: JsonObject, isRefused: IsRefused): string | null => {
  if (item['type'] !== 'reasoning') return text
  const proof = proofIn(item['encrypted_content'])
  return isRefused(proof === '' ? textOf(item['id']) : proof) ? null : text
}

function* editTurn(text: string, { role, content }: JsonObject, isRefused: IsRefused): Steps<string | null> {
  const blocks = listOf(content)
  const given = role === 'assistant' && blocks.length > 0 ? rawMember(text, 'content') : undefined
  if (given === undefined) return text
  const kept = yield* editElementsInSteps(given, (json, index) => {
    const block = blocks[index]
    if (!isObject(block)) return json
    const { type, signature, data } = block
    if (type !== 'thinking' && type !== 'redacted_thinking') return json
    return isRefused(proofIn(type === 'thinking' ? signature : data)) ? null : json
  })
  return kept === given ? text : editMembers(text, { content: kept })
}

function* editMessage(
  text: string,
  { role, reasoning_details: details, thinking_blocks: blocks, tool_calls: calls }: JsonObject,
  isRefused: IsRefused,
): Steps<string> {
  if (role !== 'assistant') return text
  const proofs = [...listOf(details), ...listOf(blocks)].map((held) => (isObject(held) ? textOf(held['signature'] ?? held['data']) : ''))
  const shown = proofs.some(isRefused) ? editMembers(text, { reasoning_details: null, thinking_blocks: null }) : text
  const signed = listOf(calls).some((call) => isRefused(signatureOf(call)))
  const given = signed ? rawMember(shown, 'tool_calls') : undefined
  if (given === undefined) return shown
  const kept = yield* editElementsInSteps(given, (json) => editMembers(json, { extra_content: null }))
  return editMembers(shown, { tool_calls: kept })
}

const signatureOf = (call: unknown): string => {
  const extra = isObject(call) ? call['extra_content'] : undefined
  const google = isObject(extra) ? extra['google'] : undefined
  return isObject(google) ? textOf(google['thought_signature']) : ''
}

const CONVERSATIONS: Readonly<Record<ClientDialect, Conversation>> = {
  chat: { list: 'messages', edit: editMessage },
  responses: { list: 'input', edit: editItem },
  messages: { list: 'messages', edit: editTurn },
}
