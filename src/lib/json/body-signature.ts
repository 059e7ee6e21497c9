/**
 * Signs requests to the operator's own services. The signature covers the time in seconds and the body, so that a request can neither
 * be forged nor replayed later (docs/guardrails.md#moderation).
 */
import { createHmac } from 'node:crypto'

export const signatureHeader = (secret: string, body: string, nowMs: number): { readonly 'x-patchbay-signature': string } => {
  const second = Math.floor(nowMs / 1000)
  const digest = createHmac('sha256', secret).update(`${second}.${body}`).digest('hex')
  return { 'x-patchbay-signature': `t=${second},v1=${digest}` }
}
