import { describe, expect, test } from 'bun:test'

import {
  type Environment,
  misspeltVariables,
  OTEL_SETTINGS,
  readSettings,
  SERVE_SETTINGS,
  SettingError,
  STORAGE_SETTINGS,
  type ServeSettings,
} from './config.ts'

const SECRET = 'a-secret-of-thirty-two-bytes-or-more'

/** For each setting a text with its value, another one, and the default. A new setting must be added here. */
const EXAMPLES: {
  readonly [Name in keyof ServeSettings]: readonly [[string, ServeSettings[Name]], [string, ServeSettings[Name]], ServeSettings[Name]]
} = {
  dataDir: [['/var/a', '/var/a'], ['/var/b', '/var/b'], './data'],
  config: [['a.yaml', 'a.yaml'], ['b.yaml', 'b.yaml'], null],
  databaseUrl: [['postgres://a/x', 'postgres://a/x'], ['postgresql://b/x', 'postgresql://b/x'], null],
  secret: [[SECRET, SECRET], [`${SECRET}!`, `${SECRET}!`], null],
  secretPrevious: [[SECRET, SECRET], [`${SECRET}!`, `${SECRET}!`], null],
  host: [['0.0.0.0', '0.0.0.0'], ['::1', '::1'], '127.0.0.1'],
  port: [['0', 0], ['65535', 65_535], 8080],
  redisUrl: [['redis://a', 'redis://a'], ['redis://b', 'redis://b'], null],
  workers: [['1', 1], ['64', 64], 1],
  leaveSeconds: [['5', 5], ['10', 10], 0],
  drainSeconds: [['0', 0], ['3600', 3600], 30],
  logLevel: [['debug', 'debug'], ['silent', 'silent'], 'info'],
}

type Name = keyof ServeSettings
const NAMES = Object.keys(SERVE_SETTINGS) as Name[]

const fault = (flags: Record<string, string>, env: Record<string, string> = {}): string => {
  try {
    readSettings(SERVE_SETTINGS, flags, env)
  } catch (thrown) {
    if (thrown instanceof SettingError) return thrown.message
    throw thrown
  }
  return 'accepted'
}

describe.each(NAMES)('%s', (name) => {
  const { flag, env } = SERVE_SETTINGS[name]
  const [[fromFlag, flagValue], [fromEnv, envValue], fallback] = EXAMPLES[name]

  test('has its default, also where its variable is empty', () => {
    expect(readSettings(SERVE_SETTINGS, {}, {})[name]).toEqual(fallback)
    expect(readSettings(SERVE_SETTINGS, {}, { [env]: '' })[name]).toEqual(fallback)
  })

  test('is read from its variable', () => {
    expect(readSettings(SERVE_SETTINGS, {}, { [env]: fromEnv })[name]).toEqual(envValue)
  })

  if (flag !== null)
    test('is read from its flag, which wins over its variable', () => {
      expect(readSettings(SERVE_SETTINGS, { [name]: fromFlag }, { [env]: fromEnv })[name]).toEqual(flagValue)
    })

  test('has a sentence for people, and a variable of ours', () => {
    expect(env).toMatch(/^PATCHBAY_[A-Z_]+$/)
    expect(SERVE_SETTINGS[name].help).toMatch(/\.$/)
  })
})

test.each(['::1', '[::1]'])('an IPv6 address is taken with and without the brackets of a URL: %s', (host) => {
  expect(readSettings(SERVE_SETTINGS, { host }, {}).host).toBe('::1')
})

test('no two settings share a flag or a variable', () => {
  const all = Object.values(SERVE_SETTINGS)
  expect(new Set(all.map(({ env }) => env)).size).toBe(all.length)
  const flags = all.flatMap(({ flag }) => flag ?? [])
  expect(new Set(flags).size).toBe(flags.length)
})

test('every verb takes the settings that find the data, by the same names', () => {
  for (const [name, setting] of Object.entries(STORAGE_SETTINGS))
    expect(SERVE_SETTINGS[name as keyof typeof STORAGE_SETTINGS]).toBe(setting as never)
})

