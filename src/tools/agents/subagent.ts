/** Another model that does a task by itself, with tools of the service if it has any, and reports what came of it. */
import { z } from 'zod'

import { invalidRequest, validate } from '../../contract/validate.ts'
import type { JsonObject } from '../../lib/json.ts'
import { failed, type MakeTool } from '../tool.ts'
import { agentFailure } from './advisor.ts'
import { agentName, createCallCount, modelMembers, questionOptions, textPart } from './agent-options.ts'
import { checkInnerTools } from './inner-tools.ts'

const options = z.looseObject({
  ...modelMembers,
  name: agentName,
  instructions: z.string().optional(),
  tools: z.array(z.looseObject({ type: z.string() })).default([]),
  max_tool_calls: z.int().min(1).max(25).optional(),
  inherit_functions: z.boolean().optional(),
  inherited_function_names: z.array(z.string()).optional(),
})

const asked = z.looseObject({ task_name: z.string().default(''), task_description: z.string().trim().min(1) })

export const subagentTool = ({ max_calls: mostCalls }: { readonly max_calls: number }): MakeTool => {
  const countCall = createCallCount()
  return ({ parameters, at }, caller) => {
    const read = validate(options, parameters, [at, 'parameters'])
    refuseInheritance(read, `${at}.parameters`)
    checkInnerTools(read.tools, `${at}.parameters.tools`, 'subagent')
    return {
      description:
        `Gives a task to ${read.name === undefined ? 'a subagent' : `the subagent "${read.name}"`}, another model, which does it by itself and reports the outcome. ` +
        'It reads the description of the task and nothing else. Tasks that do not depend on each other can be given at once.',
      parameters: {
        type: 'object',
        properties: {
          task_name: { type: 'string', description: 'A short name for the task.' },
          task_description: { type: 'string', description: 'All that the subagent has to know to do the task.' },
        },
        required: ['task_name', 'task_description'],
        additionalProperties: false,
      },
      async run(input, turn) {
        const wanted = asked.safeParse(input)
        if (!wanted.success) return failed('invalid_tool_input', z.prettifyError(wanted.error), { status: 'error' })
        if (countCall(caller) > mostCalls) {
          return failed('max_uses_exceeded', 'This request has given as many tasks as it may.', { status: 'error' })
        }
        const { task_name, task_description } = wanted.data
        const answer = await turn.ask(
          {
            model: read.model ?? turn.model,
            messages: [
              ...(read.instructions === undefined ? [] : [{ role: 'system', parts: [textPart(read.instructions)] } as const]),
              { role: 'user', parts: [textPart(task_description)] },
            ],
            options: {
              ...questionOptions(read),
              ...(read.tools.length === 0 ? {} : { tools: read.tools as unknown as readonly JsonObject[] }),
              ...(read.max_tool_calls === undefined ? {} : { max_tool_calls: read.max_tool_calls }),
            },
          },
          turn.signal,
        )
        return answer.fault === null
          ? { fault: null, value: { status: 'ok', model: answer.model, task_name, outcome: answer.text } }
          : agentFailure(answer.fault, { model: answer.model, task_name })
      },
    }
  }
}

const refuseInheritance = ({ inherit_functions, inherited_function_names }: z.output<typeof options>, at: string): void => {
  const path = inherit_functions === true ? 'inherit_functions' : inherited_function_names === undefined ? null : 'inherited_function_names'
  if (path === null) return
  throw invalidRequest([{ path: `${at}.${path}`, message: 'A subagent cannot call functions of the client: this is not supported yet.' }])
}
