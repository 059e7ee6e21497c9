/** Facts of the Responses protocol that hold on both sides: for its clients and for its servers. */

/** The types of the events that end a stream. */
export const TERMINAL: ReadonlySet<string> = new Set(['response.completed', 'response.incomplete', 'response.failed', 'response.cancelled'])

/** How the ids of items begin, by the types of the items that must have one. */
export const ITEM_PREFIXES: Readonly<Record<string, string>> = {
  message: 'msg',
  reasoning: 'rs',
  function_call: 'fc',
  custom_tool_call: 'ctc',
}
