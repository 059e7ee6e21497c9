/** Parses a Responses body into the canonical prompt (docs/contract/responses.md#request). */
import { ADDS_TOOLS } from '../../canonical/added-tools.ts'
import type { Message, Prompt } from '../../canonical/prompt.ts'
import type { JsonBody } from '../../lib/json/json-body.ts'
import { mapInSteps, type Steps } from '../../lib/steps.ts'
import { bodyNode, children, malformed, member, type Node, nodesAt, optionalChild, watchedNode, whole } from '../json-node.ts'
import { readOutputFormat } from '../openai-output-format.ts'
import { otherFields } from '../other-fields.ts'
import { joinTurns, type Piece } from '../prompt-reader.ts'
import { withReplayedTurns } from '../replayed-calls.ts'
import { readOpenAiTools } from '../tool-reader.ts'
import { startUnreadMembers, type UnreadMembers } from '../unread-members.ts'
import { isUpdate, readUpdates, type Updated } from './configuration-updates.ts'
import { readItem } from './read-item.ts'
import { readResponsesSettings } from './read-settings.ts'
import { readWaitingAgent, separateAgents } from './waiting-agents.ts'

/** Throws `invalid_prompt` naming the faulty input item, or `invalid_request` for a fault outside the input. */
export function* parsePrompt(body: JsonBody): Steps<Prompt> {
  const root = bodyNode(body)
  const text = optionalChild(root, 'text')
  const unread = startUnreadMembers('responses')
  const input = yield* readInput(member(root, 'input'), unread)
  yield
  const instructions = readInstructions(member(root, 'instructions'))
  const tools = yield* readOpenAiTools(root, (node) => node, input.tools)
  yield
  const { updated } = input
  // An update takes its place, so it is not lost.
  if (text !== null && updated.text !== null) member(text, 'format')
  const prompt = {
    messages: [...instructions, ...input.messages],
    ...tools,
    outputFormat: readOutputFormat(updated.text ?? text, 'format', (format) => format),
    settings: readResponsesSettings(root, text, updated.effort),
  }
  yield
  for (const item of [...input.adding, ...updated.watched]) unread.note(item)
  return { ...prompt, otherFields: otherFields('responses', root, unread.paths) }
}

const readInstructions = (value: unknown): Message[] => {
  if (value === undefined) return []
  if (typeof value !== 'string') throw malformed('invalid_prompt', 'instructions', 'must be a string')
  return [{ role: 'system', parts: [{ type: 'text', text: value }], at: 'instructions' }]
}

/** All members but the tools: a search that has ended is read as an item, and an addition has nothing else to say. */
const passOverOwn = (item: Node): void => {
  if (item.members['type'] === 'tool_search_output') whole(item)
  else for (const key of ['type', 'role']) member(item, key)
}

interface Input {
  readonly messages: readonly Message[]
  /** The items that add tools during the conversation, and these tools. */
  readonly adding: readonly Node[]
  readonly tools: readonly Node[]
  readonly updated: Updated
}

function* readInput(value: unknown, unread: UnreadMembers): Steps<Input> {
  if (typeof value === 'string') {
    const messages: Message[] = [{ role: 'user', parts: [{ type: 'text', text: value }], at: 'input' }]
    return { messages, adding: [], tools: [], updated: readUpdates([]) }
  }
  const all = nodesAt(value, 'input')
  const { items, waiting } = separateAgents(all)
  const read = (item: Node): Piece => {
    const agent = waiting.get(item)
    if (agent === undefined) return unread.reading(item, readItem)
    return { role: 'assistant', parts: readWaitingAgent(item, agent), open: true, at: item.path }
  }
  yield
  const pieces = yield* mapInSteps(
    items.filter((item) => item.members['type'] !== 'additional_tools' && !isUpdate(item)),
    read,
  )
  if (all.length > 0 && pieces.length === 0) throw malformed('invalid_prompt', 'input', 'must hold a message for the model to answer')
  yield
  const adding = items.filter((item) => ADDS_TOOLS.has(item.members['type'])).map(watchedNode)
  for (const item of adding) passOverOwn(item)
  return {
    messages: withReplayedTurns(joinTurns(pieces)),
    adding,
    tools: adding.flatMap((item) => children(item, 'tools')),
    updated: readUpdates(items),
  }
}
