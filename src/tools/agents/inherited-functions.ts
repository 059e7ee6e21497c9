/** The client's functions that a subagent may call: all of them, or those that the client names (decisions/0079). */
import { z } from 'zod'

import type { FunctionTool } from '../../canonical/prompt.ts'
import { invalidField } from '../../contract/validate.ts'
import { cutText } from '../../lib/text/cut-text.ts'
import type { JsonObject } from '../../lib/json/json.ts'
import type { AwaitedCalls, ToolCaller } from '../tool.ts'

export const inheritanceMembers = {
  inherit_functions: z.boolean().default(false),
  inherited_function_names: z.array(z.string().trim().min(1, 'A function has a name.').max(256)).max(1000).optional(),
}

type Inheritance = z.output<z.ZodObject<typeof inheritanceMembers>>

/** Throws `invalid_request` for a function that the request does not have, and on interfaces that cannot show which agent made a call. */
export const inheritedFunctions = (
  { inherit_functions: all, inherited_function_names: names }: Inheritance,
  at: string,
  { functions }: Pick<ToolCaller, 'functions'>,
): readonly FunctionTool[] => {
  if (!all && names === undefined) return []
  const there = functions()
  if (there === null) {
    const path = `${at}.${all ? 'inherit_functions' : 'inherited_function_names'}`
    throw invalidField(path, 'A subagent can call functions of the client only on Responses.')
  }
  if (all) return there
  const byName = new Map(there.map((tool) => [tool.name, tool]))
  const named = (names ?? []).map((name, index) => {
    const tool = byName.get(name)
    if (tool !== undefined) return tool
    const path = `${at}.inherited_function_names[${index}]`
    throw invalidField(path, `The request has no function of the name "${cutText(name, 100)}".`)
  })
  return [...new Set(named)]
}

/** Converts functions to tools of a Responses body. */
export const functionItems = (functions: readonly FunctionTool[]): readonly JsonObject[] =>
  functions.map(({ name, description, parameters, strict }) => ({
    type: 'function',
    name,
    ...(description === null ? {} : { description }),
    parameters: parameters as JsonObject,
    ...(strict === undefined ? {} : { strict }),
  }))

const calledFunction = z.looseObject({
  type: z.literal('function_call'),
  call_id: z.string(),
  name: z.string(),
  arguments: z.string(),
  status: z.literal('completed'),
})

/** Returns the function calls in an answer; null if one of them is incomplete, or calls a function that the agent does not have. */
export const awaitedCalls = (items: readonly JsonObject[], functions: readonly FunctionTool[]): AwaitedCalls['calls'] | null => {
  const names = new Set(functions.map(({ name }) => name))
  const calls = items.filter(({ type }) => type === 'function_call').map((item) => calledFunction.safeParse(item))
  if (!calls.every(({ data }) => data !== undefined && names.has(data.name))) return null
  return calls.flatMap(({ data }) => (data === undefined ? [] : [{ id: data.call_id, name: data.name, arguments: data.arguments }]))
}
