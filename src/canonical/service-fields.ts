/**
 * Top-level fields of a request that address this service, whatever dialect it is in, or that would let it steer where
 * an upstream that is itself a router sends it (reliability.md 4.9, rule 8). They never leave.
 */
import type { JsonChanges } from '../lib/json-splice.ts'

export const SERVICE_FIELDS = [
  // Which model and which provider answers.
  'models',
  'fallbacks',
  'preset',
  'provider',
  'route',
  'session_id',
  // What the service does beside the call.
  'plugins',
  'transforms',
  'stop_server_tools_when',
  'deferred_tools',
  'trace',
  'debug',
  'usage',
  // How it does it.
  'strict',
  'locked',
  'on_locked',
  'sandbox',
  // Other routers' words for an address or a credential.
  'api_base',
  'base_url',
  'api_key',
  'user_config',
  'extra_headers',
] as const

/** For `JsonBody.textWith`: the same dialect's own text without them. */
export const withoutServiceFields: JsonChanges = Object.fromEntries(SERVICE_FIELDS.map((name) => [name, null]))
