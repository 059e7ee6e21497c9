/**
 * `bun scripts/write-docs.ts [--check]`: writes the parts of the docs that are generated from the code, so that no table is kept by hand:
 * everything between `<!-- generated:NAME -->` and `<!-- /generated -->` in README.md and docs/*.md, and docs/patchbay.schema.json. With
 * --check it writes nothing, names the stale files and exits with 1.
 */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import type { Command } from 'commander'
import { z } from 'zod'

import { ATTRIBUTES } from '../src/broadcast/attribute-names.ts'
import { CLIENT_DIALECTS, type ClientDialect } from '../src/canonical/call.ts'
import { CARRIED_SETTINGS } from '../src/canonical/settings.ts'
import { commandTree } from '../src/cli/command-line.ts'
import { openService } from '../src/compose/open-service.ts'
import { configFileSchema } from '../src/config-file.ts'
import { OTEL_SETTINGS, readSettings, REMOTE_SETTINGS, SERVE_SETTINGS, STORAGE_SETTINGS } from '../src/config.ts'
import { DESTINATION_TYPES } from '../src/contract/destination.ts'
import { KNOWN_CLIENTS, type KnownClient } from '../dashboard/src/known-clients.ts'
import { ERROR_TYPES, errorRow, MANAGEMENT_MESSAGES } from '../src/errors.ts'
import { STATUS_CLIENTS } from '../src/http/status-clients.ts'
import catalogueData from '../src/models/catalogue-data.json' with { type: 'json' }
import type { Catalogue } from '../src/models/catalogue-schema.ts'
import type { FieldMeaning } from '../src/request-fields/field.ts'
import { PERSISTED_FIELDS } from '../src/request-fields/preset-fields.ts'
import { REQUEST_FIELDS } from '../src/request-fields/request-fields.ts'
import { pathsOf, SPELLINGS } from '../src/request-fields/setting-spellings.ts'
import { BENDING_WORDS, SETTING_HOLDERS, VENDOR_WORDS } from '../src/request-fields/vendor-words.ts'
import { fieldOutcomes, PART_OUTCOMES, TRANSLATED_DIALECTS } from '../src/providers/losses/loss-table.ts'
import { SANDBOX_MODELS } from '../src/providers/sandbox/models.ts'
import type { Family } from '../src/telemetry/metrics.ts'
import { errorReference } from './error-reference.ts'

const ROOT = join(import.meta.dirname, '..')
const COMMAND = 'bin/bun scripts/write-docs.ts'
const SCHEMA_FILE = 'docs/patchbay.schema.json'

const code = (text: string): string => `\`${text}\``
const codes = (texts: readonly string[]): string => texts.map(code).join(', ')

