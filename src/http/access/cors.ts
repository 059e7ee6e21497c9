/** Browser apps may call the API only from the origins that the operator names; by default from none (docs/contract/headers.md#cors). */
import { GatewayError } from '../../errors.ts'

export interface Cors {
  /** Adds the headers that let this origin read an answer; adds none if the origin is not allowed. */
  mark(headers: Headers, origin: string | null): void
  /**
   * The answer to OPTIONS. Throws `invalid_request` for an origin that is not allowed; if no
   * origin is sent, the answer lists the methods.
   */
  preflight(origin: string | null, methods: readonly string[], anyOrigin?: boolean): Response
}

const EXPOSED =
  'x-generation-id, x-request-id, request-id, x-preset, x-service-warnings, x-service-warning, retry-after, x-ratelimit-limit, x-ratelimit-remaining, x-ratelimit-reset, ' +
  'x-service-cache-status, x-service-cache-age, x-service-cache-ttl, x-service-cache-source-id, ' +
  'x-openrouter-cache-status, x-openrouter-cache-age, x-openrouter-cache-ttl, x-openrouter-cache-source-id'
const PREFLIGHT_SECONDS = 600

export const createCors = (origins: readonly string[]): Cors => {
  const allowed = new Set(origins.map((origin) => new URL(origin).origin))
  const isAllowed = (origin: string | null): origin is string => origin !== null && allowed.has(origin)
  return {
    mark(headers, origin) {
      // An answer without these headers must not be cached for an origin that would get them.
      if (allowed.size > 0) headers.set('vary', 'Origin')
      if (!isAllowed(origin)) return
      headers.set('access-control-allow-origin', origin)
      headers.set('access-control-expose-headers', EXPOSED)
    },
    preflight(origin, methods, anyOrigin = false) {
      // The request is not from a browser: it asks for the methods of the path.
      if (origin === null) return new Response(null, { status: 204, headers: { allow: [...methods, 'OPTIONS'].join(', ') } })
      if (!anyOrigin && !isAllowed(origin)) {
        throw new GatewayError(
          'invalid_request',
          'CORS: this origin is not allowed. The operator lists the allowed ones under cors.origins.',
        )
      }
      return new Response(null, {
        status: 204,
        headers: {
          'access-control-allow-origin': anyOrigin ? '*' : origin,
          'access-control-allow-methods': methods.join(', '),
          // A list would become outdated with each client's own headers; the key is what protects, not a header's name.
          'access-control-allow-headers': '*, authorization',
          'access-control-max-age': String(PREFLIGHT_SECONDS),
          vary: 'Origin',
        },
      })
    },
  }
}
