/** The commands and their flags, from the table of settings. A mistake by the caller results in one sentence and exit code 2. */
import { Command, CommanderError } from 'commander'

import { DOCTOR_SETTINGS, environment, readSettings, REMOTE_SETTINGS, SERVE_SETTINGS, SettingError, STORAGE_SETTINGS } from '../config.ts'
import { GatewayError } from '../errors.ts'
import { ListenError } from '../http/server.ts'
import { StorageRefused, StorageUnavailable } from '../storage/storage-errors.ts'
import { VERSION } from '../version.ts'
import { OutputLost } from './print.ts'
import { RemoteRefused, RemoteUnreachable } from './remote.ts'

const FAILED = 1
const MISUSED = 2

/** Loaded on use, so that no command waits for the code of another. */
const verbs = {
  configFile: () => import('../config-file.ts'),
  serve: () => import('./serve.ts'),
  keys: () => import('./keys.ts'),
  secret: () => import('./secret.ts'),
  credits: () => import('./credits.ts'),
  ledger: () => import('./ledger.ts'),
  backup: () => import('./backup.ts'),
  doctor: () => import('./doctor.ts'),
  login: () => import('./login.ts'),
  catalogue: () => import('./catalogue.ts'),
  presets: () => import('./presets.ts'),
  import: () => import('./import.ts'),
  eval: () => import('./eval.ts'),
}

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

  withSettings(program.command('serve', { isDefault: true }).description('Run the service.'), SERVE_SETTINGS).action(async (flags) => {
    const { serve } = await verbs.serve()
    await serve(readSettings(SERVE_SETTINGS, flags, environment()), environment(), serveWords)
  })

  const keys = program
    .command('keys')
    .description('Create, list and revoke API keys, with the service running or not. "create" needs --kind and --name.')
  const storage = async (flags: Record<string, string>) => {
    const settings = readSettings(STORAGE_SETTINGS, flags, environment())
    const { checkConfigFile } = await verbs.configFile()
    checkConfigFile(settings.config, environment())
    return settings
  }
  withSettings(keys.command('create').description('Create a key and print it, once. --kind and --name are required.'), STORAGE_SETTINGS)
    .requiredOption('--kind <kind>', 'management or inference (required)')
    .requiredOption('--name <name>', 'a name that says what the key is for (required)')
    .option('--workspace <id>', 'id or slug; the default workspace when absent')
    .option('--limit-usd <amount>', 'spending limit in US dollars')
    .option('--limit-reset <interval>', 'daily, weekly or monthly; a limit without it is for the life of the key')
    .option('--expires <instant>', 'ISO 8601 in UTC, e.g. 2027-01-31T00:00:00Z')
    .option('--provider-failure <way>', "body, status or auto: how providers' failures reach its requests; as the server says when absent")
    .option('--json', 'print JSON')
    .action(async (flags) => (await verbs.keys()).createKeyVerb(await storage(flags), flags))
  withSettings(keys.command('list').description('List the keys of every workspace.'), STORAGE_SETTINGS)
    .option('--workspace <id>', 'id or slug; its keys alone')
    .option('--json', 'print JSON')
    .action(async (flags) => (await verbs.keys()).listKeysVerb(await storage(flags), flags))
  withSettings(
    keys
      .command('revoke')
      .argument('<hash>', 'the hash that list shows')
      .description('Revoke a key of any workspace, at once and for ever.'),
    STORAGE_SETTINGS,
  ).action(async (hash, flags) => (await verbs.keys()).revokeKeyVerb(await storage(flags), hash))

  const secret = program.command('secret').description('Rotate the root secret, with the service running or not.')
  withSettings(
    secret.command('rotate').description('Add a new root secret and seal everything under it; the old one stays valid.'),
    STORAGE_SETTINGS,
  ).action(async (flags) => (await verbs.secret()).rotateSecretVerb(await storage(flags)))
  withSettings(secret.command('retire').description('Forget the old root secret.'), STORAGE_SETTINGS)
    .option('--force', 'also where API keys that were not used since the rotation stop working')
    .action(async (flags) => (await verbs.secret()).retireSecretVerb(await storage(flags), flags))

  const credits = program.command('credits').description('Prepaid credit of a workspace.')
  withSettings(credits.command('add').argument('<usd>', 'US dollars; negative takes back'), STORAGE_SETTINGS)
    .description('Add to the credit.')
    .option('--note <text>', 'what it was for')
    .option('--workspace <id>', 'id or slug; the default workspace when absent')
    .option('--json', 'print JSON')
    .action(async (usd, flags) => (await verbs.credits()).addCreditsVerb(await storage(flags), usd, flags))
  withSettings(credits.command('show').description('Show what was prepaid and what was spent.'), STORAGE_SETTINGS)
    .option('--workspace <id>', 'id or slug; the default workspace when absent')
    .option('--json', 'print JSON')
    .action(async (flags) => (await verbs.credits()).showCreditsVerb(await storage(flags), flags))
  const ledger = program.command('ledger').description('Check the books of budgets and limits.')
  withSettings(ledger.command('audit').description('Count all money again; exit code 1 where something is wrong.'), STORAGE_SETTINGS)
    .option('--json', 'print JSON')
    .action(async (flags) => run((await verbs.ledger()).auditLedgerVerb(await storage(flags), flags)))

  const catalogue = program.command('catalogue').description('Import models and prices, and see how old they are.')
  withSettings(
    catalogue
      .command('import')
      .argument('<file>', "LiteLLM's price list, models.dev's api.json, or a hosted router's GET /models; - for stdin"),
    STORAGE_SETTINGS,
  )
    .description('Keep the prices of a list over the shipped ones, and show what changes. Your own file wins over both.')
    .option('--kind <kind>', 'litellm, models.dev or hosted; found out when absent')
    .option('--as-of <day>', "the day that the prices are from; the file's own date when absent")
    .option('--dry-run', 'only show what would change')
    .option('--json', 'print JSON')
    .action(async (file, flags) => (await verbs.catalogue()).importCatalogueVerb(await storage(flags), file, flags))
  withSettings(catalogue.command('show').argument('[model]', 'a part of the id; all models when absent'), STORAGE_SETTINGS)
    .description('Show each price, where it comes from, and how old it is.')
    .option('--json', 'print JSON, one line a price')
    .action(async (model, flags) => (await verbs.catalogue()).showCatalogueVerb(await storage(flags), model, flags))
  withSettings(catalogue.command('forget').argument('<kind>', 'litellm, models.dev or hosted'), STORAGE_SETTINGS)
    .description('Go back to the prices without this list.')
    .action(async (kind, flags) => (await verbs.catalogue()).forgetCatalogueVerb(await storage(flags), kind))

  const presets = program.command('presets').description('Keep presets as files, over the API of a running service.')
  const remote = (flags: Record<string, string>) => readSettings(REMOTE_SETTINGS, flags, environment())
  const asCode = (verb: string, what: string): Command =>
    withRemote(presets.command(verb).argument('<directory>', 'one file a preset, YAML or JSON').description(what))
      .option('--with <kinds>', 'also guardrails, keys (their limits), budgets; separated by commas')
      .option('--workspace <id>', 'id or slug; that of the key when absent')
  asCode(
    'pull',
    'Write the objects of the service into files, and keep the comments in them. Exit code 1 where the service and a file both changed the same field.',
  )
    .option('--format <format>', 'the format of new files: yaml or json', 'yaml')
    .option('--prune', 'delete the files of objects that the service no longer has')
    .option('--force', "overwrite files with the service's objects, also where the files were changed")
    .option('--dry-run', 'write nothing')
    .action(async (directory, flags) => run((await verbs.presets()).pullVerb(remote(flags), directory, flags)))
  asCode('diff', 'Show each difference, and whether the service or the file changed. Exit code 1 where there is one.').action(
    async (directory, flags) => run((await verbs.presets()).diffVerb(remote(flags), directory, flags)),
  )
  const sending = (command: Command): Command =>
    command
      .option('--prune', 'archive or delete the objects that have no file')
      .option('--note <text>', 'what changed and why, kept with each new version')
      .option('--label <label>', 'set this label on each new version')
      .option('--no-designate', 'save the versions without serving them')
      .option('--dry-run', 'send nothing')
  sending(
    asCode(
      'push',
      'Send the changes that were made in files. Exit code 1, and nothing is sent, where the service and a file both changed the same object.',
    ),
  ).action(async (directory, flags) => run((await verbs.presets()).pushVerb(remote(flags), directory, flags)))
  sending(asCode('apply', 'Make the objects of the service equal to the files, also where they were changed on the service.')).action(
    async (directory, flags) => run((await verbs.presets()).applyVerb(remote(flags), directory, flags)),
  )
  withRemote(
    program
      .command('eval')
      .argument('<slug>', 'the preset')
      .description('Run a version of a preset over a set of items and check its answers. Exit code 1 where it does not pass.'),
  )
    .requiredOption('--version <number>', 'the version to run')
    .requiredOption(
      '--set <file>',
      'items as JSON, YAML or JSON lines: {"messages": […], "expected": …}; or a whole evaluation with its checks',
    )
    .option('--baseline <number>', 'a version to run beside it')
    .option('--check <type...>', 'exact or contains; exact when the set names no checks')
    .option('--min-pass-rate <part>', 'the part of the items that must pass, from 0 to 1; all when absent')
    .option('--budget-usd <amount>', 'no request is made whose worst case would exceed it')
    .option('--concurrency <number>', 'requests at once')
    .option('--workspace <id>', 'id or slug; that of the key when absent')
    .option('--dry-run', 'print what the evaluation may cost without running it')
    .option('--json', 'print JSON')
    .action(async (slug, flags) => run((await verbs.eval()).evalVerb(remote(flags), slug, flags)))
  withSettings(program.command('login').description('Print a link that signs a person in to the dashboard, once.'), STORAGE_SETTINGS)
    .option('--user <id>', 'the person; the owner of the installation when absent; somebody new becomes a member')
    .option('--role <role>', "admin or member: the person's role from now on; as it is when absent, member for somebody new")
    .option('--workspace <id>', 'id or slug; the default workspace when absent')
    .action(async (flags) => (await verbs.login()).loginVerb(await storage(flags), flags, environment()))

  withSettings(program.command('backup').argument('<path>', 'the file to make, or a directory for it'), STORAGE_SETTINGS)
    .description('Write the database to one file, with the service running or not.')
    .action(async (path, flags) => (await verbs.backup()).backupVerb(await storage(flags), path))
  withSettings(program.command('restore').argument('<path>', 'the file that backup made'), STORAGE_SETTINGS)
    .description('Make a database of a backup, in a new data directory or an empty PostgreSQL database.')
    .action(async (path, flags) => (await verbs.backup()).restoreVerb(await storage(flags), path))

  withRemote(
    program
      .command('import')
      .argument('<what>', 'the product: openai-prompts, openrouter, litellm, portkey or bifrost')
      .argument('<file>', 'the export or the configuration file of that product'),
  )
    .description(
      'Import the settings of another product: presets, guardrails and limits of keys go to the running service; providers and models are printed for your configuration file.',
    )
    .option('--dry-run', 'print what would be done, and change nothing')
    .option('--overwrite', 'replace objects of the service that have the same name and other content')
    .option('--create-keys', 'create the keys that the service does not have, and print them')
    .option('--merge <file>', 'add the providers and models to this configuration file, and keep its comments')
    .option('--workspace <id>', 'id or slug; that of the key when absent')
    .option('--json', 'print JSON')
    .action(async (what, file, flags) => run((await verbs.import()).importVerb(remote(flags), what, file, flags)))

  withSettings(program.command('doctor'), DOCTOR_SETTINGS)
    .description('Check configuration, storage, secret, Redis, clock and providers; exit code 1 where something is wrong.')
    .option('--live', 'also ask each provider and family of models for a few tokens, to see what it refuses')
    .option('--model <id...>', 'with --live: these models instead of one of each family')
    .option('--max-cost-usd <amount>', 'with --live: what all questions together may cost', '0.01')
    .option('--record <directory>', 'with --live: keep the exchanges there, without credentials')
    .option('--json', 'print JSON')
    .action(async (flags) => run((await verbs.doctor()).doctorVerb(readSettings(DOCTOR_SETTINGS, flags, environment()), flags)))

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

