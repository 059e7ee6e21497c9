/**
 * Top-level fields of a request that address this service, whatever dialect it is in, or that would let it steer where
 * an upstream that is itself a router sends it (docs/contract/headers.md#fields-for-the-service). They never leave.
 */
import type { JsonChanges } from '../lib/json-splice.ts'
import { PRESET_CONTROLS } from './preset-fields.ts'
import { fieldsWhere, isForTheService, meaningsOf } from './request-fields.ts'

export const SERVICE_FIELDS: readonly string[] = [
  ...new Set([...fieldsWhere((row) => meaningsOf(row).some(isForTheService)), ...Object.keys(PRESET_CONTROLS)]),
]

/** For `JsonBody.textWith`: the same dialect's own text without them. */
export const withoutServiceFields: JsonChanges = Object.fromEntries(SERVICE_FIELDS.map((name) => [name, null]))
