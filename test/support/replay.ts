/**
 * One request through the whole service without sockets: a scripted upstream answers, and the result is the bytes that the client reads.
 */
import { piecesOf } from './pieces.ts'
import type { ClientDialect } from '../../src/canonical/call.ts'
import { GatewayError } from '../../src/errors.ts'
import { FORMATS } from '../../src/formats/formats.ts'
import { type Applied, effectiveOf } from '../../src/guardrails/effective.ts'
import { answerInference } from '../../src/http/inference/answer-inference.ts'
import { createKeepAlive } from '../../src/http/response/keep-alive.ts'
import type { Admit } from '../../src/inference/admit/admit.ts'
import type { Admitted } from '../../src/inference/admitted.ts'
import { createPipeline } from '../../src/inference/pipeline.ts'
import type { PriceEntry } from '../../src/models/catalogue-schema.ts'
import { type Clock, turnOf } from '../../src/lib/clock.ts'
import { JsonBody } from '../../src/lib/json/json-body.ts'
import { trustedHosts } from '../../src/lib/network/trusted-hosts.ts'
import { inTurns, LARGE_BYTES } from '../../src/lib/steps.ts'
import { createModels, plainEndpoint } from '../../src/models/models.ts'
import type { Health } from '../../src/routing/health.ts'
import type { Presets } from '../../src/presets/presets.ts'
import { joinedText, type PieceReader } from '../../src/providers/transport/piece-reader.ts'
import type { Upstream, UpstreamRequest } from '../../src/providers/transport/upstream.ts'
import { createFakeClock } from './fake-clock.ts'
import { createTestRouting } from './test-routing.ts'
import { admittingAll, partsOfPipeline, PRINCIPAL } from './pipelines.ts'
import type { UpstreamDialect } from './recordings.ts'
import type { LoadMedia } from '../../src/providers/provider.ts'

/** The response that an upstream sends. */
export interface Reply {
  readonly status?: number
  /** A Bedrock stream has a content type of its own. */
  readonly type: 'text/event-stream' | 'application/json'
  readonly pieces: readonly Uint8Array[]
  /** The content type that is sent in place of `type`; null for none. */
  readonly contentType?: string | null
  /** The connection breaks after the last piece. */
  readonly cut?: boolean
  /** Resolves when the next piece arrives; if absent, each arrives at once. */
  readonly arrival?: () => Promise<void>
}

export interface Replay {
  readonly client: ClientDialect
  /** For each attempt, the dialect of the provider and its response; there is one provider for each, tried in this order. */
  readonly upstreams: readonly {
    readonly dialect: UpstreamDialect | 'sandbox'
    /** The response may depend on the request. */
    readonly reply: Reply | ((sent: string) => Reply)
    readonly model?: string
    /** The vendor's slug, if vendor-specific facts matter; otherwise that of an unknown server. */
    readonly slug?: string
    /** Requests may refer to objects stored in the account there. */
    readonly storedObjects?: boolean
  }[]
  /** Bytes are passed unchanged, so that the test does no work of its own between two steps. */
  readonly body: Readonly<Record<string, unknown>> | string | Uint8Array
  readonly headers?: Readonly<Record<string, string>>
  /** The circuit breaker of every provider is open. */
  readonly closed?: boolean
  /** The id of the first provider's model, in the catalogue's form. */
  readonly modelId?: string
  /** The prices of every provider; by default 1 and 2 dollars per million tokens. */
  readonly prices?: PriceEntry
  /** If present, every provider also has an endpoint of the tier `priority` at these prices. */
  readonly priorityPrices?: PriceEntry
  /** Admits the requests; by default nothing limits the caller. */
  readonly admit?: Admit
  /** Time only moves when the test advances it. */
  readonly clock?: Clock
  /** The guardrails that apply to the caller. */
  readonly guardrails?: readonly Applied[]
  /** The time that filters may work on a request, and on its answer. */
  readonly screenMs?: number
  readonly presets?: Presets | undefined
  /** The input modalities that the model is known to support. */
  readonly modalities?: readonly string[] | null
  /** Makes the operator allow the fetching of media, with this loader. */
  readonly loadMedia?: LoadMedia
  /** The hosts of private networks at which the operator lets requests name media. */
  readonly mediaHosts?: readonly string[]
  /** How the client reads the response; by default as text. */
  readonly read?: (response: Response) => Promise<Pick<Replayed, 'text' | 'broken'>>
}

