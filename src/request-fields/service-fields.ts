/**
 * Top-level fields of a request that address this service, whatever dialect it is in, or that would let it steer where
 * an upstream that is itself a router sends it (docs/contract/headers.md#fields-for-the-service). They never leave.
 */
import type { JsonBody } from '../lib/json-body.ts'
import { PRESET_CONTROLS } from './preset-fields.ts'
import { fieldsWhere, isForTheService, meaningsOf } from './request-fields.ts'

export const SERVICE_FIELDS: readonly string[] = [
  ...new Set([...fieldsWhere((row) => meaningsOf(row).some(isForTheService)), ...Object.keys(PRESET_CONTROLS)]),
]

const NAMES: ReadonlySet<string> = new Set(SERVICE_FIELDS)

/** Changes that leave out those of them that the body has, for its text in its own dialect. */
export const withoutServiceFields = (body: Pick<JsonBody, 'keys'>): Record<string, null> => {
  const changes: Record<string, null> = {}
  for (const name of body.keys) if (NAMES.has(name)) changes[name] = null
  return changes
}
