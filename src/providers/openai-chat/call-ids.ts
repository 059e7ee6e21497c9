/** Rewrites ids of calls that a vendor refuses, alike in a call and in its result. */
import { createHash } from 'node:crypto'

import type { JsonObject } from '../../lib/json/json.ts'
import type { Vendor } from '../vendors/vendor.ts'
import { mapCalls } from './placed-message.ts'

export const withCallIds = (message: JsonObject, vendor: Vendor): JsonObject => {
  if (vendor.callIds === 'any') return message
  const next = mapCalls(message, (call) => {
    const id = typeof call['id'] === 'string' ? callIdFor(call['id'], vendor) : call['id']
    return id === undefined || id === call['id'] ? call : { ...call, id }
  })
  const { tool_call_id: answered } = next
  const result = typeof answered === 'string' ? callIdFor(answered, vendor) : answered
  return result === undefined || result === answered ? next : { ...next, tool_call_id: result }
}

/** An id that the vendor takes stays as it is. */
const callIdFor = (id: string, { callIds }: Vendor): string => {
  if (callIds === 'any' || (callIds === 'at-most-40' && id.length <= 40)) return id
  if (callIds === 'nine-alphanumeric' && /^[a-zA-Z0-9]{9}$/.test(id)) return id
  const digest = createHash('sha256').update(id).digest('hex')
  return callIds === 'nine-alphanumeric' ? digest.slice(0, 9) : `call_${digest.slice(0, 35)}`
}