export interface Replayed {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  /** True if the stream could not be ended correctly, so the connection was broken off. */
  readonly broken: boolean
  /** The requests sent to the upstreams, in order. */
  readonly sent: readonly SentRequest[]
  readonly run: Admitted | undefined
  /** Unexpected errors, which are faults of our own rendering. */
  readonly internalErrors: readonly unknown[]
}

/** The upstream dialect that is the same as a client dialect. */
export const OWN_DIALECT: Readonly<Record<ClientDialect, UpstreamDialect>> = {
  chat: 'openai-chat',
  responses: 'openai-responses',
  messages: 'anthropic',
}

export const MODEL = 'replay/one'

/** A request as an upstream got it, with its body as text. */
type SentRequest = UpstreamRequest & { readonly body: string }

export const replay = async ({
  client,
  upstreams,
  body,
  headers = {},
  modelId = MODEL,
  closed = false,
  prices = { prompt: 1, completion: 2 },
  priorityPrices,
  clock = createFakeClock(),
  guardrails = [],
  screenMs = 1000,
  presets,
  modalities = null,
  admit = admittingAll(clock),
  loadMedia,
  mediaHosts = [],
  read = readAll,
}: Replay): Promise<Replayed> => {
  const sent: SentRequest[] = []
  const upstream: Upstream = {
    async post(request) {
      const asked = upstreams[sent.length]
      sent.push({
        ...request,
        get body() {
          return typeof request.body === 'string' ? request.body : new TextDecoder().decode(request.body)
        },
      })
      if (asked === undefined) throw new Error('The upstream was asked once too often.')
      const { reply } = asked
      return responseOf(typeof reply === 'function' ? reply(sent.at(-1)?.body ?? '') : reply, asked.dialect)
    },
  }
  const endpoints = upstreams.flatMap(({ dialect, model: upstreamModel, slug: named, storedObjects = false }, number) => {
    const slug = named ?? `provider-${number}`
    const provider = {
      slug,
      name: `Provider ${number}`,
      dialects: [dialect],
      baseUrl: `https://provider-${number}.example/v1`,
      apiKeys: [`upstream-key-${number}`],
      anyModel: false,
      storedObjects,
    }
    const ordinary = plainEndpoint(provider, upstreamModel ?? `upstream-${number}`, { prices })
    if (priorityPrices === undefined) return [ordinary]
    return [
      ordinary,
      plainEndpoint(provider, upstreamModel ?? `upstream-${number}`, {
        prices: priorityPrices,
        serviceTier: 'priority',
        tag: `${slug}/priority`,
      }),
    ]
  })
  const model = {
    id: modelId,
    name: 'One',
    created: 0,
    contextLength: null,
    inputModalities: modalities,
    outputModalities: ['text'],
    supportedParameters: [],
    endpoints,
  }
  let run: Admitted | undefined
  const internalErrors: unknown[] = []
  const pipeline = createPipeline(
    partsOfPipeline(clock, {
      ...(presets === undefined ? {} : { presets }),
      guardrails: { effective: () => effectiveOf(guardrails) },
      screenMs,
      models: createModels([model], []),
      context: { upstream, clock, loadMedia },
      isTrustedMediaHost: trustedHosts(mediaHosts),
      ...(closed ? { routing: { ...createTestRouting(clock), health: CLOSED } } : {}),
      async admit(planned) {
        run = await admit(planned)
        return run
      },
    }),
  )
  const given = body instanceof Uint8Array ? body : new TextEncoder().encode(typeof body === 'string' ? body : JSON.stringify(body))
  const response = await answerInference(
    {
      method: 'POST',
      params: {},
      query: new URLSearchParams(),
      headers: new Headers(headers),
      requestId: 'req-1',
      caller: PRINCIPAL,
      principal: PRINCIPAL,
      reach: null,
      address: () => '',
      permit: null,
      signal: new AbortController().signal,
      text: async () => new TextDecoder().decode(given),
      object: () => Promise.reject(new TypeError('No inference takes its body as an object.')),
      json: async () => ({ body: await bodyOf(given, clock), bytes: given.byteLength }),
      startTurn: () => () => undefined,
      consume: () => Promise.reject(new TypeError('No inference takes its body in pieces.')),
    },
    FORMATS[client],
    {
      pipeline,
      keepAlive: createKeepAlive(clock, 10_000),
      clock,
      commitSilenceMs: 2000,
      unreadMs: 60_000,
      providerFailure: 'body',
      onUnread: () => undefined,
      onInternalError: (thrown) => internalErrors.push(thrown),
    },
  )
  const { text, broken } = await read(response)
  return { status: response.status, headers: response.headers, text, broken, sent, run, internalErrors }
}

