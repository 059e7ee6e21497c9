/**
 * Members that strict clients need and an upstream of their dialect may leave out
 * (docs/contract/chat-completions.md#answer). They are added behind its own, which stay as they were written.
 */
import type { JsonBody } from '../lib/json-body.ts'
import type { JsonChanges } from '../lib/json.ts'

/** `needed`: JSON texts by name. The changes to make of the body; none where it has them all. */
export const missingMembers = (body: JsonBody, needed: Readonly<Record<string, string>>): JsonChanges =>
  Object.fromEntries(Object.entries(needed).filter(([name]) => !body.has(name)))
