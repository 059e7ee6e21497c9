/** Finds the calls of a conversation that the service ran: for a tool that remembers them, and for a model that must not see them. */
import type { Message, Part } from '../../canonical/prompt.ts'
import { SERVER_TOOLS } from '../../canonical/server-tools.ts'

export interface Exchange {
  /** The arguments and the result as JSON text. */
  readonly call: string
  readonly result: string
}

/** Returns the calls with this name that have a result. If their total length exceeds the limit, the first and the latest are kept. */
export const exchangesOf = (messages: readonly Message[], name: string, mostCharacters: number): readonly Exchange[] => {
  const parts = messages.flatMap((message) => message.parts)
  const results = new Map(parts.flatMap((part) => (part.type === 'tool-result' ? [[part.callId, part.text] as const] : [])))
  const all = parts.flatMap((part) => {
    const result = part.type === 'tool-call' && part.name === name ? results.get(part.id) : undefined
    return part.type === 'tool-call' && result !== undefined ? [{ call: part.arguments, result }] : []
  })
  return middleOut(all, mostCharacters)
}

const middleOut = (all: readonly Exchange[], mostCharacters: number): readonly Exchange[] => {
  const [first] = all
  if (first === undefined) return []
  let left = mostCharacters - lengthOf(first)
  const latest: Exchange[] = []
  for (const exchange of all.slice(1).toReversed()) {
    left -= lengthOf(exchange)
    if (left < 0) break
    latest.unshift(exchange)
  }
  return [first, ...latest]
}

const lengthOf = ({ call, result }: Exchange): number => call.length + result.length

const OWN_CALL = new RegExp(`^service_(?:${SERVER_TOOLS.join('|')})(?:__\\d+)?$`)

/** Returns the conversation without calls of service tools and their results. */
export const withoutServerTools = (messages: readonly Message[]): readonly Message[] => {
  const own = new Set(messages.flatMap(({ parts }) => parts.flatMap((part) => (isOwnCall(part) ? [part.id] : []))))
  return messages.flatMap((message) => {
    const parts = message.parts.filter((part) => !isOwnCall(part) && !(part.type === 'tool-result' && own.has(part.callId)))
    return parts.length === 0 ? [] : [{ ...message, parts }]
  })
}

const isOwnCall = (part: Part): part is Extract<Part, { type: 'tool-call' }> => part.type === 'tool-call' && OWN_CALL.test(part.name)
