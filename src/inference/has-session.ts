import type { JsonBody } from '../lib/json/json-body.ts'

/** An empty name counts as none: a header may still name the session. */
export const hasSession = (body: JsonBody): boolean => (body.value('session_id') ?? '') !== ''
