import { isObject } from '../../lib/json.ts'

/** The calls of a message or a delta, also where the server has no word but `function_call` for its one call. */
export const modernCalls = ({ tool_calls: calls, function_call: called }: Readonly<Record<string, unknown>>): unknown =>
  isObject(called) && !(Array.isArray(calls) && calls.length > 0) ? [modernCall(called)] : calls

/** Only a call's beginning has a name, and gets an id: the pieces that follow are recognised by having none. */
const modernCall = (called: Readonly<Record<string, unknown>>): unknown => ({
  index: 0,
  ...(typeof called['name'] === 'string' && called['name'] !== '' ? { id: 'call_0', type: 'function' } : {}),
  function: called,
})
