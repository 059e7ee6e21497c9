import { isObject } from '../../lib/json/json.ts'

/** The calls of a message or a delta, including a single one that the server sends only as `function_call`. */
export const modernCalls = ({ tool_calls: calls, function_call: called }: Readonly<Record<string, unknown>>): unknown =>
  isObject(called) && isFilled(called) && !(Array.isArray(calls) && calls.length > 0) ? [modernCall(called)] : calls

/** Some servers write the member into every message. */
const isFilled = ({ name, arguments: given }: Readonly<Record<string, unknown>>): boolean => Boolean(name) || Boolean(given)

/** Only the beginning of a call has a name and gets an id; the pieces that follow are recognised by having no id. */
const modernCall = (called: Readonly<Record<string, unknown>>): unknown => ({
  index: 0,
  ...(typeof called['name'] === 'string' && called['name'] !== '' ? { id: 'call_0', type: 'function' } : {}),
  function: called,
})
