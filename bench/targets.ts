/**
 * The targets that are measured: a Patchbay started here, a bare proxy with the same upstream, that upstream, or any program at an outside
 * address.
 */
import { Database } from 'bun:sqlite'
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { type Child, startChild } from './child.ts'
import { openProcessMeter, type ProcessMeter } from './process-meter.ts'

/** The address of requests, and the model that they name. */
interface Address {
  /** An OpenAI client's base URL, to which `/chat/completions` is appended. */
  readonly base: string
  readonly model: string
}

/** A null member is a feature that the target lacks. */
export interface Target extends Address {
  readonly name: string
  readonly key: string
  readonly managementKey: string | null
  /** An inference key with a limit that is never reached. */
  readonly limitedKey: string | null
  /** An inference key whose requests are checked by all built-in filters. */
  readonly guardedKey: string | null
  /** The model of a provider that speaks Messages. */
  readonly messagesModel: string | null
  /** A provider that takes 50 ms, and one that streams ten events a second. */
  readonly delayed: Address | null
  readonly paced: Address | null
  /** Presets, as a request names them. */
  readonly presetModels: readonly string[] | null
  /** Says whether the answers come from our own upstream, so that their bytes are known. */
  readonly answersAreKnown: boolean
  /** Null if there is no process to inspect. */
  readonly meter: ProcessMeter | null
  /** Stops the process if it was started here. */
  stop(): Promise<void>
}

export interface ServiceOptions {
  /** The directory of this run. */
  readonly directory: string
  readonly upstream: string
  /** A PostgreSQL whose user may create databases, one for each service; null for SQLite. */
  readonly databaseUrl: string | null
  /** The file for a CPU profile, written when the service stops; null for none. */
  readonly profileTo: string | null
  /** The checkout to run. */
  readonly root: string
}

export const ROOT = join(import.meta.dirname, '..')

/** The targets that can be started. */
const KINDS = {
  patchbay: (options: ServiceOptions) => startPatchbay(options),
  'patchbay, 2 workers': (options: ServiceOptions) => startPatchbay(options, { workers: 2 }),
  'patchbay, 10 presets and keys': (options: ServiceOptions) => startPatchbay(options, { rows: 10 }),
  'patchbay, 100,000 presets and keys': (options: ServiceOptions) => startPatchbay(options, { rows: 100_000 }),
  'bare proxy': ({ upstream }: ServiceOptions) => startBareProxy(upstream),
  upstream: async ({ upstream }: ServiceOptions) => withoutKeys('upstream', upstream),
} satisfies Record<string, (options: ServiceOptions) => Promise<Target>>

export type TargetKind = keyof typeof KINDS

export const startTarget = (kind: TargetKind, options: ServiceOptions): Promise<Target> => KINDS[kind](options)

/** Says whether the target is a Patchbay, so that another checkout can be compared. */
export const isPatchbay = (kind: TargetKind): boolean => kind.startsWith('patchbay')

/** The reason why a target of this kind is not available with these options, or null. */
export const whyNot = (kind: TargetKind, { databaseUrl }: Pick<ServiceOptions, 'databaseUrl'>): string | null => {
  if (kind === 'patchbay, 2 workers' && databaseUrl === null) return 'it needs --database-url'
  return kind.endsWith('presets and keys') && databaseUrl !== null ? 'it is only made on SQLite' : null
}

/** A service that is already running. */
export const outsideTarget = (
  outside: Pick<Target, 'base' | 'model' | 'key' | 'managementKey'> & { readonly pid: number | null },
): Target => ({
  ...NOTHING,
  ...outside,
  name: new URL(outside.base).host,
  answersAreKnown: false,
  meter: outside.pid === null ? null : openProcessMeter(outside.pid),
})

const NOTHING = {
  managementKey: null,
  limitedKey: null,
  guardedKey: null,
  messagesModel: null,
  delayed: null,
  paced: null,
  presetModels: null,
  meter: null,
  stop: async () => undefined,
}

const BUN = join(ROOT, 'bin/bun')
const READY_MS = 20_000
const KEYS_MS = 2000

/** The models of the fake upstream, and the upstream's path for each. */
const MODEL = 'bench/chat'
const MESSAGES_MODEL = 'bench/messages'
const PATHS = { 'bench/delayed': '/delayed', 'bench/paced': '/paced' } as const

/** Returns the base URL without a path. */
export const startUpstream = async (eventsPerWrite: number): Promise<string> => {
  const child = startChild({
    command: [BUN, join(import.meta.dirname, 'upstream.ts'), '--child', '--events-per-write', String(eventsPerWrite)],
  })
  return addressOf(await child.waitForLine(/^upstream ready /, READY_MS))
}

