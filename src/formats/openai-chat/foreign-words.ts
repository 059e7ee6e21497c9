/**
 * Reads what the clients of other vendors of Chat Completions say in fewer or other words than OpenAI's, where the meaning is clear. Mistral's
 * leaves out the type of a tool and calls a choice `any`, Hugging Face's leaves out the type of a choice; Groq's calls the ordinary effort
 * `default`. Providers get the dialect's own form.
 */
import type { JsonBody } from '../../lib/json/json-body.ts'
import { rewrittenText } from '../../lib/json/json-rewrite.ts'
import { isList, isObject, type JsonValue } from '../../lib/json/json.ts'
import { mapInSteps, type Steps } from '../../lib/steps.ts'

/** Returns the same body if it has no such words. */
export function* withoutForeignWords(body: JsonBody): Steps<JsonBody> {
  const tools = body.value('tools')
  const raw = body.raw('tools')
  const choice = body.value('tool_choice') ?? null
  const changes: Record<string, string | null> = {}
  if (isList(tools) && raw !== undefined && tools.some(isUntyped)) {
    changes['tools'] = yield* rewrittenText(yield* mapInSteps(tools, typed), tools, raw)
  }
  if (choice === 'any') changes['tool_choice'] = '"required"'
  else if (isUntyped(choice)) changes['tool_choice'] = JSON.stringify(typed(choice))
  if (body.value('reasoning_effort') === 'default') changes['reasoning_effort'] = null
  return Object.keys(changes).length === 0 ? body : yield* body.changing(changes)
}

const isUntyped = (value: JsonValue): boolean => isObject(value) && (value['type'] ?? null) === null && isObject(value['function'])

const typed = (value: JsonValue): JsonValue => (isObject(value) && isUntyped(value) ? { ...value, type: 'function' } : value)