describe('a fault is one sentence that names its source', () => {
  test.each<[string, Record<string, string>, Record<string, string>, string]>([
    ['a port that is none', { port: '65536' }, {}, '--port must be a whole number from 0 to 65535 (it is "65536").'],
    [
      'the variable, where that is what was read',
      {},
      { PATCHBAY_PORT: 'http' },
      'PATCHBAY_PORT must be a whole number from 0 to 65535 (it is "http").',
    ],
    [
      'the flag, where both are there',
      { port: '-1' },
      { PATCHBAY_PORT: '80' },
      '--port must be a whole number from 0 to 65535 (it is "-1").',
    ],
    ['a fraction', { port: '80.5' }, {}, '--port must be a whole number from 0 to 65535 (it is "80.5").'],
    ['an exponent', { port: '1e3' }, {}, '--port must be a whole number from 0 to 65535 (it is "1e3").'],
    ['spaces', { port: ' 80' }, {}, '--port must be a whole number from 0 to 65535 (it is " 80").'],
    ['an empty flag', { port: '' }, {}, '--port must be a whole number from 0 to 65535 (it is "").'],
    ['no workers', { workers: '0' }, {}, '--workers must be a whole number from 1 to 64 (it is "0").'],
    [
      'a level that is none',
      {},
      { PATCHBAY_LOG_LEVEL: 'verbose' },
      'PATCHBAY_LOG_LEVEL must be one of debug, info, warn, error, silent (it is "verbose").',
    ],
    ['an empty directory', { dataDir: '' }, {}, '--data-dir must not be empty (it is "").'],
    ['an empty file', { config: '' }, {}, '--config must not be empty (it is "").'],
    [
      'a database of another kind',
      { databaseUrl: 'mysql://db/x' },
      {},
      '--database-url must be a URL that starts with postgres:// (it is "mysql://…").',
    ],
    ['a secret that is short', {}, { PATCHBAY_SECRET: 'short' }, 'PATCHBAY_SECRET must hold at least 32 bytes.'],
    ['an address without a scheme', { databaseUrl: 'db/x' }, {}, '--database-url must be a URL that starts with postgres://.'],
  ])('%s', (_, flags, env, message) => {
    expect(fault(flags, env)).toBe(message)
  })

  test('a long value is not repeated at length', () => {
    expect(fault({ port: 'x'.repeat(10_000) }).length).toBeLessThan(400)
  })

  test.each([
    'mysql://me:hunter2@db/x',
    'mysql://me:hunter2/with-slash@db/x',
    'mysql://me:a@hunter2@db/x',
    'me:hunter2@db/x',
    'hunter2',
    'postgres://me:hunter2 with a space@db/x',
    'mysql://db/x?password=hunter2',
    'postgres://me:hunter2@db/x\nmore',
    ' postgres://me:hunter2@db/x',
  ])('a password is not repeated: %j', (url) => {
    for (const reported of [fault({ databaseUrl: url }), fault({}, { PATCHBAY_DATABASE_URL: url })]) {
      expect(reported).toContain('must be a URL')
      expect(reported).not.toContain('hunter2')
    }
  })
})