const startBareProxy = async (upstream: string): Promise<Target> => {
  const child = startChild({ command: [BUN, join(import.meta.dirname, 'bare-proxy.ts'), '--child', '--upstream', upstream] })
  const url = addressOf(await child.waitForLine(/^proxy ready /, READY_MS))
  return { ...withoutKeys('bare proxy', url), ...processOf(child) }
}

/** A target without keys: any text passes for a key of each kind. */
const withoutKeys = (name: string, url: string): Target => {
  const at = (path: string): Address => ({ base: `${url}${path}/v1`, model: MODEL })
  return {
    ...NOTHING,
    ...at(''),
    name,
    key: 'none',
    limitedKey: 'none',
    guardedKey: 'none',
    messagesModel: MESSAGES_MODEL,
    delayed: at(PATHS['bench/delayed']),
    paced: at(PATHS['bench/paced']),
    answersAreKnown: true,
  }
}

const processOf = (child: Child): Pick<Target, 'meter' | 'stop'> => ({
  meter: openProcessMeter(child.pid),
  stop: async () => void (await child.stop()),
})

/** A started service and the time from its process' start to its ready line. */
export interface StartedService {
  readonly child: Child
  readonly url: string
  readonly startMs: number
}

/** Starts Patchbay as an operator does, with keys, generation records and its log (to a file) enabled. */
export const startService = async (
  { directory, upstream, databaseUrl, profileTo, root }: ServiceOptions,
  workers = 1,
): Promise<StartedService> => {
  mkdirSync(directory, { recursive: true })
  const config = join(directory, 'patchbay.yaml')
  writeFileSync(config, configuration(upstream))
  const program =
    profileTo === null
      ? [join(root, 'bin/patchbay')]
      : [BUN, '--cpu-prof', '--cpu-prof-md', `--cpu-prof-dir=${profileTo}`, join(root, 'src/main.ts')]
  const flags = ['--port', '0', '--data-dir', join(directory, 'data'), '--config', config, '--workers', String(workers)]
  const startedMs = performance.now()
  const child = startChild({
    command: [...program, 'serve', ...flags, ...(databaseUrl === null ? [] : ['--database-url', databaseUrl])],
    errorsTo: join(directory, 'service.log'),
  })
  const ready = await child.waitForLine(/patchbay ready http/, READY_MS)
  return { child, url: addressOf(ready), startMs: performance.now() - startedMs }
}

interface Variant {
  readonly workers?: number
  /** The number of presets and keys, which requests use in turn. */
  readonly rows?: number
}

const startPatchbay = async (options: ServiceOptions, { workers, rows }: Variant = {}): Promise<Target> => {
  const own = {
    ...options,
    directory: mkdtempSync(join(options.directory, 'service-')),
    databaseUrl: options.databaseUrl === null ? null : await createDatabase(options.databaseUrl),
  }
  const first = await startService(own, workers)
  // The first start of a data directory prints both keys, once.
  const key = keyIn(await first.child.waitForLine(/pb_inf_\w+/, KEYS_MS), /pb_inf_\w+/)
  const managementKey = keyIn(await first.child.waitForLine(/pb_mgmt_\w+/, KEYS_MS), /pb_mgmt_\w+/)
  const manage: Manage = (path, body) => manageAt(`${first.url}/api/v1`, managementKey, path, body)
  const keys = { key, managementKey, limitedKey: await makeLimitedKey(manage), guardedKey: await makeGuardedKey(manage) }
  const presetModels = rows === undefined ? null : await multiply(first, own.directory, rows, manage)
  const { child, url } = presetModels === null ? first : await startService(own, workers)
  const base = `${url}/api/v1`
  return {
    ...keys,
    ...processOf(child),
    name: 'patchbay',
    base,
    model: MODEL,
    messagesModel: MESSAGES_MODEL,
    delayed: { base, model: 'bench/delayed' },
    paced: { base, model: 'bench/paced' },
    presetModels,
    answersAreKnown: true,
  }
}

/** The database of one service. Databases stay until their server is told to drop them, at the end of the run. */
const createDatabase = async (server: string): Promise<string> => {
  const name = `bench_${crypto.randomUUID().replaceAll('-', '')}`
  const sql = new Bun.SQL(server, { max: 1 })
  await sql.unsafe(`create database ${name}`)
  await sql.close()
  const url = new URL(server)
  url.pathname = `/${name}`
  return url.href
}

