/** A request of an inference interface in the form that the pipeline takes. */
import type { Received } from '../../inference/request.ts'
import { wantsStrict } from './opt-ins.ts'
import { principalOf, type RouteRequest } from '../route.ts'

export const receivedOf = (
  request: RouteRequest,
  apiType: Received['apiType'],
  format: Received['format'],
  { body, bytes }: Pick<Received, 'body' | 'bytes'>,
): Received => {
  const { headers } = request
  return {
    apiType,
    format,
    body,
    bytes,
    principal: principalOf(request),
    permit: request.permit,
    requestId: request.requestId,
    userAgent: headers.get('user-agent'),
    referer: headers.get('http-referer') ?? headers.get('referer'),
    headers: {
      strict: wantsStrict(headers),
      sessionId: headers.get('x-session-id'),
      vendor: vendorHeaders(headers, format.dialect === 'messages'),
      trace: traceContext(headers),
      sent: headers,
    },
  }
}

/**
 * The version header counts only in Anthropic's own dialect; betas may be asked for on every
 * interface (docs/contract/headers.md#request-headers).
 */
const vendorHeaders = (headers: Headers, speaksIt: boolean): Received['headers']['vendor'] => {
  const betas = [headers.get('anthropic-beta'), headers.get('x-anthropic-beta')]
  if (speaksIt) return { version: headers.get('anthropic-version'), betas }
  return betas.every((list) => list === null) ? null : { version: null, betas }
}

const traceContext = (headers: Headers): Received['headers']['trace'] => {
  const parent = headers.get('traceparent')
  return parent === null ? null : { parent, state: headers.get('tracestate') }
}
