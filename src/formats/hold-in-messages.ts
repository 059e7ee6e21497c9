/** Settings that single messages change: the effort (Messages), and tools, which SGLang reads from messages as well. */
import { addsToolsByMessages, toolsOfMessage } from '../canonical/added-tools.ts'
import type { JsonBody } from '../lib/json/json-body.ts'
import { editElementsInSteps, editMembers } from '../lib/json/json-splice.ts'
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

/** Removes the tools of messages, for a preset that locks its tools. */
export function* withoutToolsOfMessages(body: JsonBody): Steps<HeldMembers> {
  const may = yield* addsToolsByMessages(body.raw('messages') ?? '')
  return may ? yield* without(body, 'tools', (message) => toolsOfMessage(message).length > 0) : NOTHING
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

const setsEffort = ({ role, output_config: config }: JsonObject): boolean =>
  role === 'system' && isObject(config) && (config['effort'] ?? null) !== null

const isEmpty = (content: unknown = null): boolean => content === null || content === '' || (Array.isArray(content) && content.length === 0)
