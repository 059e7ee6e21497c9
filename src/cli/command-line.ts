/** Runs the command line. A mistake by the caller results in one sentence and exit code 2. */
import { Command, CommanderError } from 'commander'
import { ZodError } from 'zod'

import { SettingError } from '../config.ts'
import { pathText } from '../contract/validate.ts'
import { GatewayError } from '../errors.ts'
import { ListenError } from '../http/server.ts'
import { StorageRefused, StorageUnavailable } from '../storage/storage-errors.ts'
import { VERSION } from '../version.ts'
import { addCommands } from './commands.ts'
import { OutputLost } from './print.ts'
import { RemoteRefused, RemoteUnreachable } from './remote.ts'

const FAILED = 1
const MISUSED = 2

/** Returns the exit code. */
export const runCommandLine = async (argv: readonly string[]): Promise<number> => {
  let exitCode = 0
  const run = async (outcome: Promise<number>): Promise<void> => {
    exitCode = await outcome
  }
  const program = commandTree(argv.slice(2), run)

  try {
    const words = withHelpFlag(program, argv.slice(2))
    refuseUnknownVerb(program, words)
    await program.parseAsync(words, { from: 'user' })
    return exitCode
  } catch (thrown) {
    if (thrown instanceof CommanderError && thrown.exitCode === 0) return 0
    // The help that is shown when no command is given says enough.
    if (thrown instanceof CommanderError && thrown.code === 'commander.help') return MISUSED
    const { text, code } = faultOf(thrown)
    process.stderr.write(`patchbay: ${text}\n`)
    return code
  }
}

/** Every command with its flags. `serveWords` are the words that workers of `serve` are started with; `run` gets the exit code of a command that has one. */
export const commandTree = (serveWords: readonly string[], run: (outcome: Promise<number>) => Promise<void>): Command => {
  const program = new Command('patchbay')
    .description('One service in front of every language model, with presets saved from request bodies.')
    .version(VERSION)
    // A --version after a command belongs to that command.
    .enablePositionalOptions()
    .exitOverride()
    .configureOutput({ outputError: () => undefined })
    .showHelpAfterError(false)

  addCommands(program, run, serveWords)
  return program
}

/** `help keys create` asks for the same as `keys create --help`; the parser's own help command goes one level deep, and takes any word. */
const withHelpFlag = (command: Command, words: readonly string[]): readonly string[] => {
  const [word, ...further] = words
  if (word === 'help' && command.commands.length > 0) return [...withHelpFlag(command, further), '--help']
  const named = command.commands.find((verb) => verb.name() === word)
  return word === undefined || named === undefined ? words : [word, ...withHelpFlag(named, further)]
}

/** `serve` is the default command, so a misspelt command would be taken for an argument of it. */
const refuseUnknownVerb = (command: Command, [word, ...further]: readonly string[]): void => {
  if (command.commands.length === 0 || word === undefined || word.startsWith('-')) return
  const named = command.commands.find((verb) => verb.name() === word)
  if (named !== undefined) return refuseUnknownVerb(named, further)
  const whole = command.parent === null ? word : `${command.name()} ${word}`
  const verbs = [...command.commands.map((verb) => verb.name()), 'help']
  throw new SettingError(`there is no command ${JSON.stringify(whole)}; there are ${verbs.join(', ')}.`)
}

/** Faults of the caller, each with a sentence that says enough. */
const MISTAKES = [SettingError, ListenError, StorageRefused, GatewayError, RemoteRefused]

const faultOf = (thrown: unknown): { text: string; code: number } => {
  if (thrown instanceof CommanderError)
    return { text: `${thrown.message.replace(/^error: |\.$/g, '').replaceAll('\n', ' ')}; see --help.`, code: MISUSED }
  if (MISTAKES.some((mistake) => thrown instanceof mistake)) return { text: (thrown as Error).message, code: MISUSED }
  if (thrown instanceof StorageUnavailable || thrown instanceof RemoteUnreachable || thrown instanceof OutputLost)
    return { text: thrown.message, code: FAILED }
  if (thrown instanceof ZodError) return { text: unknownForm(thrown), code: FAILED }
  const { path, dest, syscall, code } = thrown as Partial<NodeJS.ErrnoException & { dest: string }>
  if (thrown instanceof Error && path !== undefined && dest !== undefined && code !== undefined)
    return { text: `${path} cannot be copied or moved to ${dest} (${code}).`, code: MISUSED }
  if (thrown instanceof Error && path !== undefined && code !== undefined)
    return { text: `${path} cannot be ${syscall === 'mkdir' ? 'made' : 'read or written'} (${code}).`, code: MISUSED }
  return { text: thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown), code: FAILED }
}

/** Faults in files have sentences of their own (as-code/working-copy.ts), so this one is in what the service answered. */
const unknownForm = ({ issues }: ZodError): string => {
  const [said] = issues.map(({ path, message }) => (path.length === 0 ? message : `${pathText(path)}: ${message}`))
  return `the service's answer has a form that this command does not know (${said}): are both of one version?`
}
