/** A short digest of how a conversation begins, which stays the same while the conversation grows. */
import { createHash } from 'node:crypto'

import { withoutBillingLineInJson } from '../canonical/billing-line.ts'
import type { Call } from '../canonical/call.ts'

/** Characters beyond this would hardly distinguish any further conversations. */
const READ_MAX = 65_536

/** A digest of the first system or developer text and the first other message; null if the body has no messages. */
export const conversationMark = ({ body, dialect }: Call): string | null => {
  const turns = body.raw(dialect === 'responses' ? 'input' : 'messages')
  if (turns === undefined) return null
  const given = body.raw(dialect === 'responses' ? 'instructions' : 'system')?.slice(0, READ_MAX) ?? ''
  const instructions = dialect === 'messages' ? withoutBillingLineInJson(given) : given
  const beginning = turns.startsWith('[') ? firstMessages(turns) : turns.slice(0, READ_MAX)
  return createHash('sha256').update(instructions).update('\n').update(beginning).digest('base64url')
}

/** Compares text rather than meaning: a client sends the same JSON again. */
const firstMessages = (list: string): string => {
  const firstEnd = itemEnd(list, 1)
  const first = list.slice(1, firstEnd)
  return INSTRUCTING.test(first) ? list.slice(1, itemEnd(list, firstEnd)) : first
}

/** Quotes inside a string are escaped, so no text can look like a role. */
const INSTRUCTING = /"role"\s*:\s*"(?:system|developer)"/

/** The index after the next object, or the index at which reading stops. */
const itemEnd = (list: string, start: number): number => {
  const end = Math.min(list.length, READ_MAX)
  let depth = 0
  let inText = false
  for (let index = start; index < end; index += 1) {
    const code = list.charCodeAt(index)
    if (inText) {
      if (code === BACKSLASH) index += 1
      else if (code === QUOTE) inText = false
    } else if (code === QUOTE) inText = true
    else if (code === BRACE) depth += 1
    else if (code === BRACE_END) {
      depth -= 1
      if (depth === 0) return index + 1
    }
  }
  return end
}

const QUOTE = 0x22
const BACKSLASH = 0x5c
const BRACE = 0x7b
const BRACE_END = 0x7d
