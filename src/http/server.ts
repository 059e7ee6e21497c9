/** The listening socket. This is one of the few files that may use the runtime directly (ARCHITECTURE.md). */
import { type App, type Peers, targetOf } from './app.ts'
import type { HttpRequest } from './body/read-body.ts'
import { SEGMENTS_MAX } from './router.ts'

export interface Server {
  readonly url: string
  readonly port: number
  /** The number of requests that are being answered, including streams. */
  readonly open: () => number
  /** Accepts no more connections; open ones continue. */
  stopAccepting(): void
  /** Ends every connection now. */
  close(): Promise<void>
}

/** Thrown if the address cannot be bound. `message` is one sentence. */
export class ListenError extends Error {
  override readonly name = 'ListenError'
}

/**
 * The seconds without a byte after which a connection is closed, the most that the runtime allows. A client that vanished, or that never
 * sends the rest of a refused body or of its next request, would otherwise keep its connection for ever.
 */
const IDLE_SECONDS = 255

interface ListenOptions {
  readonly host: string
  readonly port: number
  readonly shared: boolean
  readonly app: App
  readonly onError: (thrown: unknown) => void
  readonly idleSeconds?: number
}

export const listen = ({ host, port, shared, app, onError, idleSeconds = IDLE_SECONDS }: ListenOptions): Server => {
  let server: Bun.Server<undefined>
  const peers: Peers = { addressOf: (request) => server.requestIP(request as Request)?.address ?? '' }
  const limitSilence = (request: HttpRequest, seconds: number): void => server.timeout(request as Request, seconds)
  const answer = async (request: HttpRequest, literalPath?: string): Promise<Response> => {
    // A model may think for longer; the app's own deadlines end requests that are stuck. A stream that has begun is never silent for long.
    limitSilence(request, 0)
    try {
      return await app.answer(request, literalPath, peers)
    } finally {
      limitSilence(request, idleSeconds)
    }
  }
  try {
    server = Bun.serve({
      hostname: host,
      port,
      reusePort: shared,
      idleTimeout: idleSeconds,
      // The app limits bodies itself, with an answer that explains it; the runtime's own refusal has no body.
      maxRequestBodySize: Number.MAX_SAFE_INTEGER,
      development: false,
      fetch: (request) => answer(request, unreadPath(request.url)),
      routes: Object.fromEntries(
        PATTERNS.map((pattern) => [pattern, (request: Bun.BunRequest) => answer(request, dottedPath(request.params))]),
      ),
      error(thrown) {
        onError(thrown)
        return new Response('{"error":{"code":500,"message":"Internal Server Error","metadata":{"error_type":"server"}}}', {
          status: 500,
          headers: { 'content-type': 'application/json; charset=utf-8' },
        })
      },
    })
  } catch (cause) {
    const code = (cause as NodeJS.ErrnoException).code
    const reason = code === 'EADDRINUSE' ? 'another program uses the port' : (code ?? 'unknown reason')
    throw new ListenError(`Cannot listen on ${host}:${port}: ${reason}. Choose another --port or --host.`, { cause })
  }
  const bound = server.port ?? port
  const shown = host.includes(':') ? `[${host}]` : host
  return {
    url: `http://${shown}:${bound}`,
    port: bound,
    open: () => server.pendingRequests,
    stopAccepting: () => void server.stop(false),
    close: () => server.stop(true),
  }
}

/**
 * The runtime resolves `.`, `..` and `\` in `request.url`, so that a name could reach another route, and a path that a proxy allows could
 * be one that it forbids. Its own routing has read the segments before that, so it gets a pattern for every path that a route may have.
 */
const PATTERNS = Array.from({ length: SEGMENTS_MAX }, (_, last) =>
  Array.from({ length: last + 1 }, (_each, index) => `/:s${index}`).join(''),
).flatMap((pattern) => [pattern, `${pattern}/`])

/** The path as it was sent, if the runtime would resolve it; undefined for every other. */
const dottedPath = (params: Readonly<Record<string, string>>): string | undefined => {
  const segments = Object.values(params)
  return segments.some((segment) => RESOLVED.test(segment))
    ? segments.map((segment) => `/${encodeURIComponent(segment)}`).join('')
    : undefined
}

const RESOLVED = /^\.\.?$|\\/

/** For a path that no pattern matches, since it is longer than those of routes or has an empty segment, which may have been resolved away. */
const unreadPath = (url: string): string | undefined => {
  const { path } = targetOf(url)
  return path === '/' || path.includes('//') ? undefined : '/…'
}
