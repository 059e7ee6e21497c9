/** Claude's shell tool, run in a sandbox if a client of Messages asks for that (docs/shell.md). */
import { z } from 'zod'

import { BASH_PARAMETERS } from '../../canonical/claudes-bash.ts'
import { failed, type MakeTool } from '../tool.ts'
import { containerTool } from './container-tool.ts'
import { boundsOf, type CommandRunner, COMMANDS_MAX } from './run-commands.ts'

const line = z.string().min(1).max(65_536)
const asked = z.looseObject({
  command: line.optional(),
  commands: z.array(line).max(COMMANDS_MAX).optional(),
  restart: z.boolean().optional(),
})

export const bashTool = (runner: CommandRunner | null): MakeTool =>
  containerTool(runner, {
    description:
      'Runs a line of shell in a container without a network, in /work, and returns its output. Files in /work stay for the next call.',
    parameters: BASH_PARAMETERS,
    async run(input, call, commands) {
      const wanted = asked.safeParse(input)
      if (!wanted.success) return failed('invalid_tool_input', z.prettifyError(wanted.error))
      const { command, commands: further = [], restart } = wanted.data
      const lines = command === undefined ? further : [command, ...further]
      if (lines.length > COMMANDS_MAX) return failed('invalid_tool_input', `Bash takes ${COMMANDS_MAX} commands at most.`)
      if (restart === true) await commands.end(call.container)
      if (lines.length === 0) {
        return restart === true
          ? { fault: null, value: { command: '', stdout: '', stderr: '', exitCode: 0, restarted: true } }
          : failed('invalid_tool_input', 'Bash needs a command.')
      }
      return commands.run(call, lines, boundsOf({}), (results) => ({
        command: lines.join('\n'),
        stdout: results.map(({ stdout }) => stdout).join(''),
        stderr: results.map(({ stderr }) => stderr).join(''),
        exitCode: results.at(-1)?.exitCode ?? TIMED_OUT,
      }))
    },
  })

/** The exit code that `timeout` of coreutils returns. */
const TIMED_OUT = 124
