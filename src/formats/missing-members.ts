/**
 * Members that strict clients need and that an upstream of their dialect may omit (docs/contract/chat-completions.md#answer). They
 * are appended to the upstream's own members, which stay as written.
 */
import type { JsonBody } from '../lib/json/json-body.ts'
import type { JsonChanges } from '../lib/json/json.ts'

/** `needed`: default values as JSON texts, by name. Returns the changes for the body; empty if no member is missing. */
export const missingMembers = (body: JsonBody, needed: Readonly<Record<string, string>>): JsonChanges => {
  const missing: Record<string, string | undefined> = {}
  for (const name in needed) if (!body.has(name)) missing[name] = needed[name]
  return missing
}
