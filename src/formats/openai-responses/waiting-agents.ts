/**
 * Handles subagents that wait for functions which the client runs, in the input that brings the results: the agent's item, its
 * calls, and the outputs of those. They belong to the agent's conversation and not to the model's, which only made the call that
 * started the agent (docs/contract/responses.md#functions-of-subagents).
 */
import type { Part } from '../../canonical/prompt.ts'
import { serverToolName } from '../../canonical/server-tool-name.ts'
import type { WaitingAgent } from '../../canonical/waiting-agent.ts'
import { isObject, type JsonObject } from '../../lib/json/json.ts'
import { malformedMember, type Node } from '../json-node.ts'
import { readServerToolItem } from './read-server-tool-item.ts'

export interface SeparatedAgents {
  /** The items of the model's own conversation. An agent that has ended since is placed where it began. */
  readonly items: readonly Node[]
  readonly waiting: ReadonlyMap<Node, WaitingAgent>
}

/** Throws `invalid_request` for a call of a subagent whose item is not in the input. */
export const separateAgents = (items: readonly Node[]): SeparatedAgents => {
  const agents = items.filter(isAgent)
  const calls = items.filter(({ members }) => (members['subagent_id'] ?? null) !== null)
  if (calls.length === 0 && !agents.some(isWaiting)) return { items, waiting: new Map() }
  const known = new Set(agents.map(({ members }) => members['call_id']))
  for (const call of calls) {
    const id = call.members['subagent_id']
    if (typeof id !== 'string' || id === '' || !known.has(id))
      throw malformedMember(call, 'subagent_id', 'must be the call_id of a subagent in the input')
  }
  const callsOf = Map.groupBy(calls, ({ members }) => members['subagent_id'])
  const projected = new Set(calls)
  const own = new Set(calls.map(({ members }) => members['call_id']))
  const outputs = new Map(
    items.filter((item) => isOutput(item) && own.has(item.members['call_id'])).map((item) => [item.members['call_id'], item]),
  )
  const ended = new Map(agents.filter((item) => !isWaiting(item)).map((item) => [item.members['call_id'], item]))
  const begun = new Map(agents.filter(isWaiting).map((item) => [item.members['call_id'], item]))
  const waiting = new Map<Node, WaitingAgent>()
  const left = items.flatMap((item): readonly Node[] => {
    const id = item.members['call_id']
    if (projected.has(item) || (isOutput(item) && outputs.get(id) === item)) return []
    if (!isAgent(item)) return [item]
    if (!isWaiting(item)) return begun.has(id) ? [] : [item]
    const end = ended.get(id)
    // With the id of its beginning, the item belongs to the turn in which the agent was called.
    if (end !== undefined) return [{ ...end, members: { ...end.members, id: item.members['id'] } }]
    waiting.set(item, waitingAgent(item, callsOf.get(id) ?? [], outputs))
    return [item]
  })
  return { items: left, waiting }
}

/** Like `readServerToolItem`, for an agent that waits. */
export const readWaitingAgent = (item: Node, waiting: WaitingAgent): readonly Part[] =>
  (readServerToolItem(String(item.members['type']), item) ?? []).map((part): Part => {
    if (part.type === 'tool-call') return { ...part, waiting }
    return part.type === 'tool-result'
      ? { ...part, text: JSON.stringify({ status: 'error', error: waiting.fault ?? LOST }), isError: true }
      : part
  })

/** Used only if the agent is no longer offered. */
const LOST = 'The subagent cannot go on: it is not among the tools any more.'

const isAgent = ({ members: { type } }: Node): boolean => typeof type === 'string' && serverToolName(type) === 'subagent'

const isWaiting = (item: Node): boolean => isAgent(item) && item.members['status'] === 'in_progress'

const isOutput = ({ members: { type } }: Node): boolean => type === 'function_call_output'

const waitingAgent = (item: Node, calls: readonly Node[], outputs: ReadonlyMap<unknown, Node>): WaitingAgent => {
  const { call_id: id, task_name: name, task_description: description } = item.members
  if (typeof id !== 'string' || typeof name !== 'string' || typeof description !== 'string')
    return lost('Its item came back without call_id or task')
  const items: JsonObject[] = []
  let round: JsonObject[] = []
  for (const { members } of calls) {
    const account = members['subagent_items']
    const output = outputs.get(members['call_id'])
    if (output === undefined) return lost('A call has no function_call_output')
    if (account !== undefined && account !== null) {
      if (!Array.isArray(account) || !account.every(isObject)) return lost('Its subagent_items cannot be read')
      items.push(...round, ...(account as readonly JsonObject[]))
      round = []
    }
    round.push(output.members as JsonObject)
  }
  items.push(...round)
  if (calls.length === 0 || calls[0]?.members['subagent_items'] === undefined) return lost('Its calls did not come back whole')
  const answered = new Set(items.filter(({ type }) => type === 'function_call_output').map((one) => one['call_id']))
  const isWhole = items.every((one) => one['type'] !== 'function_call' || answered.has(one['call_id']))
  return isWhole ? { items, fault: null } : lost('Its calls did not come back whole')
}

const lost = (why: string): WaitingAgent => ({ items: [], fault: `The subagent cannot go on: ${why}.` })
