/** System messages with which a Messages client changes the effort in the middle of a conversation. */
import type { JsonBody } from '../../lib/json/json-body.ts'
import { editElementsInSteps, editMembers } from '../../lib/json/json-splice.ts'
import { isObject, listOf, type JsonChanges } from '../../lib/json/json.ts'
import { lookForName } from '../../lib/text/may-name.ts'
import type { Steps } from '../../lib/steps.ts'

interface HeldEffort {
  /** Replaces the messages by those that leave the effort as it is. */
  readonly changes: JsonChanges
  /** The paths at which a message changed the effort. */
  readonly paths: readonly string[]
}

/** Removes the changes of the effort, for a preset that locks it. The words of such a message stay. */
export function* withoutEffortChanges(body: JsonBody): Steps<HeldEffort> {
  const raw = body.raw('messages')
  if (raw?.startsWith('[') !== true || !(yield* lookForName(/"output_config"/, raw))) return { changes: {}, paths: [] }
  const messages = listOf(yield* body.parsing('messages'))
  const paths: string[] = []
  const kept = yield* editElementsInSteps(raw, (text, index) => {
    const message = messages[index]
    const config = isObject(message) && message['role'] === 'system' ? message['output_config'] : undefined
    if (!isObject(message) || !isObject(config) || (config['effort'] ?? null) === null) return text
    paths.push(`messages[${index}].output_config.effort`)
    return isEmpty(message['content']) ? null : editMembers(text, { output_config: null })
  })
  return paths.length === 0 ? { changes: {}, paths } : { changes: { messages: kept }, paths }
}

const isEmpty = (content: unknown = null): boolean => content === null || content === '' || (Array.isArray(content) && content.length === 0)
