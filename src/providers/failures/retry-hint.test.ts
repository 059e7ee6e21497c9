import { describe, expect, test } from 'bun:test'

import { retryHint, retryHintInText } from './retry-hint.ts'

const NOW = Date.parse('2026-11-20T10:00:00Z')

describe('a wait in headers', () => {
  test.each<[Record<string, string>, number | undefined]>([
    [{}, undefined],
    [{ 'retry-after': '7' }, 7],
    [{ 'retry-after': '1.2' }, 2],
    [{ 'retry-after': 'Fri, 20 Nov 2026 10:00:30 GMT' }, 30],
    [{ 'retry-after': 'Fri, 20 Nov 2026 09:00:00 GMT' }, undefined],
    [{ 'retry-after': 'soon' }, undefined],
    [{ 'retry-after-ms': '1500' }, 2],
    [{ 'retry-after-ms': '200', 'retry-after': '9' }, 1],
    [{ 'retry-after-ms': 'x', 'retry-after': '9' }, 9],
    [{ 'retry-after-ms': '0', 'retry-after': '1' }, 1],
    // OpenAI, Groq: the `remaining` headers show which quota is used up.
    [
      {
        'x-ratelimit-remaining-requests': '3',
        'x-ratelimit-reset-requests': '1h',
        'x-ratelimit-remaining-tokens': '0',
        'x-ratelimit-reset-tokens': '6m0.5s',
      },
      361,
    ],
    [{ 'x-ratelimit-remaining-requests': '0', 'x-ratelimit-reset-requests': '20ms' }, 1],
    [{ 'x-ratelimit-remaining-requests': '3', 'x-ratelimit-reset-requests': '1h' }, undefined],
    [{ 'x-ratelimit-reset-requests': '1h' }, undefined],
    // A moment instead of a duration.
    [{ 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': String(NOW + 12_000) }, 12],
    [{ 'x-ratelimit-reset': String(NOW / 1000 + 12) }, 12],
    [{ 'x-ratelimit-reset': '45' }, 45],
    [{ 'ratelimit-reset': '45' }, 45],
    [{ 'anthropic-ratelimit-requests-remaining': '0', 'anthropic-ratelimit-requests-reset': '2026-11-20T10:01:00Z' }, 60],
    [{ 'anthropic-ratelimit-requests-remaining': '1', 'anthropic-ratelimit-requests-reset': '2026-11-20T10:01:00Z' }, undefined],
    [{ 'x-ratelimit-reset': 'tomorrow' }, undefined],
    // A month at most: a longer wait counts as none.
    [{ 'retry-after': '2678400' }, 2_678_400],
    [{ 'retry-after': '2678401' }, undefined],
    [{ 'retry-after': '1000000000' }, undefined],
    [{ 'retry-after': 'Fri, 20 Nov 2099 10:00:30 GMT' }, undefined],
    [{ 'retry-after-ms': '999999999999' }, undefined],
    [{ 'x-ratelimit-reset': '9999999999' }, undefined],
    [{ 'anthropic-ratelimit-requests-remaining': '0', 'anthropic-ratelimit-requests-reset': '2099-01-01T00:00:00Z' }, undefined],
  ])('%j: %p', (headers, seconds) => {
    expect(retryHint(new Headers(headers), NOW)).toBe(seconds as number)
  })
})

describe('a wait in a sentence', () => {
  test.each<[string | null, number | undefined]>([
    [null, undefined],
    ['Too many requests.', undefined],
    ['Rate limit reached. Please try again in 6.2s. Visit the page to learn more.', 7],
    ['Please try again in 6m0.5s.', 361],
    ['Please try again in 20ms.', 1],
    ['Please try again in 1h2m3s.', 3723],
    ['Please retry in 34.074824224s.', 35],
    ['Please retry after 20 seconds.', 20],
    ['please try again after 1 seconds', 1],
    ['Try again in 2 minutes.', 120],
    ['Wait 1 hour and retry.', 3600],
    ['Please try again in 999999h.', undefined],
    ['The job ran for 6.2s.', undefined],
  ])('%p: %p', (message, seconds) => {
    expect(retryHintInText(message)).toBe(seconds as number)
  })
})
