import { GatewayError } from '../errors.ts'

/**
 * A WebSocket asked for where only POST is answered. Codex tries one first, and again after a 405; after 426 it goes on by
 * HTTP at once (codex-rs, core/src/client.rs).
 */
export const asRefusedUpgrade = (failure: GatewayError, headers: Headers): GatewayError =>
  failure.status === 405 && headers.get('upgrade')?.toLowerCase() === 'websocket'
    ? new GatewayError('invalid_request', 'WebSockets are not supported. Send the request with POST.', { status: 426 })
    : failure
