/**
 * How a vendor fails if the user's text says so: `FAIL 429`, `FAIL 500`, `FAIL overflow`; `FAIL once NAME` fails only the first time for
 * that name.
 */
import { openaiRefusal } from './chat.ts'
import type { Refusal } from './conversation.ts'
import { anthropicRefusal } from './messages.ts'

export const FAILURES = ['429', '500', 'overflow', 'once'] as const
export type FailureName = (typeof FAILURES)[number]

/**
 * The words that must reach the user of the client. aider gives its own advice on a long conversation; Codex has its own sentence for a
 * 5xx, and recognises a 429 by its status.
 */
export const REASONS: Readonly<Record<Exclude<FailureName, 'once'>, RegExp>> = {
  '429': /rate limit|429 Too Many Requests/i,
  '500': /Internal Server Error|high demand/i,
  overflow: /context length|prompt is too long|too many tokens|maximum|conversation was compacted|to reduce input tokens/i,
}

const OPENAI: Readonly<Record<Exclude<FailureName, 'once'>, Refusal>> = {
  '429': {
    ...openaiRefusal(429, 'Rate limit reached for gpt-5.4 in organization org-x on tokens per min.', {
      type: 'tokens',
      code: 'rate_limit_exceeded',
    }),
    retryAfter: '1',
  },
  '500': openaiRefusal(500, 'The server had an error while processing your request. Sorry about that!', { type: 'server_error' }),
  overflow: openaiRefusal(
    400,
    "This model's maximum context length is 128000 tokens. However, your messages resulted in 200012 tokens. Please reduce the length of the messages.",
    { param: 'messages', code: 'context_length_exceeded' },
  ),
}

const ANTHROPIC: typeof OPENAI = {
  '429': {
    ...anthropicRefusal(
      429,
      "This request would exceed your organization's rate limit of 40,000 input tokens per minute.",
      'rate_limit_error',
    ),
    retryAfter: '1',
  },
  '500': anthropicRefusal(500, 'Internal server error', 'api_error'),
  overflow: anthropicRefusal(400, 'prompt is too long: 200012 tokens > 200000 maximum'),
}

const ORDER = /^FAIL (429|500|overflow|once) (\S+)$/m

export const failLine = (failure: FailureName, name: string): string => `FAIL ${failure} ${name}`

/** `seen`: the names in earlier requests. */
export const failureOf = (asked: string, dialect: 'openai' | 'anthropic', seen: Set<string>): Refusal | null => {
  const [, failure, name = ''] = ORDER.exec(asked) ?? []
  if (failure === undefined || (failure === 'once' && seen.has(name))) return null
  seen.add(name)
  const table = dialect === 'openai' ? OPENAI : ANTHROPIC
  return table[failure === 'once' ? '429' : (failure as '429' | '500' | 'overflow')]
}
