/** The operator's file: providers, models and server settings. Validated as a whole; a fault names its path. */
import { readFileSync } from 'node:fs'

import { isMap, isScalar, LineCounter, parse as parseYaml, parseDocument, YAMLParseError } from 'yaml'
import { z } from 'zod'

import { processSetting, SettingError, type Environment } from './config.ts'
import { inSentences } from './contract/issue-sentence.ts'
import { providerFailure } from './contract/provider-failure.ts'
import { faultsOf, pathText } from './contract/validate.ts'
import { observabilitySettings } from './broadcast/settings.ts'
import { moderationSettings } from './guardrails/moderation-settings.ts'
import { rangeOf } from './lib/network/address-ranges.ts'
import { WHOLE_BODY_MAX } from './providers/transport/answer-room.ts'
import { mediaSettings } from './providers/media/media-settings.ts'
import { budgetSettings } from './ledger/settings.ts'
import { pluginSettings } from './plugins/settings.ts'
import { oidcSettings } from './sign-in/oidc-settings.ts'
import { toolSettings } from './tools/settings.ts'
import { modelEntry, modelId, providerEntry, providerSlug } from './models/catalogue-schema.ts'

const seconds = (fallback: number, description: string) => z.number().min(0.001).max(86_400).default(fallback).meta({ description })

const upTo = (most: number, fallback: number, description: string) => z.int().min(0).max(most).default(fallback).meta({ description })

const ORIGIN = 'Write an origin such as https://app.example.com'

/** A path would be dropped, so that more pages could call the API than the operator meant. */
const isOrigin = (address: string): boolean => URL.canParse(address) && new URL(address).href === `${new URL(address).origin}/`