/** A `|` inside a cell would end the cell, so it is escaped. */
const table = (head: readonly string[], rows: readonly (readonly string[])[]): string =>
  [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`).join('\n')

// Settings and the file.

const settingsTable = (): string =>
  table(
    ['Flag', 'Variable', 'Default', 'Meaning'],
    Object.values(SERVE_SETTINGS).map(({ flag, env, shown, help }) => [flag === null ? '–' : code(`--${flag}`), code(env), shown, help]),
  )

const otelTable = (): string =>
  table(
    ['Variable', 'Default', 'Meaning'],
    Object.values(OTEL_SETTINGS).map(({ env, shown, help }) => [code(env), shown, help]),
  )

const destinationTypesTable = (): string =>
  table(
    ['Type', 'Needs', 'May have', 'Masked'],
    Object.entries(DESTINATION_TYPES).map(([type, { config, secrets }]) => {
      const needed = (name: string): boolean => !config.shape[name as keyof typeof config.shape].safeParse(undefined).success
      const names = Object.keys(config.shape).filter((name) => name !== 'headers')
      return [code(type), codes(names.filter(needed)), codes(names.filter((name) => !needed(name))), codes(secrets)]
    }),
  )

const spanAttributesTable = (): string =>
  table(
    ['Attribute', 'Type'],
    Object.values(ATTRIBUTES).map(([name, type]) => [code(name), type]),
  )

const storageFlags = (): string => codes(Object.values(STORAGE_SETTINGS).map(({ flag, env }) => (flag === null ? env : `--${flag}`)))

/** The part of JSON Schema that zod generates for the configuration file. */
interface Schema {
  readonly $ref?: string
  readonly $defs?: Readonly<Record<string, Schema>>
  readonly type?: string
  readonly description?: string
  readonly default?: unknown
  readonly enum?: readonly string[]
  readonly anyOf?: readonly Schema[]
  readonly items?: Schema
  readonly format?: string
  readonly minimum?: number
  readonly maximum?: number
  readonly properties?: Readonly<Record<string, Schema>>
  readonly propertyNames?: Schema
  readonly additionalProperties?: Schema | boolean
  readonly required?: readonly string[]
}

const fileSchema = (): Schema => z.toJSONSchema(configFileSchema, { io: 'input' }) as Schema

/** The definition that a reference names, overridden by the members beside the reference. */
const resolve = (schema: Schema, root: Schema): Schema => {
  const { $ref, ...beside } = schema
  return $ref === undefined ? schema : { ...root.$defs?.[$ref.replace('#/$defs/', '')], ...beside }
}

interface FileRow {
  readonly path: string
  readonly schema: Schema
  readonly required: boolean
}

/** Every value in the configuration file, with its path as a person writes it. */
const fileRows = (given: Schema, root: Schema, path = '', required = false): FileRow[] => {
  const schema = resolve(given, root)
  if (typeof schema.additionalProperties === 'object') {
    const key = ['models', 'plugins.pareto.scores'].includes(path) ? '<vendor/model>' : '<slug>'
    const { description } = schema
    // The description of a map replaces that of its values.
    const value = { ...(description === undefined ? {} : { description }), ...resolve(schema.additionalProperties, root) }
    return fileRows(value, root, `${path}.${key}`)
  }
  const members = Object.entries(schema.properties ?? {})
  if (members.length > 0)
    return members.flatMap(([name, member]) =>
      fileRows(member, root, path === '' ? name : `${path}.${name}`, schema.required?.includes(name) ?? false),
    )
  const item = schema.items === undefined ? undefined : resolve(schema.items, root)
  if (item?.properties !== undefined) return [{ path, schema, required }, ...fileRows(item, root, `${path}[]`)]
  return [{ path, schema, required }]
}

const LARGE = Number.MAX_SAFE_INTEGER

const typeText = (given: Schema, root: Schema): string => {
  const schema = resolve(given, root)
  if (schema.enum !== undefined) return schema.enum.map(code).join(' or ')
  if (schema.anyOf !== undefined) return schema.anyOf.map((one) => typeText(one, root)).join(' or ')
  if (schema.items !== undefined)
    return `list${resolve(schema.items, root).properties === undefined ? ` of ${typeText(schema.items, root)}` : ''}`
  if (schema.type === 'boolean') return 'true or false'
  if (schema.type === 'integer' || schema.type === 'number') {
    const name = schema.type === 'integer' ? 'whole number' : 'number'
    if (schema.minimum === undefined) return name
    return schema.maximum === undefined || schema.maximum === LARGE
      ? `${name}, at least ${schema.minimum}`
      : `${name}, ${schema.minimum} to ${schema.maximum}`
  }
  if (schema.type === 'object') return 'map'
  return schema.format === 'uri' ? 'URL' : 'text'
}

const fileTable = (belongs: (path: string) => boolean, cut: string): string => {
  const root = fileSchema()
  const rows = fileRows(root, root).filter(({ path }) => belongs(path))
  return table(
    ['Field', 'Type', 'Default', 'Meaning'],
    rows.map(({ path, schema, required }) => [
      code(path.replace(cut, '')),
      typeText(schema, root),
      required ? 'required' : schema.default === undefined ? '–' : code(JSON.stringify(schema.default)),
      schema.description ?? '–',
    ]),
  )
}

const inSection = (path: string): boolean => path.startsWith('providers.') || path.startsWith('models.')

/** Formatted as the repository's formatter does it. */
const schemaFile = (): string => {
  const text = JSON.stringify(fileSchema())
  const { stdout, status, stderr } = spawnSync('node_modules/.bin/oxfmt', [`--stdin-filepath=${SCHEMA_FILE}`], {
    input: text,
    encoding: 'utf8',
  })
  if (status !== 0) throw new Error(`oxfmt failed: ${stderr}`)
  return stdout
}

// Providers and models.

const catalogue = catalogueData as Catalogue

const providersTable = (): string =>
  table(
    ['Provider', 'Slug', 'Enabled by', 'Address overridden by', 'Default address', 'Dialects', 'Known models'],
    Object.entries(catalogue.providers).map(([slug, entry]) => {
      const known = Object.values(catalogue.models).filter(({ endpoints }) => endpoints.some(({ provider }) => provider === slug)).length
      const models = [known === 0 ? [] : [String(known)], entry.any_model === true ? [`any ${code(`${slug}/…`)}`] : []].flat()
      return [
        entry.name,
        code(slug),
        code(entry.api_key_env ?? entry.base_url_env),
        code(entry.base_url_env),
        code(entry.base_url),
        codes(entry.dialects ?? []),
        models.join(' and ') || 'none',
      ]
    }),
  )

const catalogueFacts = (): string =>
  `The catalogue of this version knows ${Object.keys(catalogue.models).length} models and ${Object.keys(catalogue.providers).length} providers. Its newest source is of ${catalogue.as_of}.`

const fieldsTable = (client: ClientDialect): string =>
  table(
    ['Field', ...TRANSLATED_DIALECTS.map(code)],
    Object.keys(REQUEST_FIELDS[client]).map((field) => [
      code(field),
      ...TRANSLATED_DIALECTS.map((dialect) => fieldOutcomes(client, field, dialect).join(', ')),
    ]),
  )

const partsTable = (): string =>
  table(
    ['Part', ...TRANSLATED_DIALECTS.map(code)],
    Object.entries(PART_OUTCOMES).map(([part, outcomes]) => [part, ...TRANSLATED_DIALECTS.map((dialect) => outcomes[dialect])]),
  )

const sandboxTable = (): string =>
  table(
    ['Model', 'What it does'],
    SANDBOX_MODELS.filter(({ id }) => id.split('/').length === 2).map(({ id, description }) => [code(id), description]),
  )

/** Each error type has a model that fails before the answer and one that fails within it. */
const sandboxErrors = (): string =>
  codes(
    ERROR_TYPES.filter((type) => ['error', 'midstream'].every((kind) => SANDBOX_MODELS.some(({ id }) => id === `sandbox/${kind}/${type}`))),
  )

// Presets and errors.

const INTERFACES = ['chat', 'responses', 'messages'] as const
const INTERFACE_NAMES = ['Chat Completions', 'Responses', 'Messages']

const persistedTable = (): string => {
  const fields = new Set(INTERFACES.flatMap((shape) => PERSISTED_FIELDS[shape]))
  return table(
    ['Field', ...INTERFACE_NAMES],
    [...fields].map((field) => [code(field), ...INTERFACES.map((shape) => (PERSISTED_FIELDS[shape].includes(field) ? 'kept' : '–'))]),
  )
}

const spellingsTable = (): string =>
  table(
    INTERFACE_NAMES,
    [...SPELLINGS.values()]
      .filter((spelling) => new Set(INTERFACES.map((shape) => spelling[shape].join()).filter((paths) => paths !== '')).size > 1)
      .map((spelling) => INTERFACES.map((shape) => codes(spelling[shape]) || 'none')),
  )

const vendorWordsTable = (): string =>
  table(
    ['Setting', "Vendors' names"],
    Object.entries(VENDOR_WORDS).map(([name, words]) => [lockedAs(name), codes(words.trim().split(/\s+/))]),
  )

const bendingWordsTable = (): string =>
  table(
    ['Locked', "Vendors' names that are held, too"],
    BENDING_WORDS.map(({ bends, words }) => [bends.map(lockedAs).join(', '), codes(words.trim().split(/\s+/))]),
  )

const lockedAs = (name: string): string => {
  if (name === 'systemPrompt') return 'a system prompt'
  const path = SPELLINGS.has(name as FieldMeaning) ? pathsOf('chat', name as FieldMeaning)[0] : name
  return code(path ?? name)
}

/** Chat Completions has a field for each of them. */
const carriedFields = (): string => codes(CARRIED_SETTINGS.flatMap((name) => pathsOf('chat', name)))

const errorsTable = (): string =>
  table(
    ['`error_type`', 'Status', 'Another provider is tried', 'Messages `error.type`', 'Responses `error.code`', 'Meaning'],
    ERROR_TYPES.map((type) => {
      const { status, failover, messagesType, responsesCode, message, length } = errorRow(type)
      const responses = length === true ? `none: an \`incomplete\` response` : code(responsesCode)
      return [code(type), String(status), failover === 'elsewhere' ? 'yes' : 'no', code(messagesType), responses, message]
    }),
  )

