/** Settings that single messages change: the effort (Messages), and tools, which SGLang reads from messages as well, and Claude from blocks. */
import { addsToolsByBlocks, addsToolsByMessages, definitionsOfMessage, toolsOfMessage } from '../canonical/added-tools.ts'
import type { JsonBody } from '../lib/json/json-body.ts'
import { scanElements } from '../lib/json/json-scan.ts'
import { editElements, editElementsInSteps, editMembers, readMembers } from '../lib/json/json-splice.ts'
import { isObject, listOf, type JsonChanges, type JsonObject } from '../lib/json/json.ts'
import { lookForName } from '../lib/text/may-name.ts'
import type { Steps } from '../lib/steps.ts'

interface HeldMembers {
  /** Replaces the messages by those that leave the setting as it is. */
  readonly changes: JsonChanges
  /** The paths at which a message changed it. */
  readonly paths: readonly string[]
}

/** Removes the changes of the effort, for a preset that locks it. The words of such a message stay. */
export function* withoutEffortChanges(body: JsonBody): Steps<HeldMembers> {
  const may = yield* lookForName(/"output_config"/, body.raw('messages') ?? '')
  return may ? yield* without(body, 'output_config', setsEffort, '.effort') : NOTHING
}

/** Removes the tools of messages, and blocks that define tools, for a preset that locks its tools. */
export function* withoutToolsOfMessages(body: JsonBody): Steps<HeldMembers> {
  const may = yield* addsToolsByMessages(body.raw('messages') ?? '')
  const tools = may ? yield* without(body, 'tools', (message) => toolsOfMessage(message).length > 0) : NOTHING
  const blocks = yield* withoutDefinitions(tools === NOTHING ? body : body.with(tools.changes))
  return { changes: { ...tools.changes, ...blocks.changes }, paths: [...tools.paths, ...blocks.paths] }
}

function* withoutDefinitions(body: JsonBody): Steps<HeldMembers> {
  const raw = body.raw('messages')
  if (raw?.startsWith('[') !== true || !(yield* addsToolsByBlocks(raw))) return NOTHING
  const messages = listOf(yield* body.parsing('messages'))
  const paths: string[] = []
  const kept = yield* editElementsInSteps(raw, (text, index) => {
    const defining = new Set(definitionsOfMessage(messages[index]).map(({ block }) => block))
    if (defining.size === 0) return text
    for (const block of defining) paths.push(`messages[${index}].content[${block}]`)
    const content = editElements(readMembers(text).get('content') ?? '[]', (block, place) =>
      defining.has(place) ? withoutChanges(block) : block,
    )
    return scanElements(content).length === 0 ? null : editMembers(text, { content })
  })
  return paths.length === 0 ? NOTHING : { changes: { messages: kept }, paths }
}

const NOTHING: HeldMembers = { changes: {}, paths: [] }

/** A message that says nothing else goes as a whole. */
function* without(body: JsonBody, member: string, isHeld: (message: JsonObject) => boolean, inside = ''): Steps<HeldMembers> {
  const raw = body.raw('messages')
  const messages = listOf(yield* body.parsing('messages'))
  if (raw?.startsWith('[') !== true) return NOTHING
  const paths: string[] = []
  const kept = yield* editElementsInSteps(raw, (text, index) => {
    const message = messages[index]
    if (!isObject(message) || !isHeld(message)) return text
    paths.push(`messages[${index}].${member}${inside}`)
    return isEmpty(message['content']) ? null : editMembers(text, { [member]: null })
  })
  return paths.length === 0 ? NOTHING : { changes: { messages: kept }, paths }
}

/** A summary stays, without its list of the tools that were added. Null for a block that only adds a tool. */
const withoutChanges = (block: string): string | null =>
  readMembers(block).has('tool_changes') ? editMembers(block, { tool_changes: null }) : null

const setsEffort = ({ role, output_config: config }: JsonObject): boolean =>
  role === 'system' && isObject(config) && (config['effort'] ?? null) !== null

const isEmpty = (content: unknown = null): boolean => content === null || content === '' || (Array.isArray(content) && content.length === 0)