const withSettings = (command: Command, settings: typeof STORAGE_SETTINGS): Command => {
  for (const { flag, env, help, shown } of Object.values(settings)) {
    if (flag !== null) command.option(`--${flag} <value>`, `${asPhrase(help)} [${env}; default: ${shown}]`)
  }
  return command.addHelpText(
    'after',
    `\nSecrets come by variable only: PATCHBAY_SECRET (root secret, at least 32 bytes), PATCHBAY_SECRET_PREVIOUS (the one that it replaces), OPENAI_API_KEY and the other providers' keys.`,
  )
}

/** The sentence of a setting, in the form of the other flags of a command. */
const asPhrase = (sentence: string): string => sentence.charAt(0).toLowerCase() + sentence.slice(1).replace(/\.$/, '')

const withRemote = (command: Command): Command =>
  command
    .option('--url <value>', `${asPhrase(REMOTE_SETTINGS.url.help)} [${REMOTE_SETTINGS.url.env}; default: ${REMOTE_SETTINGS.url.shown}]`)
    .addHelpText('after', '\nThe management key comes by variable only: PATCHBAY_MANAGEMENT_KEY.')

const faultOf = (thrown: unknown): { text: string; code: number } => {
  if (thrown instanceof CommanderError)
    return { text: `${thrown.message.replace(/^error: |\.$/g, '').replaceAll('\n', ' ')}; see --help.`, code: MISUSED }
  if (thrown instanceof SettingError || thrown instanceof ListenError || thrown instanceof StorageRefused) {
    return { text: thrown.message, code: MISUSED }
  }
  if (thrown instanceof GatewayError) return { text: thrown.message, code: MISUSED }
  if (thrown instanceof RemoteRefused) return { text: thrown.message, code: MISUSED }
  if (thrown instanceof StorageUnavailable || thrown instanceof RemoteUnreachable || thrown instanceof OutputLost)
    return { text: thrown.message, code: FAILED }
  const { path, dest, syscall, code } = thrown as Partial<NodeJS.ErrnoException & { dest: string }>
  if (thrown instanceof Error && path !== undefined && dest !== undefined && code !== undefined)
    return { text: `${path} cannot be copied or moved to ${dest} (${code}).`, code: MISUSED }
  if (thrown instanceof Error && path !== undefined && code !== undefined)
    return { text: `${path} cannot be ${syscall === 'mkdir' ? 'made' : 'read or written'} (${code}).`, code: MISUSED }
  return { text: thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown), code: FAILED }
}
