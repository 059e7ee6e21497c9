/** The listening socket. This is one of the few files that may use the runtime directly (ARCHITECTURE.md). */
import type { App, Peers } from './app.ts'

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

export const listen = (options: { host: string; port: number; shared: boolean; app: App; onError: (thrown: unknown) => void }): Server => {
  const { host, port, shared, app, onError } = options
  let server: Bun.Server<undefined>
  const peers: Peers = { addressOf: (request) => server.requestIP(request as Request)?.address ?? '' }
  try {
    server = Bun.serve({
      hostname: host,
      port,
      reusePort: shared,
      // A stream may be silent for as long as its model thinks; our own deadlines end requests that are stuck.
      idleTimeout: 0,
      // The app limits bodies itself, with an answer that explains it; the runtime's own refusal has no body.
      maxRequestBodySize: Number.MAX_SAFE_INTEGER,
      development: false,
      fetch: (request) => app.answer(request, undefined, peers),
      routes: Object.fromEntries(
        app.parameterPaths.map((pattern) => [
          pattern,
          (request: Bun.BunRequest) => app.answer(request, dottedPath(pattern, request.params), peers),
        ]),
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
 * A name may be `.` or `..`, which the runtime resolves like a file path in `request.url`, so that the request would reach another route;
 * its own routing has read the name before that. Undefined for every other name.
 */
const dottedPath = (pattern: string, params: Readonly<Record<string, string>>): string | undefined =>
  Object.values(params).some((value) => value === '.' || value === '..')
    ? pattern.replace(/:(\w+)/g, (_, name: string) => encodeURIComponent(params[name] ?? ''))
    : undefined
