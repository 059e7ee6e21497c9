import { z } from 'zod'

import { validate } from '../../contract/validate.ts'
import type { JsonObject } from '../../lib/json/json.ts'
import type { AskedTool, MakeTool, Tool, ToolResult } from '../tool.ts'
import { containerMembers } from './asked-container.ts'
import type { CommandRunner, ContainerCall } from './run-commands.ts'
import { GatewayError } from '../../errors.ts'

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

/** The error for a tool without a sandbox; it names the missing setting. */
const needsSandbox = ({ at, askedAs }: AskedTool): GatewayError => {
  const message = `${askedAs} cannot run: no sandbox is configured (tools.shell).`
  return new GatewayError('invalid_request', `${at}: ${message}`, { metadata: { issues: [{ path: at, message }] } })
}
