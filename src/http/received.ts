/** A request of an inference interface, as the pipeline takes it. */
import type { Received } from '../inference/stages.ts'
import { isEnabled } from './opt-ins.ts'
import { principalOf, type RouteRequest } from './route.ts'

export const receivedOf = (request: RouteRequest, read: Pick<Received, 'apiType' | 'format' | 'body' | 'bytes'>): Received => {
  const { headers } = request
  const { apiType, format, body, bytes } = read
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
      strict: isEnabled(headers, 'x-service-strict'),
      sessionId: headers.get('x-session-id'),
      vendor:
        format.dialect === 'messages'
          ? { version: headers.get('anthropic-version'), betas: [headers.get('anthropic-beta'), headers.get('x-anthropic-beta')] }
          : null,
      trace: traceContext(headers),
      sent: headers,
    },
  }
}

const traceContext = (headers: Headers): Received['headers']['trace'] => {
  const parent = headers.get('traceparent')
  return parent === null ? null : { parent, state: headers.get('tracestate') }
}
