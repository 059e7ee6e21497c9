/** Runs lines of shell in a sandbox (docs/shell.md). */
import { z } from 'zod'

import { argumentSchema } from '../../canonical/argument-schema.ts'
import { failed, type MakeTool } from '../tool.ts'
import { containerTool } from './container-tool.ts'
import { boundsOf, type CommandRunner, COMMANDS_MAX } from './run-commands.ts'

const asked = z.looseObject({
  commands: z.array(z.string().min(1).max(65_536)).min(1).max(COMMANDS_MAX),
  timeout_ms: z.int().min(1).nullish(),
  max_output_length: z.int().min(1).nullish(),
})

export const shellTool = (runner: CommandRunner | null): MakeTool =>
  containerTool(runner, {
    description:
      'Runs shell commands in a container without a network, each in a shell of its own, one after the other in /work, ' +
      'and returns the output of each. Files in /work stay for the next call.',
    parameters: argumentSchema(
      {
        commands: { type: 'array', items: { type: 'string' }, description: `Lines of shell, at most ${COMMANDS_MAX}.` },
        timeout_ms: { type: 'integer', description: 'Milliseconds for each of them; 60000 when left out.' },
        max_output_length: { type: 'integer', description: 'Bytes of each output; 65536 when left out.' },
      },
      ['commands'],
    ),
    async run(input, call, commands) {
      const wanted = asked.safeParse(input)
      if (!wanted.success) return failed('invalid_tool_input', z.prettifyError(wanted.error))
      return commands.run(call, wanted.data.commands, boundsOf(wanted.data), (results) => ({
        output: results.map(({ stdout, stderr, exitCode }) => ({
          stdout,
          stderr,
          outcome: exitCode === null ? { type: 'timeout' } : { type: 'exit', exit_code: exitCode },
        })),
      }))
    },
  })
