import { z } from 'zod'

import { validate } from '../../contract/validate.ts'
import type { JsonObject } from '../../lib/json/json.ts'
import type { MakeTool, Tool, ToolResult } from '../tool.ts'
import { containerMembers } from './asked-container.ts'
import { needsSandbox } from './needs-sandbox.ts'
import type { CommandRunner, ContainerCall } from './run-commands.ts'

const options = z.looseObject(containerMembers)

interface ContainerTool extends Pick<Tool, 'description' | 'parameters'> {
  run(input: JsonObject, call: ContainerCall, runner: CommandRunner): Promise<ToolResult>
}

/** A tool whose calls run in the container that its request names. `runner`: null if no sandbox is configured. */
export const containerTool =
  (runner: CommandRunner | null, { description, parameters, run }: ContainerTool): MakeTool =>
  (tool, caller) => {
    const read = validate(options, tool.parameters, [tool.at, 'parameters'])
    if (runner === null) throw needsSandbox(tool)
    const container = runner.containerOf(read, caller)
    return {
      ...(runner.mostFeeNanos === 0 ? {} : { mostFeeNanos: runner.mostFeeNanos }),
      description,
      parameters,
      run: (input, turn) => run(input, { container, turn }, runner),
    }
  }