export const configFileSchema = z
  .strictObject({
    providers: z.record(providerSlug, providerEntry).default({}),
    models: z.record(modelId, modelEntry).default({}),
    server: z
      .strictObject({
        public_url: z
          .url({ protocol: /^https?$/, error: 'Write an address such as https://llm.example.com' })
          .transform((url) => url.replace(/\/+$/, ''))
          .optional()
          .meta({ description: 'The address at which people and clients reach this service, if a proxy is in front of it.' }),
        trusted_proxies: z
          .array(z.string().refine((text) => rangeOf(text) !== null, 'Write an address or a range such as 10.0.0.0/8'))
          .max(100)
          .default([])
          .meta({ description: 'Addresses and ranges of the proxies whose X-Forwarded-For says who sent a request.' }),
      })
      .prefault({}),
    dashboard: z
      .boolean()
      .default(true)
      .meta({ description: 'Whether /dashboard is there, and people can sign in; false removes sessions and sign-in links too.' }),
    auth: z
      .strictObject({ oidc: oidcSettings.optional().meta({ description: 'An identity provider at which people sign in.' }) })
      .prefault({}),
    oauth: z
      .strictObject({
        enabled: z.boolean().default(false).meta({ description: 'Whether applications may ask people for a key, at /auth.' }),
        allowed_callback_hosts: z
          .array(z.string().min(1).max(253))
          .optional()
          .meta({ description: 'Hosts to which a code may be sent, exactly; any when absent.' }),
        allow_without_pkce: z
          .boolean()
          .default(false)
          .meta({ description: 'Whether an application with a callback may do without a challenge.' }),
      })
      .prefault({}),
    sandbox: z.boolean().default(true).meta({ description: 'Whether the sandbox models answer.' }),
    errors: z
      .strictObject({
        provider_failure: providerFailure.default('auto').meta({
          description:
            "body: a provider's failure is in a 200's body. status: it has its real status while nothing was sent. auto: status for clients that are known to need it, body for the others.",
        }),
      })
      .prefault({}),
    timeouts: z
      .strictObject({
        connect: seconds(5, 'Seconds to find, reach and trust a provider, before anything is sent.'),
        stream_headers: seconds(60, 'Seconds until a streaming provider must send its response headers, connecting included.'),
        whole_headers: seconds(
          600,
          'Seconds until a provider must send the response headers of a whole (not streamed) answer, connecting included.',
        ),
        first_token: seconds(
          120,
          'Seconds until the first content of a stream; comments are none. A model may have its own first_token_timeout.',
        ),
        idle: seconds(90, 'Seconds without a byte from the provider that end an answer.'),
        total: seconds(1800, 'Seconds that a whole request may take, all its attempts together.'),
        body: seconds(60, 'Seconds in which the whole body of a request must arrive.'),
        body_idle: seconds(
          10,
          'Seconds for which a request may send no byte of its body; for a body of up to 256 KiB that states its length, seconds for each 64 KiB.',
        ),
        client_unread: seconds(
          60,
          'Seconds for which a client may read nothing of its stream or of a long answer while more of it waits. More than 255 has no further effect.',
        ),
      })
      .prefault({}),
    limits: z
      .strictObject({
        max_body_bytes: z
          .int()
          .min(1024)
          .max(1024 ** 3)
          .default(20 * 1024 * 1024)
          .meta({ description: 'The largest request body.' }),
        body_bytes_in_flight: z
          .int()
          .min(1024)
          .max(1024 ** 4)
          .default(128 * 1024 * 1024)
          .meta({
            description:
              'Bytes of request bodies, and of answers that clients have not read, that this process may hold at once. Requests beyond them are refused. At most an eighth of the memory, at least max_body_bytes.',
          }),
        answer_bytes_in_flight: z
          .int()
          .min(WHOLE_BODY_MAX)
          .max(1024 ** 4)
          .default(256 * 1024 * 1024)
          .meta({
            description:
              "Bytes of providers' whole answers that this process may read and translate at once, and of streams that it keeps for their later events, not counting the first MiB of each. An attempt beyond them fails with provider_overloaded. At most an eighth of the memory, at least 64 MiB. One provider may take most of them, but not all.",
          }),
        requests_per_minute: upTo(1_000_000_000, 0, 'Inference requests a minute of a key that has no rpm_limit of its own; 0: no bound.'),
        tokens_per_minute: upTo(1_000_000_000, 0, 'Tokens a minute, in and out, of a key that has no tpm_limit of its own; 0: no bound.'),
        key_concurrency: upTo(1_000_000, 0, 'Inference requests of one key that may run at once; 0: no bound but that of the process.'),
        in_flight: upTo(1_000_000, 4096, 'Inference requests of this process that may run at once; 0: no bound.'),
        provider_in_flight: upTo(
          1_000_000,
          0,
          'Attempts at one provider that this process may have running at once; 0: as many as limits.in_flight allows.',
        ),
        key_share: z.number().min(0).max(1).default(0.8).meta({
          description:
            'The part of in_flight, of queue and of body_bytes_in_flight that one key may take, so that there is room for others; 0: all of it.',
        }),
        queue: upTo(100_000, 256, 'Requests that may wait for a place in limits.in_flight; further ones are refused.'),
        queue_seconds: z
          .number()
          .min(0)
          .max(60)
          .default(1)
          .meta({ description: 'Seconds that a request waits for a place before it is refused.' }),
        store_timeout_ms: z
          .int()
          .min(5)
          .max(10_000)
          .default(50)
          .meta({ description: 'Milliseconds in which Redis or PostgreSQL must have said whether a key is within its limits.' }),
        loop_lag_ms: upTo(
          60_000,
          1000,
          'New inference requests are refused while the timers of this process are late by more than this many milliseconds of its own work; 0: never.',
        ),
      })
      .prefault({}),
    budgets: budgetSettings,
    files: z
      .strictObject({
        workspace_bytes: z
          .int()
          .min(0)
          .max(1024 ** 5)
          .default(1024 ** 3)
          .meta({ description: 'Bytes that the files of one workspace may have together.' }),
      })
      .prefault({}),
    generations: z
      .strictObject({
        retention_days: z.int().min(1).max(3650).default(90).meta({ description: 'Days that generation records are kept.' }),
      })
      .prefault({}),
    cors: z
      .strictObject({
        origins: z
          .array(z.url({ protocol: /^https?$/, error: ORIGIN, abort: true }).refine(isOrigin, ORIGIN))
          .default([])
          .meta({ description: 'Exact origins of browser apps that may call the API.' }),
      })
      .prefault({}),
    presets: z
      .strictObject({
        openai_prompts: z.boolean().default(false).meta({
          description:
            "Whether `prompt: {id, version, variables}` of OpenAI's interfaces is served from the preset whose slug is the id; it is refused otherwise.",
        }),
      })
      .prefault({}),
    guardrails: z.strictObject({}).optional().meta({
      description: 'Nothing reads this map; it may be left out. Guardrails are objects of the management API, not of the file.',
    }),
    moderation: moderationSettings.prefault({}),
    tools: toolSettings.prefault({}),
    plugins: pluginSettings.prefault({}),
    media: mediaSettings.prefault({}),
    observability: observabilitySettings.prefault({}),
    log: z
      .strictObject({
        format: z.enum(['auto', 'json', 'pretty']).default('auto').meta({
          description:
            'json: one object a line. pretty: short lines for people. auto: pretty on a terminal, json everywhere else. Read at the start.',
        }),
      })
      .prefault({}),
  })
  .meta({ id: 'PatchbayConfiguration', title: 'patchbay.yaml' })

