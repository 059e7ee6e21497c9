import { expect, test } from 'bun:test'

import { createAnswerRoom, WHOLE_BODY_MAX } from './answer-room.ts'

const MIB = 1024 * 1024

test('answers of up to a MiB always find room, and the first MiB of each is not counted', () => {
  const room = createAnswerRoom(() => WHOLE_BODY_MAX)
  expect(room.enter('hostile').take(WHOLE_BODY_MAX)).toBeNull()
  const small = Array.from({ length: 5000 }, () => room.enter('hostile').take(MIB))
  expect(small.every((refusal) => refusal === null)).toBe(true)
  expect(room.bytes).toBe(WHOLE_BODY_MAX - MIB)
})

test('one provider leaves room for an answer of another, and what is freed is there again', () => {
  const room = createAnswerRoom(() => 4 * WHOLE_BODY_MAX)
  const spaces = Array.from({ length: 20 }, () => room.enter('hostile'))
  const refusals = spaces.map((space) => space.take(32 * MIB))
  expect(refusals.filter((refusal) => refusal === null)).toHaveLength(6)
  expect(refusals.at(-1)).toMatchObject({
    type: 'provider_overloaded',
    status: 503,
    retryAfterSeconds: 2,
    metadata: { reason: 'answer_bytes_in_flight', max_bytes: 4 * WHOLE_BODY_MAX },
  })
  expect(room.enter('other').take(WHOLE_BODY_MAX)).toBeNull()
  for (const space of spaces) space.free()
  for (const space of spaces) space.free()
  expect(room.bytes).toBe(WHOLE_BODY_MAX - MIB)
})
