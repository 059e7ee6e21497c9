import { expect, test } from 'bun:test'
import fc from 'fast-check'

import { createBodyRoom } from './body-room.ts'

test('the sum of what is taken never exceeds the limit, and what is freed is there again', () => {
  const step = fc.record({ request: fc.nat(5), bytes: fc.nat(60), ends: fc.boolean() })
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const room = createBodyRoom(() => 100)
      const spaces = Array.from({ length: 6 }, () => room.enter())
      const held = [0, 0, 0, 0, 0, 0]
      for (const { request, bytes, ends } of steps) {
        const free = 100 - room.bytes
        if (ends) {
          spaces[request]?.free()
          held[request] = 0
        } else if (spaces[request]?.take(bytes) === null) {
          expect(bytes).toBeLessThanOrEqual(free)
          held[request] = (held[request] ?? 0) + bytes
        } else expect(bytes).toBeGreaterThan(free)
        expect(room.bytes).toBe(held.reduce((sum, each) => sum + each, 0))
      }
    }),
  )
})

test('where there is no room, the refusal says when to come back and which limit it was', () => {
  const room = createBodyRoom(() => 100)
  expect(room.enter().take(101)).toMatchObject({
    status: 503,
    retryAfterSeconds: 2,
    metadata: { reason: 'body_bytes_in_flight', max_bytes: 100 },
  })
})

test('a limit that was lowered refuses the next bytes and lets a body of none pass', () => {
  let most = 100
  const room = createBodyRoom(() => most)
  room.enter().take(80)
  most = 50
  expect(room.enter().take(1)).not.toBeNull()
  expect(room.enter().take(0)).toBeNull()
})
