/**
 * Members that strict clients need and an upstream of their dialect may leave out (contract 3.1 to 3.6). They are added
 * behind its own, which stay as they were written.
 */
import type { JsonBody, JsonChanges } from '../lib/json-body.ts'

/** `needed`: JSON texts by name. The changes to make of the body; none where it has them all. */
export const missingMembers = (body: JsonBody, needed: Readonly<Record<string, string>>): JsonChanges =>
  Object.fromEntries(Object.entries(needed).filter(([name]) => !body.has(name)))
