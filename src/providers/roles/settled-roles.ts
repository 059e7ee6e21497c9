/**
 * Changes the roles of a conversation so that it keeps the rules of a server's template (role-rules.ts), both in a client's own JSON and in
 * the canonical form.
 */
import type { ClientDialect } from '../../canonical/call.ts'
import type { Message, Prompt } from '../../canonical/prompt.ts'
import type { JsonBody } from '../../lib/json/json-body.ts'
import { scanElements } from '../../lib/json/json-scan.ts'
import { editMembers } from '../../lib/json/json-splice.ts'
import { isObject, type JsonChanges, type JsonValue } from '../../lib/json/json.ts'
import { mapInSteps, type Steps } from '../../lib/steps.ts'
import { settleSystemTurns } from '../anthropic/system-turns.ts'
import type { RoleRule } from './role-rules.ts'

type Rules = ReadonlySet<RoleRule>

export interface Settled<Request> {
  readonly request: Request
  /** System messages were moved from where the client put them. */
  readonly moved: boolean
}

/** Null if the prompt keeps the rules already. */
export const settledPrompt = (prompt: Prompt, rules: Rules): Settled<Prompt> | null => {
  const given = prompt.messages
  const system = given.filter(isSystem)
  let messages: readonly Message[] = given
  let moved = false
  if (rules.has('system-first') && isMisplaced(given, system)) {
    moved = isBehindOthers(given)
    messages = [{ role: 'system', parts: system.flatMap(({ parts }) => parts) }, ...given.filter((message) => !isSystem(message))]
  }
  if (rules.has('no-developer') && messages.some(({ role }) => role === 'developer'))
    messages = messages.map((message) => (message.role === 'developer' ? { ...message, role: 'system' } : message))
  if (rules.has('alternating')) messages = joinNeighbours(messages, (run) => ({ ...run[0], parts: run.flatMap(({ parts }) => parts) }))
  return messages === given ? null : { request: { ...prompt, messages }, moved }
}

/** Null if the body keeps the rules already. */
export function* settledBody(dialect: ClientDialect, body: JsonBody, rules: Rules): Steps<Settled<JsonBody> | null> {
  const settled = yield* SETTLERS[dialect](body, rules)
  return settled === null ? null : { request: yield* body.changing(settled.request), moved: settled.moved }
}

interface WithRole {
  readonly role?: unknown
}

interface Turn extends WithRole {
  readonly text: string
  readonly content: JsonValue | undefined
}

const isSystem = ({ role }: WithRole): boolean => role === 'system' || role === 'developer'

const isMisplaced = (messages: readonly WithRole[], system: readonly WithRole[]): boolean =>
  system.length > 1 || (system.length === 1 && (messages[0] !== system[0] || system[0]?.role !== 'system'))

const isBehindOthers = (messages: readonly WithRole[]): boolean => {
  const first = messages.findIndex((message) => !isSystem(message))
  return first >= 0 && messages.slice(first).some(isSystem)
}

/** Returns the same list if no two messages of the user are adjacent. */
const joinNeighbours = <One extends WithRole>(
  messages: readonly One[],
  join: (neighbours: readonly [One, ...One[]]) => One,
): readonly One[] => {
  const runs: [One, ...One[]][] = []
  for (const message of messages) {
    const run = runs.at(-1)
    if (run?.[0].role === 'user' && message.role === 'user') run.push(message)
    else runs.push([message])
  }
  return runs.length === messages.length ? messages : runs.map((run) => (run.length === 1 ? run[0] : join(run)))
}

function* settledChat(body: JsonBody, rules: Rules): Steps<Settled<JsonChanges> | null> {
  const given = yield* turnsOf(body, 'messages')
  const system = given.filter(isSystem)
  let turns: readonly Turn[] = given
  let moved = false
  if (rules.has('system-first') && isMisplaced(given, system)) {
    moved = isBehindOthers(given)
    turns = [turnOf('system', joinedContent(system)), ...given.filter((turn) => !isSystem(turn))]
  }
  if (rules.has('no-developer') && turns.some(({ role }) => role === 'developer'))
    turns = turns.map((turn) =>
      turn.role === 'developer' ? { ...turn, role: 'system', text: editMembers(turn.text, { role: '"system"' }) } : turn,
    )
  if (rules.has('alternating')) turns = joinNeighbours(turns, (run) => turnOf('user', joinedContent(run)))
  yield
  return turns === given ? null : { request: { messages: listOf(turns) }, moved }
}

/** In this dialect system messages can go into `instructions`. */
function* settledInput(body: JsonBody, rules: Rules): Steps<Settled<JsonChanges> | null> {
  const items = yield* turnsOf(body, 'input')
  const system = items.filter(isSystem)
  const instructions = body.value('instructions')
  const others = items.filter((item) => !isSystem(item))
  const crowded = system.length > 1 || (system.length === 1 && (typeof instructions === 'string' || items[0] !== system[0]))
  if (rules.has('system-first') && crowded && others.length > 0) {
    const words = joinedContent(system)
    if (typeof words === 'string') {
      const all = typeof instructions === 'string' && instructions !== '' ? `${instructions}\n\n${words}` : words
      return { request: { instructions: JSON.stringify(all), input: listOf(others) }, moved: isBehindOthers(items) }
    }
  }
  if (rules.size === 0 || !items.some(({ role }) => role === 'developer')) return null
  const renamed = items.map(({ role, text }) => ({ text: role === 'developer' ? editMembers(text, { role: '"system"' }) : text }))
  return { request: { input: listOf(renamed) }, moved: false }
}

function* settledTurns(body: JsonBody, rules: Rules): Steps<Settled<JsonChanges> | null> {
  const messages = body.raw('messages')
  if (!rules.has('system-first') || messages?.startsWith('[') !== true) return null
  yield
  const settled = yield* settleSystemTurns(messages, body.raw('system'))
  return settled === null ? null : { request: { ...settled }, moved: true }
}

const SETTLERS: Readonly<Record<ClientDialect, (body: JsonBody, rules: Rules) => Steps<Settled<JsonChanges> | null>>> = {
  chat: settledChat,
  responses: settledInput,
  messages: settledTurns,
}

function* turnsOf(body: JsonBody, list: string): Steps<readonly Turn[]> {
  yield* body.reading([list])
  const values = body.value(list)
  const given = body.raw(list)
  if (given === undefined || !Array.isArray(values)) return []
  yield
  const elements = scanElements(given)
  yield
  return yield* mapInSteps(elements, ({ start, end }, index) => {
    const value: JsonValue | undefined = values[index]
    const [role, content] = isObject(value) ? [value['role'], value['content']] : []
    return { text: given.slice(start, end), role, content }
  })
}

const turnOf = (role: string, content: JsonValue): Turn => ({ role, content, text: JSON.stringify({ role, content }) })

const listOf = (turns: readonly Pick<Turn, 'text'>[]): string => `[${turns.map(({ text }) => text).join(',')}]`

/** One string with a paragraph for each part if all parts are text: many of these servers take nothing else in a system message. */
const joinedContent = (turns: readonly Turn[]): JsonValue => {
  const parts = turns.flatMap(({ content }): readonly JsonValue[] => {
    if (Array.isArray(content)) return content
    return typeof content === 'string' && content !== '' ? [{ type: 'text', text: content }] : []
  })
  const texts = parts.map((part) => (isObject(part) && typeof part['text'] === 'string' ? part['text'] : null))
  return texts.every((text) => text !== null) ? texts.join('\n\n') : parts
}
