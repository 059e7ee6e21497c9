/**
 * Completes tools and tool choices of Chat Completions that the clients of other vendors write in fewer or other words: Mistral's leaves out
 * the type of a tool and calls a choice `any`, Hugging Face's leaves out the type of a choice. Providers get the dialect's own form.
 */
import type { JsonBody } from '../../lib/json/json-body.ts'
import { rewrittenText } from '../../lib/json/json-rewrite.ts'
import { isList, isObject, type JsonValue } from '../../lib/json/json.ts'
import { mapInSteps, type Steps } from '../../lib/steps.ts'

/** Returns the same body if nothing is missing. */
export function* withWholeTools(body: JsonBody): Steps<JsonBody> {
  const [tools, choice, raw] = [body.value('tools'), body.value('tool_choice'), body.raw('tools')]
  const changes: Record<string, string> = {}
  if (isList(tools) && raw !== undefined && tools.some(isUntyped)) {
    changes['tools'] = yield* rewrittenText(yield* mapInSteps(tools, typed), tools, raw)
  }
  if (choice === 'any') changes['tool_choice'] = '"required"'
  else if (choice !== undefined && isUntyped(choice)) changes['tool_choice'] = JSON.stringify(typed(choice))
  return Object.keys(changes).length === 0 ? body : yield* body.changing(changes)
}

const isUntyped = (value: JsonValue): boolean => isObject(value) && (value['type'] ?? null) === null && isObject(value['function'])

const typed = (value: JsonValue): JsonValue => (isObject(value) && isUntyped(value) ? { ...value, type: 'function' } : value)
