/**
 * Subagents that wait for functions of the client's: the calls that the client gets and, in the request that brings the results, the agents
 * that continue before the model does (decisions/0079).
 */
import type { Frame } from '../../canonical/event.ts'
import type { Message } from '../../canonical/prompt.ts'
import type { IdSource } from '../../lib/id.ts'
import type { JsonObject } from '../../lib/json/json.ts'
import type { AwaitedCalls } from '../../tools/tool.ts'
import type { ModelCall } from './model-turn.ts'
import type { EndedCall } from './run-calls.ts'

/** The calls that started the waiting agents, in the order of the conversation. */
export const waitingCalls = (messages: readonly Message[], isOffered: (name: string) => boolean): readonly ModelCall[] =>
  messages.flatMap(({ parts }) =>
    parts.flatMap((part) =>
      part.type === 'tool-call' && part.waiting !== undefined && isOffered(part.name)
        ? [{ id: part.id, name: part.name, arguments: part.arguments, position: part.ran?.position ?? 0, waiting: part.waiting }]
        : [],
    ),
  )

/** The conversation with the results of agents that have finished. */
export const withResults = (messages: readonly Message[], ended: ReadonlyMap<string, EndedCall>): readonly Message[] =>
  ended.size === 0
    ? messages
    : messages.map((message) =>
        message.parts.some((part) => part.type === 'tool-result' && ended.has(part.callId))
          ? { ...message, parts: message.parts.map((part) => (part.type === 'tool-result' ? resultOf(part, ended) : part)) }
          : message,
      )

type ResultPart = Extract<Message['parts'][number], { type: 'tool-result' }>

const resultOf = (part: ResultPart, ended: ReadonlyMap<string, EndedCall>): ResultPart => {
  const outcome = ended.get(part.callId)?.outcome
  if (outcome === undefined) return part
  const { isError: _placeholder, ...result } = part
  return { ...result, text: outcome.text, ...(outcome.fault === null ? {} : { isError: true }) }
}

/**
 * The calls of waiting agents, for the client. `taken`: ids that calls of this conversation already have; agents have conversations of
 * their own, so a provider may give the same id again. `makeRoom` reserves indexes for that many calls and returns the first.
 */
export const callsOfAgents = (
  ended: readonly EndedCall[],
  taken: ReadonlySet<string>,
  makeRoom: (calls: number) => number,
  ids: IdSource,
): readonly Frame[] => {
  const used = new Set(taken)
  return ended.flatMap(({ call, waitsFor }): readonly Frame[] => {
    if (waitsFor === undefined) return []
    const { calls, items } = withFreeIds(waitsFor, used, ids)
    const first = makeRoom(calls.length)
    return calls.map(({ id, name, arguments: json }, index) => ({
      events: [
        {
          type: 'tool-call',
          index: first + index,
          id,
          name,
          subagent: { id: call.callId, ...(index === 0 ? { items } : {}) },
        },
        { type: 'tool-arguments', index: first + index, json },
      ],
    }))
  })
}

const withFreeIds = ({ calls, items }: AwaitedCalls, used: Set<string>, ids: IdSource): AwaitedCalls => {
  const renamed = new Map<unknown, string>()
  for (const { id } of calls) {
    if (used.has(id)) renamed.set(id, ids.prefixed('call'))
    used.add(renamed.get(id) ?? id)
  }
  if (renamed.size === 0) return { calls, items }
  return {
    calls: calls.map((call) => ({ ...call, id: renamed.get(call.id) ?? call.id })),
    items: items.map((item): JsonObject => {
      const id = item['type'] === 'function_call' ? renamed.get(item['call_id']) : undefined
      return id === undefined ? item : { ...item, call_id: id }
    }),
  }
}