const statusClientsTable = (): string =>
  table(
    ['Client', 'Header', 'A word of its value begins with', 'As seen'],
    STATUS_CLIENTS.map(({ client, header, word, sends }) => [
      client,
      code(header),
      word === undefined ? 'anything' : code(word),
      code(sends),
    ]),
  )

const INSTALL: Readonly<Record<KnownClient['registry'], { readonly command: string; readonly at: string }>> = {
  npm: { command: 'npm install', at: '@' },
  pypi: { command: 'pip install', at: '==' },
  go: { command: 'go get', at: '@v' },
}

/** Without it, `npx codex` would offer another package of that name. */
const installOf = ({ registry, packages }: KnownClient): string => {
  const { command, at } = INSTALL[registry]
  const named = Object.entries(packages).map(([name, version]) => (name.includes('[') ? `'${name}${at}${version}'` : name + at + version))
  return `Install the tested version: ${code([command, ...named].join(' '))}.`
}

const clientSections = (): string =>
  KNOWN_CLIENTS.map((client) => {
    const { name, snippet, expect } = client
    return [
      `## ${name}`,
      installOf(client),
      `\`\`\`${snippet.language}\n${snippet.text.trimEnd()}\n\`\`\``,
      expect.map((line) => `- ${line}`).join('\n'),
    ].join('\n\n')
  }).join('\n\n')

