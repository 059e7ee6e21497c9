/**
 * Top-level fields of a request that address this service, in any dialect, or that would steer an upstream which is itself a
 * router (docs/contract/headers.md#fields-for-the-service). They are never sent upstream.
 */
import type { JsonBody } from '../lib/json/json-body.ts'
import { PRESET_CONTROLS } from './preset-fields.ts'
import { fieldsWhere, isForTheService, meaningsOf } from './request-fields.ts'

export const SERVICE_FIELDS: readonly string[] = [
  ...new Set([...fieldsWhere((row) => meaningsOf(row).some(isForTheService)), ...Object.keys(PRESET_CONTROLS)]),
]

const NAMES: ReadonlySet<string> = new Set(SERVICE_FIELDS)

/**
 * The changes that remove these fields from a body that is sent in its own dialect, and those that are null: to this service a null means
 * "left out", but many providers refuse it.
 */
export const withoutUnsentFields = (body: Pick<JsonBody, 'keys' | 'rawSearchable'>): Record<string, null> => {
  const changes: Record<string, null> = {}
  for (const name of body.keys) if (NAMES.has(name) || body.rawSearchable(name) === 'null') changes[name] = null
  return changes
}
