import { GatewayError } from '../../errors.ts'
import type { AskedTool } from '../tool.ts'

/** The error for a tool without a sandbox; it names the missing setting. */
export const needsSandbox = ({ at, askedAs }: AskedTool): GatewayError => {
  const message = `${askedAs} cannot run: no sandbox is configured (tools.shell).`
  return new GatewayError('invalid_request', `${at}: ${message}`, { metadata: { issues: [{ path: at, message }] } })
}
