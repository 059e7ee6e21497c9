/**
 * The conversation of a request that contains an earlier answer's server tools (docs/contract/tools.md#server-tools). Their items are the
 * service's own, so no provider gets them as they are, not even one that speaks the client's dialect.
 */
import type { Call, ClientDialect } from '../../canonical/call.ts'
import { OWN_ID } from '../../canonical/place-of-call.ts'
import type { Message, Part, Prompt } from '../../canonical/prompt.ts'
import { mediaOfResult } from '../../canonical/result-pieces.ts'
import type { Warning } from '../../canonical/warning.ts'

export interface ReplayedConversation {
  /** Results are complete if their seals could be opened. */
  readonly prompt: Prompt
  readonly warnings: readonly Warning[]
}

/** Null if the conversation contains no call of the service's. `open` returns null for a seal that cannot be opened. */
export const replayedConversation = (call: Call, open: (sealed: string) => string | null): ReplayedConversation | null => {
  const [field, trace] = TRACES[call.dialect]
  if (!trace.test(call.body.rawSearchable(field) ?? '')) return null
  const warnings: Warning[] = []
  const prompt = call.prompt()
  const opened = (part: Part, at: string | undefined): Part => {
    if (part.type !== 'tool-result' || part.sealed === undefined) return part
    const { sealed, ...shown } = part
    const text = open(sealed)
    if (text === null) warnings.push(unopened(at ?? field))
    return text === null ? shown : { ...shown, text }
  }
  const messages = prompt.messages.map((message) =>
    message.parts.some((part) => part.type === 'tool-result' && part.sealed !== undefined)
      ? { ...message, parts: message.parts.map((part) => opened(part, message.at)) }
      : message,
  )
  return { prompt: { ...prompt, messages }, warnings }
}

/** Signs that a conversation may contain a call of the service's. Any other conversation costs one search without a match. */
const TRACES: Readonly<Record<ClientDialect, readonly [field: string, trace: RegExp]>> = {
  chat: ['messages', /reasoning\.server_tool_call/],
  responses: ['input', new RegExp(`"(?:service:|openrouter:|subagent_id")|${OWN_ID}`)],
  messages: ['messages', new RegExp(`"(?:service|openrouter)[:_]|${OWN_ID}`)],
}

const unopened = (field: string): Warning => ({
  code: 'unopened_result',
  field,
  message:
    'What a server tool returned earlier cannot be opened: it is too old, was changed, or belongs to another workspace. The model sees what the conversation shows of it.',
})

/** Turns calls of tools that the model is not offered this time into text: a provider may refuse a call of an undeclared tool. */
export const conversationFor = (messages: readonly Message[], offered: (name: string) => boolean): readonly Message[] =>
  withTexts(messages, ({ ran, name }) => ran !== undefined && !offered(name))

/** Turns every call into text, for a model that gets no tools. */
export const asTexts = (messages: readonly Message[]): readonly Message[] => withTexts(messages, () => true)

type CallPart = Extract<Part, { type: 'tool-call' }>

const withTexts = (messages: readonly Message[], isToldAsText: (call: CallPart) => boolean): readonly Message[] => {
  const reported = new Map<string, string>()
  for (const { parts } of messages) {
    for (const part of parts) if (part.type === 'tool-call' && isToldAsText(part)) reported.set(part.id, `${part.name} ${part.arguments}`)
  }
  return reported.size === 0 ? messages : messages.flatMap((message) => withoutCalls(message, reported, isToldAsText))
}

const withoutCalls = (
  message: Message,
  reported: ReadonlyMap<string, string>,
  isToldAsText: (call: CallPart) => boolean,
): readonly Message[] => {
  const texts = message.parts.flatMap((part): readonly Part[] => {
    const called = part.type === 'tool-result' ? reported.get(part.callId) : undefined
    return part.type === 'tool-result' && called !== undefined
      ? [{ type: 'text', text: `(earlier tool result) ${called}\n${part.text}` }, ...mediaOfResult(part)]
      : []
  })
  const kept = message.parts.filter(
    (part) => !(part.type === 'tool-call' && isToldAsText(part)) && !(part.type === 'tool-result' && reported.has(part.callId)),
  )
  if (kept.length === message.parts.length) return [message]
  const results = kept.filter(({ type }) => type === 'tool-result')
  const parts = [...results, ...texts, ...kept.filter(({ type }) => type !== 'tool-result')]
  // Reasoning that only led to such a call is meaningless without it.
  return parts.every(({ type }) => type === 'reasoning') ? [] : [{ ...message, parts }]
}