const managementTable = (): string =>
  table(
    ['Status', 'Message'],
    Object.entries(MANAGEMENT_MESSAGES).map(([status, message]) => [status, message]),
  )

// Names that only an open service knows.

interface Operation {
  readonly summary: string
  readonly security: readonly Readonly<Record<string, readonly string[]>>[]
}

interface Described {
  readonly routes: string
  readonly metrics: string
}

/** Opens a service with default settings in a temporary directory. */
const describeService = async (): Promise<Described> => {
  const dataDir = mkdtempSync(join(tmpdir(), 'patchbay-docs-'))
  const settings = readSettings(SERVE_SETTINGS, { dataDir, logLevel: 'silent' }, {})
  const service = await openService(settings, configFileSchema.parse({}), {})
  try {
    const answer = await service.app.answer(new Request('http://127.0.0.1/openapi.json'))
    const document = (await answer.json()) as { paths: Record<string, Record<string, Operation>> }
    return { routes: routesTable(document.paths), metrics: metricsTable(service.metrics.families()) }
  } finally {
    await service.close()
    rmSync(dataDir, { recursive: true, force: true })
  }
}

const METHODS = new Set(['get', 'post', 'patch', 'put', 'delete'])

const routesTable = (paths: Record<string, Record<string, Operation>>): string =>
  table(
    ['Method and path', 'Key', 'What it does'],
    Object.entries(paths).flatMap(([path, operations]) =>
      Object.entries(operations)
        .filter(([method]) => METHODS.has(method))
        .map(([method, { summary, security }]) => [code(`${method.toUpperCase()} ${path}`), keyText(security), summary]),
    ),
  )

const keyText = (security: Operation['security']): string => {
  const [first] = security
  return first === undefined ? 'none' : (Object.values(first)[0]?.[0] ?? 'any')
}

const metricsTable = (families: readonly Family[]): string =>
  table(
    ['Metric', 'Type', 'Labels', 'Meaning'],
    families
      .toSorted((one, other) => (one.name < other.name ? -1 : 1))
      .map((family) => {
        const labels = family.type === 'gauge' ? [] : family.labelNames
        return [code(family.name), family.type, codes(labels) || '–', family.help]
      }),
  )

// Commands.

/** The page of each command, by its first word. */
const COMMAND_PAGES: Readonly<Record<string, string>> = {
  serve: 'docs/configuration.md',
  keys: 'docs/keys.md',
  secret: 'docs/operating.md#the-root-secret',
  credits: 'docs/workspaces.md#budgets-and-credit',
  ledger: 'docs/budgets.md#checking-the-books',
  catalogue: 'docs/prices.md',
  presets: 'docs/presets-as-code.md',
  eval: 'docs/evaluations.md#in-a-pipeline',
  login: 'docs/sign-in.md',
  backup: 'docs/operating.md#backup-and-restore',
  restore: 'docs/operating.md#backup-and-restore',
  import: 'docs/README.md#move-from',
  doctor: 'docs/doctor.md',
}

const DATABASE_FLAGS = Object.values(STORAGE_SETTINGS).flatMap(({ flag }) => (flag === null ? [] : [`--${flag}`]))
const SERVICE_FLAG = `--${REMOTE_SETTINGS.url.flag}`

