/** What is measured: a Patchbay started here, a bare proxy on the same upstream, or whatever listens at an outside address. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { type Child, startChild } from './child.ts'
import { openProcessMeter, type ProcessMeter } from './process-meter.ts'

export interface Target {
  readonly name: string
  /** As an OpenAI client's base URL: `/chat/completions` follows. */
  readonly base: string
  readonly key: string
  /** Null: presets cannot be measured. */
  readonly managementKey: string | null
  /** An inference key with a limit that is never reached; null: there is none. */
  readonly limitedKey: string | null
  /** An inference key whose requests all built-in filters read; null: there is none. */
  readonly guardedKey: string | null
  readonly model: string
  /** The model of a provider that speaks Messages; null where there is none. */
  readonly messagesModel: string | null
  /** Whether the answers are those of our own upstream, and so known to the byte. */
  readonly answersAreKnown: boolean
  /** Null: no process to look at. */
  readonly meter: ProcessMeter | null
}

export interface ServiceOptions {
  /** A directory of this run's own. */
  readonly directory: string
  readonly upstream: string
  readonly workers: number
  readonly databaseUrl: string | null
  /** Where a CPU profile of the service is written when it stops; null for none. */
  readonly profileTo: string | null
}

/** A started service and the time from its process' start to its ready line. */
export interface StartedService {
  readonly child: Child
  readonly url: string
  readonly startMs: number
}

const ROOT = join(import.meta.dirname, '..')
const BUN = join(ROOT, 'bin/bun')
const READY_MS = 20_000
const KEYS_MS = 2000
const MODEL = 'bench/chat'
const MESSAGES_MODEL = 'bench/messages'

/** Returns the base URL without a path. */
export const startUpstream = async (eventsPerWrite: number): Promise<string> => {
  const child = startChild({
    command: [BUN, join(import.meta.dirname, 'upstream.ts'), '--child', '--events-per-write', String(eventsPerWrite)],
  })
  return addressOf(await child.waitForLine(/^upstream ready /, READY_MS))
}

export const startBareProxy = async (upstream: string): Promise<Target> => {
  const child = startChild({ command: [BUN, join(import.meta.dirname, 'bare-proxy.ts'), '--child', '--upstream', upstream] })
  const url = addressOf(await child.waitForLine(/^proxy ready /, READY_MS))
  return {
    name: 'bare proxy',
    base: `${url}/v1`,
    key: 'none',
    managementKey: null,
    limitedKey: null,
    guardedKey: null,
    model: MODEL,
    messagesModel: MESSAGES_MODEL,
    answersAreKnown: true,
    meter: openProcessMeter(child.pid),
  }
}

/** Starts Patchbay as an operator does, with keys, generation records and its log (to a file) on. */
export const startService = async ({ directory, upstream, workers, databaseUrl, profileTo }: ServiceOptions): Promise<StartedService> => {
  mkdirSync(directory, { recursive: true })
  const config = join(directory, 'patchbay.yaml')
  writeFileSync(config, configuration(upstream))
  const program =
    profileTo === null
      ? [join(ROOT, 'bin/patchbay')]
      : [BUN, '--cpu-prof', '--cpu-prof-md', `--cpu-prof-dir=${profileTo}`, join(ROOT, 'src/main.ts')]
  const flags = ['--port', '0', '--data-dir', join(directory, 'data'), '--config', config, '--workers', String(workers)]
  const startedMs = performance.now()
  const child = startChild({
    command: [...program, 'serve', ...flags, ...(databaseUrl === null ? [] : ['--database-url', databaseUrl])],
    errorsTo: join(directory, 'service.log'),
  })
  const ready = await child.waitForLine(/patchbay ready http/, READY_MS)
  return { child, url: addressOf(ready), startMs: performance.now() - startedMs }
}

/** The first start of a data directory prints both keys, once. */
export const targetOf = async ({ child, url }: StartedService): Promise<Target> => {
  const base = `${url}/api/v1`
  const key = keyIn(await child.waitForLine(/pb_inf_\w+/, KEYS_MS), /pb_inf_\w+/)
  const managementKey = keyIn(await child.waitForLine(/pb_mgmt_\w+/, KEYS_MS), /pb_mgmt_\w+/)
  const manage: Manage = (path, body) => manageAt(base, managementKey, path, body)
  return {
    name: 'patchbay',
    base,
    key,
    managementKey,
    limitedKey: await makeLimitedKey(manage),
    guardedKey: await makeGuardedKey(manage),
    model: MODEL,
    messagesModel: MESSAGES_MODEL,
    answersAreKnown: true,
    meter: openProcessMeter(child.pid),
  }
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
models:
  ${MODEL}:
    context_length: 400000
    endpoints:
      - provider: bench
        model: bench-chat
        prices: { prompt: 1.25, completion: 10, cache_read: 0.125 }
        max_completion_tokens: 128000
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
