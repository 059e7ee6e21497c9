/**
 * A chat client's own JSON for a chat upstream: byte for byte but for the model, what addresses this service, and what
 * the rules of the vendor and the model change (field-rules.ts).
 */
import { withoutServiceFields } from '../../request-fields/service-fields.ts'
import type { JsonBody } from '../../lib/json-body.ts'
import type { JsonChanges } from '../../lib/json-splice.ts'
import type { JsonObject } from '../../lib/json.ts'
import { type CacheMarkName, marksLost, withoutCacheMarks } from '../cache-marks.ts'
import { fieldsOfBody } from '../editable-fields.ts'
import { openAiModelOf } from '../openai-model.ts'
import type { Attempt, Target } from '../provider.ts'
import type { Vendor } from '../vendor.ts'
import { applyFieldRules } from './field-rules.ts'
import { formatWords } from './format-words.ts'
import { relayedMessages } from './relay-messages.ts'

/** What is changed in the client's body. */
export const relayChanges = (attempt: Attempt, vendor: Vendor): JsonChanges => {
  const { call, target, warn } = attempt
  const changes: Record<string, string | null> = {
    ...withoutServiceFields(call.body),
    // Of tools that this service runs: no provider is to count them.
    max_tool_calls: null,
    model: JSON.stringify(target.upstreamModel),
  }
  applyFieldRules(fieldsOfBody(call.body, changes), vendor, attempt)
  const messages = relayedMessages(attempt, vendor)
  if (messages !== null) changes['messages'] = messages
  const words = vendor.jsonSchema ? null : formatWords(call.body.value('response_format'), vendor)
  const said = messages ?? call.body.raw('messages')
  if (words !== null && said !== undefined) changes['messages'] = withFirst(words, said)
  Object.assign(
    changes,
    withoutCacheMarks(call.body, listsOf(call.body, changes), refusedMarks(vendor, target), (field) =>
      warn(marksLost(target.providerName, field)),
    ),
  )
  return changes
}

/** JSON text of a list, with one more element before the others. */
const withFirst = (element: JsonObject, list: string): string => {
  const others = list.slice(list.indexOf('[') + 1)
  return `[${JSON.stringify(element)}${others.trim() === ']' ? '' : ','}${others}`
}

/** As they go out so far. */
const listsOf = (body: JsonBody, changes: JsonChanges): Record<string, string | undefined> =>
  Object.fromEntries(
    ['messages', 'tools'].map((name) => [name, (Object.hasOwn(changes, name) ? changes[name] : body.raw(name)) ?? undefined]),
  )

const refusedMarks = (vendor: Vendor, target: Target): CacheMarkName[] => {
  if (vendor.accepts === 'everything') return []
  const breakpoints = vendor.openAiModels && openAiModelOf(target).cacheBreakpoints
  return [
    ...(vendor.cacheMarks === null ? (['cache_control'] as const) : []),
    ...(breakpoints || vendor.accepts.chat?.has('prompt_cache_options') === true ? [] : (['prompt_cache_breakpoint'] as const)),
  ]
}
