/** The input of a person in the playground, and the request that it becomes on each interface. */
import type { PresetShape } from '../api/presets.ts'
import { list } from '../loose.ts'

/** A turn that was written by hand, or one that a model returned and that is sent back unchanged (`raw`). */
export type Message =
  | { readonly role: 'user' | 'assistant'; readonly text: string }
  | { readonly role: 'raw'; readonly interface: PresetShape; readonly values: readonly unknown[]; readonly title: string }

/** The turns that are sent. */
export const written = (messages: readonly Message[]): readonly Message[] =>
  messages.filter((message) => message.role === 'raw' || message.text !== '')

export interface Asked {
  readonly interface: PresetShape
  readonly system: string
  readonly messages: readonly Message[]
  /** Further fields of the interface: `model`, `temperature`, `tools`. */
  readonly settings: Readonly<Record<string, unknown>>
  readonly stream: boolean
}

/** Messages requires a limit on the answer's tokens; the other interfaces do not. */
const MESSAGES_MAX_TOKENS = 1024

export const INFERENCE_PATHS: Readonly<Record<PresetShape, string>> = {
  chat: '/chat/completions',
  responses: '/responses',
  messages: '/messages',
}

export const INTERFACE_NAMES: Readonly<Record<PresetShape, string>> = { chat: 'Chat', responses: 'Responses', messages: 'Messages' }

/** Returns undefined for requests that nobody writes here: embeddings, and old records. */
export const inferencePath = (dialect: string | null): string | undefined =>
  Object.entries(INFERENCE_PATHS).find(([name]) => name === dialect)?.[1]

export const requestBody = ({ interface: dialect, system, messages, settings, stream }: Asked): Readonly<Record<string, unknown>> => {
  const turns = messages.flatMap((message): readonly unknown[] => {
    if (message.role === 'raw') return message.interface === dialect ? message.values : []
    return message.text === '' ? [] : [{ role: message.role, content: message.text }]
  })
  const streaming = stream ? { stream: true } : {}
  if (dialect === 'responses') return { ...settings, ...(system === '' ? {} : { instructions: system }), input: turns, ...streaming }
  if (dialect === 'messages') {
    return { max_tokens: MESSAGES_MAX_TOKENS, ...settings, ...(system === '' ? {} : { system }), messages: turns, ...streaming }
  }
  return { ...settings, messages: [...(system === '' ? [] : [{ role: 'system', content: system }]), ...turns], ...streaming }
}

/**
 * The conversation as a saved test stores it: turns of Chat Completions, and their tools. `left`: turns of another interface, which it
 * cannot store.
 */
export const testInputOf = ({
  interface: dialect,
  messages,
  settings,
}: Pick<Asked, 'interface' | 'messages' | 'settings'>): { readonly input: TestInput; readonly left: number } => {
  const isChat = dialect === 'chat'
  const turns = messages.flatMap((message): TestInput['messages'] => {
    if (message.role === 'raw') return isChat && message.interface === 'chat' ? (message.values as TestInput['messages']) : []
    return message.text === '' ? [] : [{ role: message.role, content: message.text }]
  })
  const { tools } = settings
  return {
    input: { messages: turns, ...(isChat && Array.isArray(tools) ? { tools: tools as TestInput['messages'] } : {}) },
    left: messages.filter((message) => message.role === 'raw' && !(isChat && message.interface === 'chat')).length,
  }
}

interface TestInput {
  readonly messages: readonly Readonly<Record<string, unknown>>[]
  readonly tools?: readonly Readonly<Record<string, unknown>>[]
}

/** The conversation of a stored request, as far as it is text. */
export const askedFrom = (
  body: Readonly<Record<string, unknown>>,
  dialect: PresetShape,
): Pick<Asked, 'system' | 'messages' | 'settings'> => {
  const { messages, input, instructions, system, stream: _stream, ...settings } = body
  const given = Array.isArray(messages) ? (messages as readonly unknown[]) : input
  const turns = typeof given === 'string' ? [{ role: 'user', content: given }] : list(given)
  const systems: string[] = []
  const said: Message[] = []
  for (const turn of turns) {
    const { role, content } = turn as { role?: unknown; content?: unknown }
    const text = textOf(content)
    if ((role === 'system' || role === 'developer') && text !== null) systems.push(text)
    else if ((role === 'user' || role === 'assistant') && text !== null && Object.keys(turn as object).every((name) => OF_TEXT.has(name)))
      said.push({ role, text })
    else said.push({ role: 'raw', interface: dialect, values: [turn], title: typeof role === 'string' ? role : 'item' })
  }
  return {
    system: [textOf(instructions) ?? '', textOf(system) ?? '', ...systems].filter((text) => text !== '').join('\n\n'),
    messages: said,
    settings,
  }
}

/** The members of a turn that is nothing but text. */
const OF_TEXT: ReadonlySet<string> = new Set(['type', 'role', 'content'])

/** Returns null if it holds more than text. */
const textOf = (content: unknown): string | null => {
  if (typeof content === 'string') return content
  if (!Array.isArray(content)) return null
  const texts = (content as readonly { text?: unknown; cache_control?: unknown }[]).map(({ text }) => text)
  return texts.every((text) => typeof text === 'string') ? texts.join('\n\n') : null
}
