/** Calls one search engine within its time limit; a refusal that may be temporary is retried once. */
import type { ServerToolFault } from '../../canonical/server-tools.ts'
import { signatureHeader } from '../../lib/json/body-signature.ts'
import { type Clock, pauseUnlessAborted } from '../../lib/clock.ts'
import { UnsafeRequest, type SafeFetch, type SafeRequest, type SafeResponse } from '../../providers/transport/safe-fetch.ts'
import { ENGINE_KINDS, type EngineKind } from './engine-kinds.ts'
import { readResults, type Reading } from './read-results.ts'
import type { Search } from './search.ts'
import type { EngineSettings } from './settings.ts'

export interface Engine extends EngineSettings {
  readonly name: string
}

export interface AskParts {
  readonly clock: Clock
  readonly safeFetch: SafeFetch
}

/** The engine returned no results. The message is shown to the model and the client: it names the engine and does not repeat the query. */
export class EngineFailure extends Error {
  override readonly name = 'EngineFailure'
  readonly code: ServerToolFault
  readonly engine: string

  constructor(code: ServerToolFault, engine: string, message: string, options?: ErrorOptions) {
    super(message, options)
    this.code = code
    this.engine = engine
  }
}

/** The maximum number of results that the engine can return for a search. */
const mostOf = ({ kind }: Engine, search: Search): number => Math.min(search.most, ENGINE_KINDS[kind].most)

/** Throws an EngineFailure, or the signal's reason. */
export const askEngine = async (engine: Engine, search: Search, { clock, safeFetch }: AskParts, signal: AbortSignal): Promise<Reading> => {
  const kind = ENGINE_KINDS[engine.kind]
  const asked = { ...search, most: asksFor(kind, search) }
  const endMs = clock.monotonicMs() + ENGINE_MS
  for (let isRetry = false; ; isRetry = true) {
    const leftMs = Math.max(1, Math.ceil(endMs - clock.monotonicMs()))
    const answer = await sent(safeFetch, {
      ...requestOf(engine, kind, asked, clock),
      timeoutMs: leftMs,
      maxBytes: ANSWER_MAX_BYTES,
      signal,
    })
    signal.throwIfAborted()
    if (answer instanceof UnsafeRequest || answer.status < 200 || answer.status > 299) {
      const waitMs = answer instanceof UnsafeRequest ? PAUSE_MS : (answer.retryAfterSeconds ?? PAUSE_MS / 1000) * 1000
      if (isRetry || !mayPass(answer) || clock.monotonicMs() + waitMs >= endMs) throw failureOf(engine, kind, answer)
      await pauseUnlessAborted(clock, waitMs, signal)
      continue
    }
    const reading = readResults(kind, answer.text, { ...search, most: mostOf(engine, search) })
    if (reading === null)
      throw new EngineFailure('unavailable', engine.name, `The search engine ${engine.name} gave an answer that cannot be read.`)
    return reading
  }
}

/** The time limit for both attempts together. */
const ENGINE_MS = 10_000
const PAUSE_MS = 300
const ANSWER_MAX_BYTES = 4 * 1024 * 1024

/** The number of results to request: the engine's maximum if some may be removed by the filter here. */
const asksFor = ({ most, domains }: EngineKind, search: Search): number => {
  const { allowed, excluded } = search
  const isFiltered =
    domains === 'none' ? allowed.length + excluded.length > 0 : domains === 'either' && allowed.length > 0 && excluded.length > 0
  return isFiltered ? most : Math.min(search.most, most)
}

const requestOf = (
  { url, api_key: key, kind: name }: Engine,
  kind: EngineKind,
  search: Search,
  clock: Clock,
): Pick<SafeRequest, 'url' | 'headers' | 'body'> => {
  const address = addressOf(url ?? kind.address ?? '', kind.path)
  const keyHeaders = key === undefined ? {} : kind.key(key)
  const body = kind.body === undefined ? null : JSON.stringify(kind.body(search))
  for (const [parameter, value] of Object.entries(kind.parameters?.(search) ?? {})) address.searchParams.set(parameter, value)
  const signed = name === 'http' && key !== undefined && body !== null ? signatureHeader(key, body, clock.now()) : {}
  return {
    url: address.href,
    headers: { accept: 'application/json', ...(body === null ? {} : { 'content-type': 'application/json' }), ...keyHeaders, ...signed },
    body,
  }
}

/** Appends the path to the operator's address, unless the address already ends with it. */
const addressOf = (base: string, path: string): URL => {
  const url = new URL(base)
  const own = url.pathname.replace(/\/+$/, '')
  if (path !== '' && !own.endsWith(path)) url.pathname = own + path
  return url
}

const sent = async (safeFetch: SafeFetch, request: SafeRequest): Promise<SafeResponse | UnsafeRequest> => {
  try {
    return await safeFetch(request)
  } catch (thrown) {
    if (thrown instanceof UnsafeRequest) return thrown
    throw thrown
  }
}

const mayPass = (answer: SafeResponse | UnsafeRequest): boolean =>
  answer instanceof UnsafeRequest ? answer.kind === 'connection' : answer.status === 429 || answer.status >= 500

const failureOf = ({ name }: Engine, { forbidden }: EngineKind, answer: SafeResponse | UnsafeRequest): EngineFailure => {
  if (answer instanceof UnsafeRequest) {
    return new EngineFailure('unavailable', name, `The search engine ${name} did not answer: ${answer.message}.`, { cause: answer })
  }
  const { status } = answer
  const hint = status === 403 && forbidden !== undefined ? ` (${forbidden})` : ''
  return new EngineFailure(
    status === 429 ? 'too_many_requests' : 'unavailable',
    name,
    `The search engine ${name} answered ${status}${hint}.`,
  )
}