/** A large body is read in steps, as in the service. */
const bodyOf = (given: Uint8Array, clock: Clock): JsonBody | Promise<JsonBody> =>
  given.byteLength <= LARGE_BYTES ? JsonBody.ofBytes(given) : inTurns(JsonBody.readingBytes(given), () => turnOf(clock))

const CLOSED: Health = { ...createTestRouting(createFakeClock()).health, begin: () => false }

const readAll: NonNullable<Replay['read']> = async (response) => {
  const decoder = new TextDecoder('utf-8', { fatal: true })
  let text = ''
  try {
    for await (const piece of response.body ?? []) text += decoder.decode(piece, { stream: true })
    return { text: text + decoder.decode(), broken: false }
  } catch {
    return { text, broken: true }
  }
}

const responseOf = (
  { status = 200, type, pieces, cut = false, contentType, arrival }: Reply,
  dialect: UpstreamDialect | 'sandbox',
): Awaited<ReturnType<Upstream['post']>> => {
  const all = (): PieceReader =>
    piecesOf(pieces, cut ? new GatewayError('provider_unavailable', 'The connection to the provider failed (ECONNRESET).') : null, arrival)
  const reported =
    contentType === undefined
      ? dialect === 'bedrock' && type !== 'application/json'
        ? 'application/vnd.amazon.eventstream'
        : type
      : contentType
  const text = (): Promise<string> => joinedText(all(), Number.POSITIVE_INFINITY)
  return {
    status,
    headers: new Headers(reported === null ? {} : { 'content-type': reported }),
    pieces: all,
    complete() {},
    text,
    beginning: async (most) => (await text()).slice(0, most),
  }
}

const TOOL = { name: 'get_weather', description: 'Weather of a city.' }
const PARAMETERS = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] }

/** The same small question in each client dialect. */
export const question = (client: ClientDialect, stream: boolean): Readonly<Record<string, unknown>> => {
  switch (client) {
    case 'chat':
      return {
        model: MODEL,
        stream,
        messages: [{ role: 'user', content: 'Hi' }],
        tools: [{ type: 'function', function: { ...TOOL, parameters: PARAMETERS } }],
      }
    case 'responses':
      return { model: MODEL, stream, input: 'Hi', tools: [{ type: 'function', ...TOOL, parameters: PARAMETERS, strict: false }] }
    case 'messages':
      return {
        model: MODEL,
        stream,
        max_tokens: 1000,
        messages: [{ role: 'user', content: 'Hi' }],
        tools: [{ ...TOOL, input_schema: PARAMETERS }],
      }
  }
}

/** Replays one upstream's reply to the usual question. */
export const replayReply = (
  client: ClientDialect,
  dialect: UpstreamDialect,
  reply: Reply,
  stream = reply.type === 'text/event-stream',
): Promise<Replayed> => replay({ client, upstreams: [{ dialect, reply }], body: question(client, stream) })

export const typeOf = (stream: boolean): Reply['type'] => (stream ? 'text/event-stream' : 'application/json')
