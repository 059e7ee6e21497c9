/** Rewrites ids of tool calls into a form that Converse takes. */
import { createHash } from 'node:crypto'

import { plainCallId } from '../tools/plain-call-id.ts'

const LENGTH_MAX = 64

/**
 * Up to 64 letters, digits, `_` and `-`; for Mistral's models nine letters and digits. Ids of other makers (`functions.f:0`) are rewritten,
 * alike in call and result and in the same way on every turn.
 */
export const callId = (id: string, kind: 'any' | 'nine-alphanumeric'): string => {
  if (kind === 'nine-alphanumeric') return /^[a-zA-Z0-9]{9}$/.test(id) ? id : digest(id).slice(0, 9)
  const lawful = plainCallId(id)
  return lawful.length <= LENGTH_MAX ? lawful : digest(id)
}

/** Returns 64 characters. */
const digest = (id: string): string => createHash('sha256').update(id).digest('hex')
