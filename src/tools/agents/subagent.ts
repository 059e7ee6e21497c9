/**
 * Another model that does a task by itself, with service tools if it has any, and reports the outcome. It may call functions of
 * the client, and then waits until the client sends their results (decisions/0079).
 */
import { z } from 'zod'

import { argumentSchema } from '../../canonical/argument-schema.ts'
import { validate } from '../../contract/validate.ts'
import type { JsonObject } from '../../lib/json/json.ts'
import { failed, type MakeTool, type ToolResult } from '../tool.ts'
import { agentFailure, agentName, createCallCount, modelMembers, questionOptions, textPart } from './agent-options.ts'
import { awaitedCalls, functionItems, inheritanceMembers, inheritedFunctions } from './inherited-functions.ts'
import { checkInnerTools } from './inner-tools.ts'

const options = z.looseObject({
  ...modelMembers,
  name: agentName,
  instructions: z.string().optional(),
  tools: z.array(z.looseObject({ type: z.string() })).default([]),
  max_tool_calls: z.int().min(1).max(25).optional(),
  ...inheritanceMembers,
})

const asked = z.looseObject({ task_name: z.string().default(''), task_description: z.string().trim().min(1) })

export const subagentTool = ({ max_calls: mostCalls }: { readonly max_calls: number }): MakeTool => {
  const countCall = createCallCount()
  return ({ parameters, at }, caller) => {
    const read = validate(options, parameters, [at, 'parameters'])
    const functions = inheritedFunctions(read, `${at}.parameters`, caller)
    checkInnerTools(read.tools, `${at}.parameters.tools`, 'subagent')
    return {
      description:
        `Gives a task to ${read.name === undefined ? 'a subagent' : `the subagent "${read.name}"`}, another model, which does it by itself and reports the outcome. ` +
        'It reads the description of the task and nothing else. Tasks that do not depend on each other can be given at once.',
      parameters: argumentSchema({
        task_name: { type: 'string', description: 'A short name for the task.' },
        task_description: { type: 'string', description: 'All that the subagent has to know to do the task.' },
      }),
      async run(input, turn) {
        const { waiting } = turn
        if (waiting !== undefined && waiting.fault !== null) return agentFailure({ code: 'unavailable', message: waiting.fault })
        const wanted = asked.safeParse(input)
        if (!wanted.success) return failed('invalid_tool_input', z.prettifyError(wanted.error), { status: 'error' })
        if (countCall(caller) > mostCalls) {
          return failed('max_uses_exceeded', 'This request has given as many tasks as it may.', { status: 'error' })
        }
        const { task_name, task_description } = wanted.data
        const model = read.model ?? turn.model
        const failedTask = (fault: Fault, by: string): ToolResult => agentFailure(fault, { model: by, task_name })
        const messages = [
          ...(read.instructions === undefined ? [] : [{ role: 'system', parts: [textPart(read.instructions)] } as const]),
          { role: 'user', parts: [textPart(task_description)] } as const,
        ]
        const ownTools = read.tools as unknown as readonly JsonObject[]
        const calls = read.max_tool_calls === undefined ? {} : { max_tool_calls: read.max_tool_calls }
        const mayCall = functions.length > 0 || waiting !== undefined
        const answer = await turn.ask(
          mayCall
            ? {
                model,
                messages,
                given: turn.prompt.messages,
                items: waiting?.items ?? [],
                options: { ...itemOptions(read), ...calls, tools: [...functionItems(functions), ...ownTools] },
              }
            : {
                model,
                messages,
                given: turn.prompt.messages,
                options: { ...questionOptions(read), ...calls, ...(ownTools.length === 0 ? {} : { tools: ownTools }) },
              },
          turn.signal,
        )
        if (answer.fault !== null) return failedTask(answer.fault, answer.model)
        const awaited = awaitedCalls(answer.items, functions)
        if (awaited === null) return failedTask(BAD_CALL, answer.model)
        if (awaited.length === 0) return { fault: null, value: { status: 'ok', model: answer.model, task_name, outcome: answer.text } }
        if (Buffer.byteLength(JSON.stringify(answer.items)) > ACCOUNT_MAX_BYTES) return failedTask(TOO_LONG, answer.model)
        const value = { status: 'waiting', model: answer.model, task_name }
        return { fault: null, value, waitsFor: { calls: awaited, items: answer.items } }
      },
    }
  }
}

type Fault = NonNullable<ToolResult['fault']>

const BAD_CALL: Fault = { code: 'unavailable', message: 'The subagent called a function that it has not, or broke off in a call.' }

/** The maximum size of the items that the subagent produced: the client receives them and sends all of them back. */
const ACCOUNT_MAX_BYTES = 1024 * 1024
const TOO_LONG: Fault = { code: 'content_too_large', message: 'The subagent said too much before it called a function.' }

/** Responses has its own name for the output limit. */
const itemOptions = (read: z.output<typeof options>): JsonObject => {
  const { max_completion_tokens: limit, ...others } = questionOptions(read)
  return { ...others, ...(limit === undefined ? {} : { max_output_tokens: limit }) }
}
