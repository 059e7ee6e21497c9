import { expect, test } from 'bun:test'

import { isoTimestamp, systemClock, threadCpuMs } from './clock.ts'

test.each<[number, string]>([
  [0, '1970-01-01T00:00:00.000Z'],
  [Date.UTC(2026, 10, 20, 10), '2026-11-20T10:00:00.000Z'],
  [Date.UTC(2026, 11, 31, 23, 59, 59, 999), '2026-12-31T23:59:59.999Z'],
])('a timestamp is ISO 8601 in UTC with milliseconds: %d', (epochMs, text) => {
  expect(isoTimestamp(epochMs)).toBe(text)
})

test('a task runs once after its delay, and never when it was cancelled', async () => {
  let ran = 0
  systemClock.after(0, () => (ran += 10))()
  await new Promise<void>((resolve) => {
    systemClock.after(0, () => {
      ran += 1
      resolve()
    })
  })
  expect(ran).toBe(1)
})

test('the monotonic clock does not go back', () => {
  const before = systemClock.monotonicMs()
  expect(systemClock.monotonicMs()).toBeGreaterThanOrEqual(before)
})

test('the processor time of this thread grows with what it computes', () => {
  const startMs = threadCpuMs()
  let texts = 0
  while (threadCpuMs() - startMs < 20 && texts < 1_000_000) texts += JSON.stringify({ texts }).length > 0 ? 1 : 0
  expect(threadCpuMs() - startMs).toBeGreaterThanOrEqual(20)
  expect(texts).toBeGreaterThan(0)
})
