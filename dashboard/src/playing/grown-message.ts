/**
 * Puts the deltas of a streamed Chat answer together to the message that a whole answer has, with every member that they bring, since the
 * next request must send all of it back: its thinking with the proofs, its refusal, its calls (docs/contract/chat-completions.md#messages).
 */
import { type Loose, object } from '../loose.ts'

export const grownMessage = (message: Loose, { role: _role, tool_calls: calls, reasoning_details: details, ...delta }: Loose): Loose => {
  const grown: Record<string, unknown> = { ...message, role: 'assistant' }
  for (const [name, piece] of Object.entries(delta)) grown[name] = joined(grown[name], piece)
  if (Array.isArray(details)) grown['reasoning_details'] = details.map(object).reduce(withDetail, list(grown['reasoning_details']))
  if (Array.isArray(calls)) grown['tool_calls'] = calls.map(object).reduce(withCall, list(grown['tool_calls']))
  return grown
}

/** Some providers state a member before it has a value. */
const joined = (before: unknown, piece: unknown): unknown => {
  if (piece === null || piece === undefined) return before ?? null
  if (typeof before === 'string' && typeof piece === 'string') return before + piece
  return Array.isArray(before) && Array.isArray(piece) ? [...(before as unknown[]), ...(piece as unknown[])] : piece
}

/** Pieces of one kind with the same `index` are one piece of reasoning. Its signature comes with the last of them. */
const withDetail = (before: readonly Loose[], piece: Loose): readonly Loose[] => {
  const last = before.at(-1)
  if (last === undefined || last['index'] === undefined || last['index'] !== piece['index'] || last['type'] !== piece['type'])
    return [...before, piece]
  const texts = ['text', 'summary'].filter((name) => typeof piece[name] === 'string')
  return [
    ...before.slice(0, -1),
    { ...last, ...piece, ...Object.fromEntries(texts.map((name) => [name, joined(last[name], piece[name])])) },
  ]
}

/** The pieces of a call have its `index`, of which a provider may leave some out. */
const withCall = (calls: readonly Loose[], piece: Loose): readonly Loose[] => {
  const before = calls.find(({ index }) => (index ?? 0) === (piece['index'] ?? 0))
  if (before === undefined) return [...calls, piece]
  const next = { ...before, ...piece, ...withTarget('function', before, piece), ...withTarget('custom', before, piece) }
  return calls.map((call) => (call === before ? next : call))
}

const withTarget = (kind: 'function' | 'custom', before: Loose, piece: Loose): Loose => {
  if (piece[kind] === undefined) return {}
  const target = { ...object(before[kind]) }
  for (const [name, value] of Object.entries(object(piece[kind]))) target[name] = name === 'name' ? value : joined(target[name], value)
  return { [kind]: target }
}

/** As the next request must send it. Null if it says nothing, which no provider accepts as a turn. */
export const sentMessage = ({ tool_calls: calls, ...message }: Loose): Loose | null => {
  const sent: Loose = {
    ...message,
    ...(calls === undefined ? {} : { tool_calls: list(calls).map(({ index: _index, ...call }) => call) }),
  }
  const isEmpty = Object.entries(sent).every(([name, value]) => name === 'role' || value === null || value === '')
  return isEmpty ? null : { ...sent, content: message['content'] ?? null }
}

const list = (value: unknown): readonly Loose[] => (Array.isArray(value) ? (value as readonly Loose[]) : [])
