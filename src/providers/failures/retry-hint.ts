/** Reads how long a provider asks to wait, in whole seconds, from any of the ways in which providers say so. */

/** The longest quotas are those of a month. A longer wait is a mistake that would keep a client away for years: it counts as no hint. */
const MOST_SECONDS = 31 * 24 * 60 * 60

/** Reads the headers of a response; undefined if they have no sensible value. */
export const retryHint = (headers: Headers, nowMs: number): number | undefined =>
  milliseconds(headers.get('retry-after-ms')) ?? retryAfter(headers.get('retry-after'), nowMs) ?? resetOf(headers, nowMs)

/** Reads a sentence: `Please try again in 6m0.5s.`, `Please retry in 34.07s.`, `Wait 20 seconds and retry.` */
export const retryHintInText = (message: string | null): number | undefined => {
  const reported = message === null ? null : SENTENCE.exec(message.slice(0, SAID_MAX))
  return reported?.[1] === undefined ? undefined : duration(reported[1])
}

const SAID_MAX = 2000

const SENTENCE =
  /\b(?:(?:try again|retry|retry after|wait)(?: again)?(?: in| after| for)?:?) ((?:\d+(?:\.\d+)? ?(?:ms|milliseconds?|h(?:ours?)?|m(?:in(?:ute)?s?)?|s(?:ec(?:ond)?s?)?)\b ?)+|(?:\d+(?:\.\d+)?(?:ms|h|m|s))+)/i

const whole = (seconds: number): number | undefined =>
  Number.isFinite(seconds) && seconds >= 0 && seconds <= MOST_SECONDS ? Math.ceil(seconds) : undefined

/** Azure sends zero beside a `retry-after` of a second. */
const milliseconds = (text: string | null): number | undefined =>
  text !== null && /^\s*\d{1,12}(?:\.\d+)?\s*$/.test(text) ? whole(Number(text) / 1000) || undefined : undefined

/** Reads either form of the header, seconds or a date. */
const retryAfter = (text: string | null, nowMs: number): number | undefined => {
  if (text === null) return undefined
  if (/^\s*\d{1,9}(?:\.\d+)?\s*$/.test(text)) return whole(Number(text))
  return /[a-z]/i.test(text) ? whole((Date.parse(text) - nowMs) / 1000) : undefined
}

/** `6m0s`, `1.5s`, `20ms`, `2 minutes`: the sum of its parts. */
const duration = (text: string): number | undefined => {
  let seconds = 0
  for (const [, amount, unit = ''] of text.toLowerCase().matchAll(/(\d+(?:\.\d+)?) ?([a-z]+)/g)) {
    seconds += Number(amount) * (SECONDS_OF[/^m(?:s|illi)/.test(unit) ? 'ms' : unit.charAt(0)] ?? 0)
  }
  return whole(seconds)
}

const SECONDS_OF: Readonly<Record<string, number>> = { ms: 0.001, s: 1, m: 60, h: 3600 }

/**
 * The longest wait of headers such as `x-ratelimit-reset-tokens` and `anthropic-ratelimit-requests-reset`. A header counts only if its
 * quota is used up, as the matching `remaining` header says.
 */
const resetOf = (headers: Headers, nowMs: number): number | undefined => {
  const waits: number[] = []
  for (const [name, value] of headers) {
    const remaining = remainingHeader(name)
    if (remaining === null) continue
    const left = headers.get(remaining)
    // A header that does not name what it counts is about the request itself.
    if (left === null ? !/^(?:x-)?ratelimit-reset$/.test(name) : Number(left) > 0) continue
    const wait = resetTime(value.trim(), nowMs)
    if (wait !== undefined) waits.push(wait)
  }
  return waits.length === 0 ? undefined : Math.max(...waits)
}

const remainingHeader = (name: string): string | null => {
  if (/^(?:x-)?ratelimit-reset(?:-|$)/.test(name)) return name.replace('reset', 'remaining')
  return /^anthropic-ratelimit-.+-reset$/.test(name) ? name.replace(/-reset$/, '-remaining') : null
}

/** Reads a duration, a number of seconds, a moment in seconds or milliseconds since 1970, or a date. */
const resetTime = (text: string, nowMs: number): number | undefined => {
  if (/^(?:\d+(?:\.\d+)?(?:ms|h|m|s))+$/.test(text)) return duration(text)
  if (/^\d{1,13}(?:\.\d+)?$/.test(text)) {
    const reported = Number(text)
    if (reported < 1e8) return whole(reported)
    return whole((reported < 1e11 ? reported * 1000 - nowMs : reported - nowMs) / 1000)
  }
  return /^\d{4}-\d\d-\d\dT/.test(text) ? whole((Date.parse(text) - nowMs) / 1000) : undefined
}
