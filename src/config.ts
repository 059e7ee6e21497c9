/**
 * The one table of settings: each with its flag, its variable, its default and one sentence. `--help`, the docs and the validation are
 * derived from it. This is the only file that reads the environment.
 */
import { z } from 'zod'

import { decodedOrSame } from './lib/text/percent-text.ts'

export class SettingError extends Error {
  override readonly name = 'SettingError'
}

interface Setting<Value> {
  readonly flag: string | null
  readonly env: string
  readonly help: string
  /** The default in readable form. */
  readonly shown: string
  readonly schema: z.ZodType<Value, string | undefined>
  /** Adds to the value what further variables say. */
  complete?(value: Value, env: Environment): Value
}

const setting = <Value>(
  flag: string | null,
  env: string,
  shown: string,
  help: string,
  schema: z.ZodType<Value, string | undefined>,
): Setting<Value> => ({
  flag,
  env,
  help,
  shown,
  schema,
})

const NOT_EMPTY = 'must not be empty'
const NOT_AN_ADDRESS =
  'is not an address: the port is a number up to 65535, and in a password characters such as / # ? and % are written percent-encoded'
const text = (fallback: string): z.ZodType<string, string | undefined> => z.string().min(1, NOT_EMPTY).default(fallback)
/** An IPv6 address is written in brackets in a URL, and many write it so everywhere. */
const withoutBrackets = (host: string): string => host.replace(/^\[(.+)\]$/, '$1')
const optionalText = z
  .string()
  .min(1, NOT_EMPTY)
  .optional()
  .transform((value) => value ?? null)
const wholeNumber = (min: number, max: number) =>
  z
    .string()
    .refine(
      (value) => /^\d{1,9}$/.test(value) && Number(value) >= min && Number(value) <= max,
      `must be a whole number from ${min} to ${max}`,
    )
    .transform(Number)
const integer = (fallback: number, min: number, max: number): z.ZodType<number, string | undefined> =>
  wholeNumber(min, max).prefault(String(fallback))
const optionalTimeoutMs: z.ZodType<number | null, string | undefined> = wholeNumber(1, 600_000)
  .optional()
  .transform((value) => value ?? null)
const choice = <const Option extends string>(options: readonly Option[], fallback: Option): z.ZodType<Option, string | undefined> =>
  z
    .string()
    .default(fallback)
    .transform((value, context) => {
      const chosen = options.find((option) => option === value)
      if (chosen !== undefined) return chosen
      context.addIssue({ code: 'custom', message: `must be one of ${options.join(', ')}` })
      return z.NEVER
    })

const secretText = z
  .string()
  .refine((value) => Buffer.byteLength(value) >= 32, 'must hold at least 32 bytes')
  .optional()
  .transform((value) => value ?? null)

