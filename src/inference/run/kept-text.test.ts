import { expect, test } from 'bun:test'

import { createAnswerRoom, WHOLE_BODY_MAX } from '../../providers/transport/answer-room.ts'
import type { Admitted } from '../admitted.ts'
import { roomForText } from './kept-text.ts'

const MIB = 1024 * 1024
const admitted = { log: { current: { planned: { endpoint: { provider: { slug: 'p' } } } } } } as unknown as Pick<Admitted, 'log'>

test('texts that streams keep share one limit with whole answers, without the first MiB of each, and nothing counts after the end', () => {
  const room = createAnswerRoom(() => WHOLE_BODY_MAX)
  const [one, two] = [roomForText(admitted, room), roomForText(admitted, room)]
  for (let kept = 0; kept < WHOLE_BODY_MAX; kept += MIB) one.keep(MIB)
  two.keep(MIB)
  expect(() => two.keep(MIB + 1)).toThrow(expect.objectContaining({ type: 'provider_overloaded' }))
  one.free()
  one.keep(5 * MIB)
  expect(room.bytes).toBe(0)
  two.keep(MIB)
  expect(room.bytes).toBe(MIB)
})