export type ConfigFile = z.output<typeof configFileSchema>

export const DEFAULT_CONFIG_FILE = './patchbay.yaml'

/** The library would compile a function for each object of the schema, which takes longer than to read the one file without. */
const ONCE = { ...inSentences, jitless: true }

/** Reads the named file, or the default one if it exists; otherwise returns all defaults. Throws SettingError with one sentence. */
export const readConfigFile = (path: string | null, env: Environment): ConfigFile => configIn(readText(path), path, env)

/**
 * Each call of the returned function reads the file anew. One that held something and holds nothing any more is refused: whoever writes a
 * file empties it first, or moves it away, and without it all providers would be gone.
 */
export const createConfigReader = (path: string | null, env: Environment): (() => ConfigFile) => {
  let held = false
  return () => {
    const text = readText(path)
    const holds = (text ?? '').trim() !== ''
    if (held && !holds) {
      throw new SettingError(
        `${path ?? DEFAULT_CONFIG_FILE}: nothing is in the configuration file any more. Write "{}" into it to run without settings.`,
      )
    }
    const file = configIn(text, path, env)
    held = holds
    return file
  }
}

const configIn = (text: string | null, path: string | null, env: Environment): ConfigFile => {
  const file = path ?? DEFAULT_CONFIG_FILE
  const written = substitute(parsedText(text, file), file, [], (name, at) => {
    const found = env[name]
    if (found === undefined || found === '') throw new SettingError(`${file}: ${pathText(at)}: the variable ${name} is not set.`)
    return found
  })
  const outcome = configFileSchema.safeParse(written, ONCE)
  if (outcome.success) return outcome.data
  throw faultIn(file, written, outcome.error.issues)
}

/**
 * For a command that needs nothing from the file. Throws SettingError as `readConfigFile` does, but not for unset variables: a shell does
 * not have the providers' keys (decisions/0141).
 */
export const checkConfigFile = (path: string | null, env: Environment): void => {
  const file = path ?? DEFAULT_CONFIG_FILE
  const written = substitute(parsedText(readText(path), file), file, [], (name) => (env[name] ?? '') || OPEN)
  const outcome = configFileSchema.safeParse(written, ONCE)
  const issues = outcome.error?.issues.filter((issue) => !isOpen(written, issue)) ?? []
  if (issues.length > 0) throw faultIn(file, written, issues)
}

/** Stands for an unknown value. */
const OPEN = '\0'

const isOpen = (written: unknown, { code, path }: z.core.$ZodIssue): boolean => {
  const value = path.reduce<unknown>(
    (holder, key) => (typeof holder === 'object' && holder !== null ? (holder as Readonly<Record<PropertyKey, unknown>>)[key] : undefined),
    written,
  )
  // An error in a union refers to the union as a whole.
  const text = code === 'invalid_union' ? JSON.stringify(value) : value
  return typeof text === 'string' && (text.includes(OPEN) || text.includes(JSON.stringify(OPEN).slice(1, -1)))
}

const parsedText = (text: string | null, file: string): unknown => (text === null ? null : parseText(text, file)) ?? {}

const faultIn = (file: string, written: unknown, issues: readonly z.core.$ZodIssue[]): SettingError => {
  // If a setting is missing, it is often present under a misspelt name, so unrecognised keys are reported first.
  const issue = issues.find(({ code }) => code === 'unrecognized_keys') ?? issues[0]
  const [fault] = issue === undefined ? [] : faultsOf(configFileSchema, written, issue)
  const where = pathText(fault?.path ?? [])
  // Settings of the process are in no file, and the names of its own fields would mislead whoever looks for them there.
  const meant = issue?.code === 'unrecognized_keys' ? processSetting(where.replace(/^server\./, '')) : null
  if (meant !== null) return new SettingError(`${file}: ${where}: This is a setting of the process, not of the file. Use ${meant}.`)
  const sentence = (fault?.message ?? 'is not valid').replace(/(?<=[^.?])$/, '.')
  return new SettingError(`${file}: ${where === '' ? '' : `${where}: `}${sentence}`)
}