const SEVERAL_HOSTS = /^[^/]*\/\/(?:[^/?#]*@)?[^/?#@]*,[^/?#@]*(?:[/?#]|$)|[?&]host=[^&]*(?:,|%2c)/i

/** The settings that every command needs to find the data. */
export const STORAGE_SETTINGS = {
  dataDir: setting('data-dir', 'PATCHBAY_DATA_DIR', './data', 'Directory of the database file and of the root secret.', text('./data')),
  config: setting(
    'config',
    'PATCHBAY_CONFIG',
    './patchbay.yaml if it exists',
    'Configuration file: providers, models, server settings.',
    optionalText,
  ),
  databaseUrl: {
    ...setting(
      'database-url',
      'PATCHBAY_DATABASE_URL',
      'SQLite in the data directory',
      'postgres://… to keep the data in PostgreSQL 15 or newer.',
      z
        .string()
        .regex(/^postgres(?:ql)?:\/\/\S+$/, 'must be a URL that starts with postgres://')
        .refine((value) => !SEVERAL_HOSTS.test(value), 'must name one host: the service does not look for the primary among several')
        // With a socket's folder in `host`, the host before the path may be empty.
        .refine((value) => URL.canParse(value.replace('@/', '@host/')), NOT_AN_ADDRESS)
        .optional()
        .transform((value) => value ?? null),
    ),
    complete: (url: string | null, env: Environment) => (url === null ? null : withPostgresVariables(url, env)),
  },
  secret: setting(null, 'PATCHBAY_SECRET', 'made on first start in the data directory', 'Root secret, at least 32 bytes.', secretText),
  secretPrevious: setting(
    null,
    'PATCHBAY_SECRET_PREVIOUS',
    'none',
    'The root secret that PATCHBAY_SECRET replaces, while it is rotated.',
    secretText,
  ),
}

const redisUrl = setting(
  'redis-url',
  'PATCHBAY_REDIS_URL',
  'none',
  'redis://… or valkey://…: where several processes count the limits of keys together.',
  z
    .string()
    .regex(/^(?:redis|rediss|valkey|valkeys|redis\+tls):\/\/\S+$/, 'must be a URL that starts with redis:// or valkey://')
    .refine((value) => !SEVERAL_HOSTS.test(value), 'must name one host, an address that follows the primary: the service asks no Sentinel')
    .refine(URL.canParse, NOT_AN_ADDRESS)
    .refine(
      (value) => /^(?:\/\d*)?$/.test(URL.parse(value)?.pathname ?? ''),
      'must have the number of a database, or nothing, after the host',
    )
    .optional()
    .transform((value) => value ?? null),
)

export const DOCTOR_SETTINGS = { ...STORAGE_SETTINGS, redisUrl }

export const SERVE_SETTINGS = {
  ...STORAGE_SETTINGS,
  host: setting('host', 'PATCHBAY_HOST', '127.0.0.1', 'Address to listen on.', text('127.0.0.1').transform(withoutBrackets)),
  port: setting('port', 'PATCHBAY_PORT', '8080', 'Port to listen on; 0 takes any free one.', integer(8080, 0, 65_535)),
  redisUrl,
  workers: setting('workers', 'PATCHBAY_WORKERS', '1', 'Processes that share the port; more than one needs PostgreSQL.', integer(1, 1, 64)),
  leaveSeconds: setting(
    'leave-seconds',
    'PATCHBAY_LEAVE_SECONDS',
    '0',
    'How long after SIGTERM requests are still taken, while /health/ready says 503, so that balancers can leave first.',
    integer(0, 0, 3600),
  ),
  drainSeconds: setting('drain-seconds', 'PATCHBAY_DRAIN_SECONDS', '30', 'How long streams may go on after SIGTERM.', integer(30, 0, 3600)),
  logLevel: setting(
    'log-level',
    'PATCHBAY_LOG_LEVEL',
    'info',
    'debug, info, warn, error or silent; logs go to stderr.',
    choice(['debug', 'info', 'warn', 'error', 'silent'], 'info'),
  ),
}

/** The settings that a command needs to call a running service. */
export const REMOTE_SETTINGS = {
  url: setting(
    'url',
    'PATCHBAY_URL',
    'http://127.0.0.1:8080',
    'Address of the running service.',
    z
      .string()
      .regex(/^https?:\/\/\S+$/, 'must be a URL that starts with http:// or https://')
      .default('http://127.0.0.1:8080'),
  ),
  managementKey: setting(
    null,
    'PATCHBAY_MANAGEMENT_KEY',
    'none',
    'A management key of the service.',
    z
      .string()
      .regex(/^[\x21-\x7e]+$/, 'holds a character that no key has, such as a line end')
      .optional()
      .transform((value) => value ?? null),
  ),
}

const optionalAddress = z
  .string()
  .regex(/^https?:\/\/\S+$/, 'must be an address that starts with http:// or https://')
  .optional()
  .transform((value) => value ?? null)

/**
 * `a=1,b=2`, percent-encoded: the format of lists in variables by the OpenTelemetry standard. As it requires, anything that is not a pair
 * is skipped.
 */
const pairs = z
  .string()
  .default('')
  .transform((text) =>
    Object.fromEntries(
      text.split(',').flatMap((pair): [string, string][] => {
        const at = pair.indexOf('=')
        const name = pair.slice(0, at).trim()
        const value = pair.slice(at + 1).trim()
        return at < 1 || name === '' ? [] : [[name, decodedOrSame(value)]]
      }),
    ),
  )

const HEADER_NAME = /^[!#$%&'*+.^_`|~\w-]+$/
const HEADER_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/

const headers = pairs.refine(
  (found) => Object.entries(found).every(([name, value]) => HEADER_NAME.test(name) && HEADER_VALUE.test(value)),
  'has a name or a value that no header can have',
)

const truth = z
  .string()
  .default('false')
  .transform((text) => text.toLowerCase() === 'true')

const SAMPLERS = [
  'always_on',
  'always_off',
  'traceidratio',
  'parentbased_always_on',
  'parentbased_always_off',
  'parentbased_traceidratio',
] as const

/** The destinations of the service's own traces and metrics, under the names of the OpenTelemetry standard. */
export const OTEL_SETTINGS = {
  disabled: setting(null, 'OTEL_SDK_DISABLED', 'false', 'true: nothing is exported.', truth),
  endpoint: setting(
    null,
    'OTEL_EXPORTER_OTLP_ENDPOINT',
    'none',
    'Base address of a collector that takes OTLP over HTTP; `/v1/traces` and `/v1/metrics` are added to it.',
    optionalAddress,
  ),
  tracesEndpoint: setting(null, 'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', 'none', 'The whole address for traces.', optionalAddress),
  metricsEndpoint: setting(null, 'OTEL_EXPORTER_OTLP_METRICS_ENDPOINT', 'none', 'The whole address for metrics.', optionalAddress),
  headers: setting(null, 'OTEL_EXPORTER_OTLP_HEADERS', 'none', 'Headers of each request: `name=value,name=value`.', headers),
  tracesHeaders: setting(null, 'OTEL_EXPORTER_OTLP_TRACES_HEADERS', 'none', 'More of them for traces.', headers),
  metricsHeaders: setting(null, 'OTEL_EXPORTER_OTLP_METRICS_HEADERS', 'none', 'More of them for metrics.', headers),
  timeoutMs: setting(null, 'OTEL_EXPORTER_OTLP_TIMEOUT', '10000', 'Milliseconds that a request may take.', integer(10_000, 1, 600_000)),
  tracesTimeoutMs: setting(null, 'OTEL_EXPORTER_OTLP_TRACES_TIMEOUT', 'the one above', 'The same for traces.', optionalTimeoutMs),
  metricsTimeoutMs: setting(null, 'OTEL_EXPORTER_OTLP_METRICS_TIMEOUT', 'the one above', 'The same for metrics.', optionalTimeoutMs),
  compression: setting(null, 'OTEL_EXPORTER_OTLP_COMPRESSION', 'none', 'gzip or none.', choice(['none', 'gzip'], 'none')),
  protocol: setting(
    null,
    'OTEL_EXPORTER_OTLP_PROTOCOL',
    'http/json',
    'http/json is spoken, also where http/protobuf is asked for: collectors take either on one port. grpc is refused.',
    choice(['http/json', 'http/protobuf'], 'http/json'),
  ),
  tracesExporter: setting(null, 'OTEL_TRACES_EXPORTER', 'otlp', 'none: no traces.', choice(['otlp', 'none'], 'otlp')),
  metricsExporter: setting(null, 'OTEL_METRICS_EXPORTER', 'otlp', 'none: no metrics.', choice(['otlp', 'none'], 'otlp')),
  metricIntervalMs: setting(
    null,
    'OTEL_METRIC_EXPORT_INTERVAL',
    '60000',
    'Milliseconds between two exports of the metrics.',
    integer(60_000, 100, 86_400_000),
  ),
  serviceName: setting(null, 'OTEL_SERVICE_NAME', 'patchbay', 'Name of the service in traces and metrics.', optionalText),
  resourceAttributes: setting(null, 'OTEL_RESOURCE_ATTRIBUTES', 'none', 'Further attributes of the service: `key=value,key=value`.', pairs),
  sampler: setting(
    null,
    'OTEL_TRACES_SAMPLER',
    'parentbased_always_on',
    `Which traces are exported: ${SAMPLERS.join(', ')}.`,
    choice(SAMPLERS, 'parentbased_always_on'),
  ),
  samplerArg: setting(
    null,
    'OTEL_TRACES_SAMPLER_ARG',
    '1',
    'The share of traces, for the samplers with `ratio` in their name.',
    z
      .string()
      .default('1')
      .refine((text) => Number(text) >= 0 && Number(text) <= 1 && text.trim() !== '', 'must be a number from 0 to 1')
      .transform(Number),
  ),
}

export type OtelSettings = Settings<typeof OTEL_SETTINGS>

type Settings<Table extends Record<string, Setting<unknown>>> = {
  readonly [Name in keyof Table]: Table[Name] extends Setting<infer Value> ? Value : never
}
export type StorageSettings = Settings<typeof STORAGE_SETTINGS>
export type DoctorSettings = Settings<typeof DOCTOR_SETTINGS>
export type RemoteSettings = Settings<typeof REMOTE_SETTINGS>
export type ServeSettings = Settings<typeof SERVE_SETTINGS>

export type Environment = Readonly<Record<string, string | undefined>>

/** NO_COLOR is the conventional variable of people who want no colours anywhere. */
export const wantsColours = (env: Environment): boolean => (env['NO_COLOR'] ?? '') === ''

export const environment = (): Environment => process.env

/** A process that `--workers` started has it, set by the first of them. */
export const WORKER_VARIABLE = 'PATCHBAY_WORKER'

/** A sentence for each variable that is nearly named as a setting of this service, which nothing else would report. */
export const misspeltVariables = (env: Environment): readonly string[] => {
  const known = [STORAGE_SETTINGS, SERVE_SETTINGS, REMOTE_SETTINGS, OTEL_SETTINGS].flatMap((table) =>
    Object.values(table).map((row) => row.env),
  )
  return Object.keys(env)
    .filter((name) => /^(?:PATCHBAY|OTEL)_/.test(name) && name !== WORKER_VARIABLE && !known.includes(name))
    .flatMap((name) => {
      const meant = known.find((one) => isNearly(name, one))
      return meant === undefined ? [] : [`The variable ${name} is no setting and changes nothing. Is it ${meant}?`]
    })
}

/** The setting of the process, `--port or PATCHBAY_PORT`, that somebody may mean by a field of the file; null if there is none. */
export const processSetting = (field: string): string | null => {
  const found = Object.values<Setting<unknown>>(SERVE_SETTINGS).find(({ flag }) => flag === field.replace(/[._]/g, '-').toLowerCase())
  return found === undefined ? null : `--${found.flag} or ${found.env}`
}

/** Says whether two names differ in one place, by at most two letters: one is missing, or two have changed places. */
const isNearly = (one: string, other: string): boolean => {
  const shorter = Math.min(one.length, other.length)
  let start = 0
  while (start < shorter && one[start] === other[start]) start += 1
  let end = 0
  while (end < shorter - start && one.at(-1 - end) === other.at(-1 - end)) end += 1
  return Math.max(one.length, other.length) - start - end <= 2
}

/** A flag takes precedence over its variable, and the variable over the default. An empty variable counts as unset. Throws SettingError. */
export const readSettings = <Table extends Record<string, Setting<unknown>>>(
  table: Table,
  flags: Readonly<Record<string, string | undefined>>,
  env: Environment,
): Settings<Table> => {
  const values: Record<string, unknown> = {}
  for (const [name, { flag, env: variable, schema, complete }] of Object.entries(table)) {
    const fromFlag = flags[name]
    const fromEnv = env[variable] === '' ? undefined : env[variable]
    const outcome = schema.safeParse(fromFlag ?? fromEnv)
    if (!outcome.success) {
      const source = fromFlag !== undefined && flag !== null ? `--${flag}` : variable
      const repeated = shown(name, fromFlag ?? fromEnv)
      throw new SettingError(
        `${source} ${outcome.error.issues[0]?.message ?? 'is not valid'}${repeated === null ? '' : ` (it is ${JSON.stringify(repeated)})`}.`,
      )
    }
    values[name] = complete === undefined ? outcome.data : complete(outcome.data, env)
  }
  return values as Settings<Table>
}

/** The variables of PostgreSQL's programs that its driver for this runtime understands otherwise or not at all. It reads others, such as PGPASSWORD, itself. */
const POSTGRES_VARIABLES = {
  PGSSLMODE: 'sslmode',
  PGSSLROOTCERT: 'sslrootcert',
  PGSSLCERT: 'sslcert',
  PGSSLKEY: 'sslkey',
  PGCHANNELBINDING: 'channel_binding',
  PGOPTIONS: 'options',
}

/** The URL takes precedence over the variables (decisions/0157). */
const withPostgresVariables = (url: string, env: Environment): string => {
  const [address, query] = url.split(/\?(.*)/s)
  const parameters = new URLSearchParams(query)
  for (const [variable, name] of Object.entries(POSTGRES_VARIABLES)) {
    const value = env[variable] ?? ''
    if (value !== '' && !parameters.has(name)) parameters.set(name, value)
  }
  return parameters.size === 0 ? url : `${address}?${parameters.toString()}`
}

/** The part of a value that an error may repeat: nothing of a secret, and only the scheme of an address, which may contain a password. */
const shown = (name: string, value = ''): string | null => {
  if (name.startsWith('secret') || name === 'managementKey' || /headers$/i.test(name)) return null
  if (!/(?:Url|[eE]ndpoint)$/.test(name)) return value.slice(0, 200)
  const scheme = /^[a-z][a-z0-9+.-]*:\/\//i.exec(value)?.[0]
  return scheme === undefined ? null : `${scheme}…`
}