/** A section for each command that does something, with the flags that are its own. */
const commandSections = (command: Command, words: readonly string[] = []): string[] => {
  const [first = ''] = words
  if (command.commands.length > 0) return command.commands.flatMap((verb) => commandSections(verb, [...words, verb.name()]))
  const page = COMMAND_PAGES[first]?.replace('docs/', '')
  if (page === undefined) throw new Error(`COMMAND_PAGES has no page for ${first}.`)
  const own = command.options.filter(({ long }) => ![...DATABASE_FLAGS, SERVICE_FLAG].includes(long ?? ''))
  const rows = [
    ...command.registeredArguments.map((one) => [code(one.required ? `<${one.name()}>` : `[${one.name()}]`), one.description]),
    ...own.map((one) => [
      code(one.flags),
      one.description +
        (one.mandatory && !one.description.endsWith('(required)') ? ' (required)' : '') +
        // `--no-designate` has a default too, that of the flag that it turns off.
        (typeof one.defaultValue === 'string' ? ` [default: ${one.defaultValue}]` : ''),
    ]),
  ]
  return [
    `## patchbay ${words.join(' ')}`,
    `${command.description()} See [${page.replace(/#.*/, '')}](${page}).`,
    ...(rows.length === 0 ? [] : [table(['Argument or flag', 'Meaning'], rows)]),
  ]
}

const commands = (): string => commandSections(commandTree([], async () => undefined)).join('\n\n')

// Pages.

const PART = /<!-- generated:([\w-]+) -->\n[\s\S]*?<!-- \/generated -->/g

const generatedParts = async (): Promise<ReadonlyMap<string, string>> => {
  const { routes, metrics } = await describeService()
  return new Map([
    ['settings', settingsTable()],
    ['otel-settings', otelTable()],
    ['destination-types', destinationTypesTable()],
    ['span-attributes', spanAttributesTable()],
    ['storage-flags', storageFlags()],
    ['config-server', fileTable((path) => !inSection(path), '')],
    ['config-providers', fileTable((path) => path.startsWith('providers.'), 'providers.<slug>.')],
    ['config-models', fileTable((path) => path.startsWith('models.'), 'models.<vendor/model>.')],
    ['providers', providersTable()],
    ['catalogue', catalogueFacts()],
    ...CLIENT_DIALECTS.map((client): [string, string] => [`fields-${client}`, fieldsTable(client)]),
    ['parts', partsTable()],
    ['sandbox-models', sandboxTable()],
    ['sandbox-errors', sandboxErrors()],
    ['persisted-fields', persistedTable()],
    ['spellings', spellingsTable()],
    ['vendor-words', vendorWordsTable()],
    ['bending-words', bendingWordsTable()],
    ['setting-holders', codes([...SETTING_HOLDERS])],
    ['carried-fields', carriedFields()],
    ['errors', errorsTable()],
    ['error-types', errorReference()],
    ['status-clients', statusClientsTable()],
    ['clients', clientSections()],
    ['management-messages', managementTable()],
    ['commands', commands()],
    ['service-flags', codes([SERVICE_FLAG, ...Object.values(REMOTE_SETTINGS).map(({ env }) => env)])],
    ['routes', routes],
    ['metrics', metrics],
  ])
}

/** Every file that this script writes, with its expected text. Throws if a page names an unknown part, or a part is on no page. */
const expectedFiles = async (): Promise<ReadonlyMap<string, string>> => {
  const parts = await generatedParts()
  const used = new Set<string>()
  const pages = ['README.md', ...readdirSync('docs').flatMap((name) => (name.endsWith('.md') ? [`docs/${name}`] : []))]
  const files = new Map(
    pages.map((page) => [
      page,
      readFileSync(page, 'utf8').replaceAll(PART, (_, name: string) => {
        const part = parts.get(name)
        if (part === undefined) throw new Error(`${page}: nothing generates "${name}".`)
        used.add(name)
        return `<!-- generated:${name} -->\n\n${part}\n\n<!-- /generated -->`
      }),
    ]),
  )
  const unused = [...parts.keys()].filter((name) => !used.has(name))
  if (unused.length > 0) throw new Error(`No page holds the generated parts ${unused.join(', ')}.`)
  return files.set(SCHEMA_FILE, schemaFile())
}

const textOf = (file: string): string | null => {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return null // the schema, before it is first written
  }
}

process.chdir(ROOT)
const stale = [...(await expectedFiles())].filter(([file, text]) => textOf(file) !== text)
if (process.argv.includes('--check')) {
  if (stale.length > 0) {
    console.error(`Stale: ${stale.map(([file]) => file).join(', ')}. Run: ${COMMAND}`)
    process.exitCode = 1
  }
} else {
  for (const [file, text] of stale) {
    writeFileSync(file, text)
    console.log(`written ${file}`)
  }
}
