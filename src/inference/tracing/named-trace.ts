import { isObject, type JsonObject } from '../../lib/json/json.ts'
import type { Planned } from '../request.ts'

/** The client's own `trace` field; null if it sent none. */
export const namedTrace = ({ call }: Pick<Planned, 'call'>): JsonObject | null => {
  const trace = call.body.value('trace')
  return isObject(trace) ? trace : null
}