const readText = (path: string | null): string | null => {
  try {
    return readFileSync(path ?? DEFAULT_CONFIG_FILE, 'utf8')
  } catch (cause) {
    const code = (cause as NodeJS.ErrnoException).code
    if (path === null && code === 'ENOENT') return null
    throw new SettingError(`${path ?? DEFAULT_CONFIG_FILE}: the configuration file cannot be read (${code ?? 'unknown reason'}).`)
  }
}

/** The line number of each member of the file, by its dotted path; empty if there is no file. */
export const configLines = (path: string | null): ReadonlyMap<string, number> => {
  const lines = new Map<string, number>()
  const text = readText(path)
  if (text === null) return lines
  const counter = new LineCounter()
  const walk = (node: unknown, at: readonly string[]): void => {
    if (!isMap(node)) return
    for (const { key, value } of node.items) {
      if (!isScalar(key) || key.range == null) continue
      const path = [...at, String(key.value)]
      lines.set(path.join('.'), counter.linePos(key.range[0]).line)
      walk(value, path)
    }
  }
  walk(parseDocument(text, { lineCounter: counter, logLevel: 'error' }).contents, [])
  return lines
}

const parseText = (text: string, path: string): unknown => {
  try {
    return parsed(text)
  } catch (cause) {
    const quoted = withQuotedVariables(text)
    if (quoted !== text) return parseText(quoted, path)
    // Reports position and kind, but neither the parser's own message nor its warnings: they quote the source, which may contain a key.
    const at = cause instanceof YAMLParseError ? cause.linePos?.[0] : undefined
    const what = cause instanceof YAMLParseError ? ` (${cause.code.toLowerCase().replaceAll('_', ' ')})` : ''
    throw new SettingError(`${path}: not valid YAML${at === undefined ? '' : ` at line ${at.line}, column ${at.col}`}${what}.`)
  }
}

const parsed = (text: string): unknown => parseYaml(text, { maxAliasCount: 100, logLevel: 'error' })

/**
 * Inside `{ … }` and `[ … ]` YAML treats the braces of a bare `${NAME}` as its own, so quotes are put around each one that is a whole
 * value.
 */
const withQuotedVariables = (text: string): string => text.replace(/(?<=[[:,]\s*)\$\{[A-Za-z_][A-Za-z0-9_]*\}(?=\s*[,}\]])/g, '"$&"')

const VARIABLE = /^[A-Za-z_][A-Za-z0-9_]*$/

/** Deeper than anything that the schema knows. */
const DEPTH_MAX = 64

/**
 * `${NAME}` in any text becomes the variable's value. An unset variable is an error, not an empty key; so is anything else in the braces,
 * such as a shell's default, which would be sent to a provider as its key.
 */
const substitute = (
  value: unknown,
  path: string,
  at: readonly PropertyKey[],
  valueOf: (name: string, at: readonly PropertyKey[]) => string,
): unknown => {
  if (typeof value === 'string') {
    return value.replace(/\$\{([^}]*)\}/g, (_, name: string) => {
      if (VARIABLE.test(name)) return valueOf(name, at)
      // The text in the braces is not repeated, because a default may be a key.
      throw new SettingError(
        `${path}: ${pathText(at)}: \${…} holds more than a variable's name, or none. Write \${NAME}; there are no defaults.`,
      )
    })
  }
  // An alias inside the node that it refers to would recurse without end.
  if (at.length > DEPTH_MAX) throw new SettingError(`${path}: nested too deeply, at ${pathText(at.slice(0, 3))}.`)
  if (Array.isArray(value)) return value.map((item, index) => substitute(item, path, [...at, index], valueOf))
  if (typeof value !== 'object' || value === null) return value
  // The schema passes over this name in silence where the operator chooses the names, as of providers and models.
  if (Object.hasOwn(value, '__proto__')) throw new SettingError(`${path}: ${pathText([...at, '__proto__'])}: This name is not allowed.`)
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, substitute(item, path, [...at, key], valueOf)]))
}
