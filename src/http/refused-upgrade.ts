import { GatewayError } from '../errors.ts'

/**
 * The error for a WebSocket upgrade of a path that only answers POST. Codex first tries a WebSocket, and again after a 405; after a
 * 426 it continues by HTTP at once (codex-rs, core/src/client.rs).
 */
export const asRefusedUpgrade = (failure: GatewayError, headers: Headers): GatewayError =>
  failure.status === 405 && headers.get('upgrade')?.toLowerCase() === 'websocket'
    ? new GatewayError('invalid_request', 'WebSockets are not supported. Send the request with POST.', { status: 426 })
    : failure
