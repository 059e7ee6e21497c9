/** The turns of a request or an answer of any of the three interfaces. */
import { list, object } from '../loose.ts'

export type TurnPart =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'card'; readonly title: string; readonly value?: unknown }

export interface Turn {
  readonly role: string
  readonly parts: readonly TurnPart[]
}

/** Returns an empty list if the body is of none of them. */
export const turnsOf = (body: unknown): readonly Turn[] => {
  const { system, instructions, messages, input, choices, output, content, role } = object(body)
  return [
    ...said('system', system),
    ...said('system', instructions),
    ...list(messages).map(turnOf),
    ...(typeof input === 'string' ? said('user', input) : list(input).map(turnOf)),
    ...list(choices).map((choice) => turnOf({ role: 'assistant', ...object(object(choice)['message']) })),
    ...list(output).map((item) => turnOf({ role: 'assistant', ...object(item) })),
    ...(Array.isArray(content) ? [turnOf({ role: role ?? 'assistant', content })] : []),
  ].filter(({ parts }) => parts.length > 0)
}

const said = (role: string, content: unknown): readonly Turn[] => (content === undefined ? [] : [{ role, parts: partsOf(content) }])

const turnOf = (message: unknown): Turn => {
  const { role, type, content, tool_calls: calls, reasoning, summary, ...rest } = object(message)
  const spoken: TurnPart[] = [
    ...(typeof reasoning === 'string' ? [{ kind: 'card', title: 'reasoning', value: reasoning } as const] : []),
    ...partsOf(content),
    ...list(calls).map(callOf),
  ]
  if (typeof type === 'string' && type !== 'message' && content === undefined) {
    return {
      role: typeof role === 'string' ? role : 'assistant',
      parts: [{ kind: 'card', title: type, value: { ...rest, ...(summary === undefined ? {} : { summary }) } }],
    }
  }
  return { role: typeof role === 'string' ? role : 'assistant', parts: spoken }
}

const callOf = (call: unknown): TurnPart => {
  const { name, arguments: args } = object(object(call)['function'])
  return { kind: 'card', title: `tool call: ${String(name)}`, value: parsed(args) }
}

const partsOf = (content: unknown): readonly TurnPart[] => {
  if (typeof content === 'string') return content === '' ? [] : [{ kind: 'text', text: content }]
  return list(content).map((part) => {
    const { type, text, ...rest } = object(part)
    return typeof text === 'string' ? { kind: 'text', text } : { kind: 'card', title: String(type), value: rest }
  })
}

/** Arguments are JSON in a string, if the model kept to the format. */
const parsed = (text: unknown): unknown => {
  if (typeof text !== 'string') return text
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}
