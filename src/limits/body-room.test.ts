import { expect, test } from 'bun:test'
import fc from 'fast-check'

import { createBodyRoom } from './body-room.ts'

test('the sum of what is taken never exceeds the limit, and what is freed is there again', () => {
  const step = fc.record({ request: fc.nat(5), bytes: fc.nat(60), ends: fc.boolean() })
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const room = createBodyRoom(() => ({ mostBytes: 100, bodyBytes: 100, keyShare: 0 }))
      const spaces = Array.from({ length: 6 }, (_, key) => room.enter(`key-${key % 2}`))
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
  const room = createBodyRoom(() => ({ mostBytes: 100, bodyBytes: 100, keyShare: 0 }))
  expect(room.enter('a').take(101)).toMatchObject({
    status: 503,
    retryAfterSeconds: 2,
    metadata: { reason: 'body_bytes_in_flight', max_bytes: 100 },
  })
})

test('a limit that was lowered refuses the next bytes and lets a body of none pass', () => {
  let most = 100
  const room = createBodyRoom(() => ({ mostBytes: most, bodyBytes: 100, keyShare: 0.8 }))
  room.enter('a').take(80)
  most = 50
  expect(room.enter('a').take(1)).not.toBeNull()
  expect(room.enter('a').take(0)).toBeNull()
})

test('one key leaves room for the bodies of others, and may always send one of the largest size', () => {
  const room = createBodyRoom(() => ({ mostBytes: 128, bodyBytes: 20, keyShare: 0.8 }))
  const bodies = Array.from({ length: 7 }, () => room.enter('hostile').take(20))
  expect(bodies.filter((refusal) => refusal === null)).toHaveLength(5)
  expect(bodies[5]).toMatchObject({ status: 429, retryAfterSeconds: 2, metadata: { reason: 'body_bytes_in_flight' } })
  expect(room.enter('other').take(20)).toBeNull()
  const small = createBodyRoom(() => ({ mostBytes: 20, bodyBytes: 20, keyShare: 0.8 }))
  const whole = small.enter('alone')
  expect([whole.take(10), whole.take(10)]).toEqual([null, null])
})

test('answers that no client reads take from the same room: new bodies are refused, and admitted once they were read', () => {
  const room = createBodyRoom(() => ({ mostBytes: 100, bodyBytes: 20, keyShare: 0.8 }))
  room.unread(60)
  room.unread(30)
  expect(room.enter('a').take(20)).toMatchObject({ status: 503, retryAfterSeconds: 2 })
  room.unread(-60)
  expect(room.enter('a').take(20)).toBeNull()
  expect(room.unreadBytes).toBe(30)
})

test('an answer that is held for a client takes from the same room, and from the share of its key, but is no body', () => {
  const room = createBodyRoom(() => ({ mostBytes: 100, bodyBytes: 20, keyShare: 0.8 }))
  const space = room.enter('a')
  space.take(10)
  space.holdAnswer(60)
  expect([room.bytes, room.unreadBytes]).toEqual([10, 60])
  expect(room.enter('a').take(20)).toMatchObject({ status: 429 })
  expect(room.enter('b').take(31)).toMatchObject({ status: 503 })
  room.unread(5)
  expect(room.unreadBytes).toBe(65)
  room.unread(-5)
  space.holdAnswer(-60)
  expect([room.bytes, room.unreadBytes, room.enter('b').take(20)]).toEqual([10, 0, null])
})

test('without shares one key may take all of the room', () => {
  const room = createBodyRoom(() => ({ mostBytes: 100, bodyBytes: 20, keyShare: 0 }))
  expect(room.enter('a').take(100)).toBeNull()
})
