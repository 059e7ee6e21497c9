/**
 * Relays a chat client's own JSON to a chat upstream: byte for byte, except for the model, the fields that address this service, and what
 * the rules of the vendor and the model change (field-rules.ts, message-rules.ts).
 */
import { withoutUnsentFields } from '../../request-fields/service-fields.ts'
import type { JsonBody } from '../../lib/json/json-body.ts'
import type { Steps } from '../../lib/steps.ts'
import type { JsonObject, JsonChanges } from '../../lib/json/json.ts'
import { marksLost, type RefusedMarks, withTakenMarks } from '../cache-marks.ts'
import { fieldsOfBody } from '../vendors/editable-fields.ts'
import { openAiModelOf } from '../vendors/openai-model.ts'
import type { Attempt } from '../provider.ts'
import { refuseStoredObjects } from '../media/stored-objects.ts'
import type { Vendor } from '../vendors/vendor.ts'
import { applyFieldRules } from './field-rules.ts'
import { formatWords } from './format-words.ts'
import { relayedMessages } from './relay-messages.ts'

/** Returns the changes to the client's body. */
export function* relayChanges(given: Attempt, vendor: Vendor): Steps<JsonChanges> {
  yield* refuseStoredObjects(given.call.body, 'messages', given.target)
  const marks = yield* changedMarks(given, vendor)
  // Content without its marks may be text alone, which has rules of its own.
  const attempt =
    Object.keys(marks).length === 0 ? given : { ...given, call: { ...given.call, body: yield* given.call.body.changing(marks) } }
  const { body } = attempt.call
  const changes: Record<string, string | null> = {
    ...marks,
    ...withoutUnsentFields(body),
    // It limits tools that this service runs, so no provider gets it.
    max_tool_calls: null,
    model: JSON.stringify(given.target.upstreamModel),
  }
  const fields = fieldsOfBody(body, changes)
  yield* applyFieldRules(fields, vendor, attempt)
  yield* fields.written()
  yield
  const messages = yield* relayedMessages(attempt, vendor)
  yield
  if (messages !== null) changes['messages'] = messages
  const words = vendor.jsonSchema ? null : formatWords(body.value('response_format'), vendor)
  if (words === null) return changes
  const said = messages ?? body.raw('messages')
  if (said !== undefined) changes['messages'] = withFirst(words, said)
  return changes
}

/** JSON text of a list, with one more element before the others. */
const withFirst = (element: JsonObject, list: string): string => {
  const others = list.slice(list.indexOf('[') + 1)
  return `[${JSON.stringify(element)}${others.trim() === ']' ? '' : ','}${others}`
}

const LISTS = ['messages', 'tools'] as const

/** JSON text for those of the lists in which cache marks change. */
function* changedMarks({ call: { body }, target, warn }: Attempt, vendor: Vendor): Steps<Record<string, string>> {
  if (vendor.accepts === 'everything') return {}
  const breakpoints = vendor.openAiModels && openAiModelOf(target).cacheBreakpoints
  const otherwise = breakpoints ? 'breakpoint' : 'refused'
  const refused: RefusedMarks = {
    cache_control: vendor.cacheMarks === null ? otherwise : 'taken',
    prompt_cache_breakpoint: breakpoints || vendor.accepts.chat?.has('prompt_cache_options') === true ? 'taken' : 'refused',
  }
  return yield* withTakenMarks(
    body,
    () => rawLists(body),
    refused,
    (field) => warn(marksLost(target.providerName, field)),
  )
}

const rawLists = (body: JsonBody): Record<string, string | undefined> => Object.fromEntries(LISTS.map((name) => [name, body.raw(name)]))
