/**
 * How requests to services of the operator's own are signed: over the second and the body, so that neither can be forged
 * nor sent again later (docs/guardrails.md#moderation).
 */
import { createHmac } from 'node:crypto'

export const signatureHeader = (secret: string, body: string, nowMs: number): { readonly 'x-patchbay-signature': string } => {
  const second = Math.floor(nowMs / 1000)
  const digest = createHmac('sha256', secret).update(`${second}.${body}`).digest('hex')
  return { 'x-patchbay-signature': `t=${second},v1=${digest}` }
}