/** Requests name at most this many presets, since in a large installation most requests come from a part of the callers. */
const ASKED_PRESETS = 1000

/** Stops the service and copies its one preset and the last key until there are `rows` of each. Returns the presets to request. */
const multiply = async (service: StartedService, directory: string, rows: number, manage: Manage): Promise<string[]> => {
  await manage('/presets/copied/chat/completions', {
    model: MODEL,
    messages: [{ role: 'system', content: 'Be brief.' }],
    temperature: 0.3,
  })
  await service.child.stop()
  const database = new Database(join(directory, 'data/patchbay.db'))
  for (const [table, changed] of Object.entries(COPIED)) {
    const columns = (database.query(`pragma table_info(${table})`).all() as { name: string }[]).map(({ name }) => name)
    database.run(`with recursive copy (i) as (select 1 union all select i + 1 from copy where i < ${rows})
      insert into ${table} (${columns.join(', ')})
      select ${columns.map((name) => changed[name] ?? `original.${name}`).join(', ')}
      from copy, (select * from ${table} order by rowid desc limit 1) as original`)
  }
  database.close()
  return Array.from({ length: Math.min(rows, ASKED_PRESETS) }, (_, index) => `@preset/copy-${index + 1}`)
}

/** The columns of a row that must be different in its copy. */
const COPIED: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  presets: { id: "'copy-' || i", slug: "'copy-' || i", designated_version_id: "'copy-' || i" },
  preset_versions: { id: "'copy-' || i", preset_id: "'copy-' || i" },
  api_keys: { hash: "printf('%064x', i)", digest: "'copy-' || i", name: "'copy-' || i" },
}

type Manage = (path: string, body: object) => Promise<unknown>

const manageAt = async (base: string, managementKey: string, path: string, body: object): Promise<unknown> => {
  const answer = await fetch(base + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${managementKey}` },
    body: JSON.stringify(body),
  })
  if (!answer.ok) throw new Error(`${path} answered ${answer.status}: ${await answer.text()}`)
  return answer.json()
}

interface MadeKey {
  readonly key: string
  readonly data: { readonly hash: string }
}

const makeLimitedKey = async (manage: Manage): Promise<string> =>
  ((await manage('/keys', { name: 'limited', limit: 1_000_000, limit_reset: 'monthly' })) as MadeKey).key

const FILTERS = ['email', 'phone', 'ssn', 'credit-card', 'ip-address', 'secrets', 'person-name', 'address', 'regex-prompt-injection']

const makeGuardedKey = async (manage: Manage): Promise<string> => {
  const made = (await manage('/keys', { name: 'guarded' })) as MadeKey
  const content_filter_builtins = FILTERS.map((slug) => ({ slug, action: 'flag' }))
  const guardrail = (await manage('/guardrails', { name: 'bench', content_filter_builtins })) as { readonly data: { readonly id: string } }
  await manage(`/guardrails/${guardrail.data.id}/assignments/keys`, { key_hashes: [made.data.hash] })
  return made.key
}

const configuration = (upstream: string): string => `providers:
  bench:
    name: Bench upstream
    dialects: [openai-chat]
    base_url: ${upstream}/v1
    api_key: bench-upstream-key
  bench-messages:
    name: Bench upstream of Messages
    dialects: [anthropic]
    base_url: ${upstream}
    api_key: bench-upstream-key
${Object.entries(PATHS)
  .map(
    ([model, path]) => `  ${model.replace('/', '-')}:
    name: Bench upstream below ${path}
    dialects: [openai-chat]
    base_url: ${upstream}${path}/v1
    api_key: bench-upstream-key`,
  )
  .join('\n')}
models:
${[MODEL, ...Object.keys(PATHS)]
  .map(
    (model) => `  ${model}:
    context_length: 400000
    endpoints:
      - provider: ${model === MODEL ? 'bench' : model.replace('/', '-')}
        model: bench-chat
        prices: { prompt: 1.25, completion: 10, cache_read: 0.125 }
        max_completion_tokens: 128000`,
  )
  .join('\n')}
  ${MESSAGES_MODEL}:
    context_length: 400000
    endpoints:
      - provider: bench-messages
        model: bench-messages
        prices: { prompt: 3, completion: 15, cache_read: 0.3 }
        max_completion_tokens: 128000
`

const addressOf = (line: string): string => {
  const found = /http:\/\/\S+/.exec(line)?.[0]
  if (found === undefined) throw new Error(`No address in "${line}".`)
  return found.replace(/\/$/, '')
}

const keyIn = (line: string, pattern: RegExp): string => pattern.exec(line)?.[0] ?? ''