describe('an address that no client could use is refused, without its password', () => {
  test.each([
    ['databaseUrl', 'postgres://u:hunter2#@h/d'],
    ['databaseUrl', 'postgres://u:hunter2/@h/d'],
    ['databaseUrl', 'postgres://h:99999/d'],
    ['redisUrl', 'redis://:hunter2/@h'],
    ['redisUrl', 'redis://h:99999'],
  ])('%s %s', (name, value) => {
    const message = fault({ [name]: value })
    expect(message).toContain(' is not an address: ')
    expect(message).not.toContain('hunter2')
  })

  test('several Sentinels are no address of Redis', () => {
    const message = fault({ redisUrl: 'redis://one:26379,two:26379/primary' })
    expect(message).toStartWith('--redis-url must name one host, an address that follows the primary')
  })

  test('nor is a name a database of Redis', () => {
    expect(fault({ redisUrl: 'redis://one:26379,two:26379/primary' })).toStartWith(
      '--redis-url must name one host, an address that follows the primary',
    )
    expect(fault({ redisUrl: 'redis://h/cache' })).toStartWith('--redis-url must have the number of a database')
  })

  test.each([
    'postgres://u:p@h1,h2/d',
    'postgres://h1:5432,h2:5432/d',
    'postgres://u@h1,h2',
    'postgres:///d?host=h1,h2',
    'postgres:///d?port=1&host=h1%2Ch2',
  ])('nor are several hosts one: %s', (url) => {
    expect(fault({ databaseUrl: url })).toStartWith('--database-url must name one host')
  })

  test.each([
    ['databaseUrl', 'postgres://u:a,b@h/d?options=-c%20search_path=a,b'],
    ['databaseUrl', 'postgres:///d?host=/run/postgresql'],
    ['databaseUrl', 'postgres://u:p@/d?host=/run/postgresql'],
    ['databaseUrl', 'postgres://u:p%23@[::1]:5432/d'],
    ['redisUrl', 'rediss://u:p@h:6380/1'],
    ['redisUrl', 'redis://h/'],
  ])('%s %s is one', (name, value) => {
    expect(fault({ [name]: value })).toBe('accepted')
  })
})

describe("variables of PostgreSQL's own programs", () => {
  const read = (databaseUrl: string, env: Environment): string | null => readSettings(STORAGE_SETTINGS, { databaseUrl }, env).databaseUrl

  test('complete a database URL', () => {
    const env = { PGSSLMODE: 'verify-full', PGSSLROOTCERT: '/etc/ca.crt', PGOPTIONS: '-c search_path=a', PGSSLCERT: '' }
    expect(read('postgres://u@h/d', env)).toBe(
      'postgres://u@h/d?sslmode=verify-full&sslrootcert=%2Fetc%2Fca.crt&options=-c+search_path%3Da',
    )
  })

  test('do not override it', () => {
    expect(read('postgres://u@h/d?sslmode=require', { PGSSLMODE: 'disable' })).toBe('postgres://u@h/d?sslmode=require')
  })

  test('do not change SQLite', () => {
    expect(readSettings(STORAGE_SETTINGS, {}, { PGSSLMODE: 'require' }).databaseUrl).toBeNull()
  })
})

test.each(['bad header=hunter2', 'x-key=hunter2%0A'])(
  'headers for a collector that cannot be sent are a fault without their values: %s',
  (value) => {
    const read = (): unknown => readSettings(OTEL_SETTINGS, {}, { OTEL_EXPORTER_OTLP_HEADERS: value })
    expect(read).toThrow(/^OTEL_EXPORTER_OTLP_HEADERS has a name or a value that no header can have\.$/)
  },
)

test('a variable that is nearly a setting is reported with the name that was meant; others of the same beginning are not', () => {
  const meant = (name: string): string | undefined => / (\w+)\?$/.exec(misspeltVariables({ [name]: 'x' })[0] ?? '')?.[1]
  expect(['PATCHBAY_DATADIR', 'PATCHBAY_PROT', 'PATCHBAY_SECRETS', 'PATCHBAY_LOGLEVEL'].map(meant)).toEqual([
    'PATCHBAY_DATA_DIR',
    'PATCHBAY_PORT',
    'PATCHBAY_SECRET',
    'PATCHBAY_LOG_LEVEL',
  ])
  expect(meant('OTEL_EXPORTER_OTLP_ENDPONT')).toBe('OTEL_EXPORTER_OTLP_ENDPOINT')
  // The second is the workers' own, the next are those of Kubernetes for a Service of this name.
  const others = [
    'PATCHBAY_PORT',
    'PATCHBAY_WORKER',
    'PATCHBAY_SERVICE_HOST',
    'PATCHBAY_PORT_8080_TCP',
    'PATCHBAY_OPENAI_KEY',
    'PATH',
    'OTEL_LOGS_EXPORTER',
  ]
  expect(others.map(meant)).toEqual(others.map(() => undefined))
})
