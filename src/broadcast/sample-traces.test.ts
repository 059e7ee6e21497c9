import { expect, test } from 'bun:test'
import fc from 'fast-check'

import { isTraceSampled } from './sample-traces.ts'

const traceOf = (traceId: string, sampled: boolean | null) => ({
  generationId: 'gen-1-a',
  named: null,
  parent: sampled === null ? null : { traceId, spanId: 'b7ad6b7169203331', sampled },
})

const PARENTS = [null, true, false] as const

test.each([
  ['always_on', [true, true, true]],
  ['always_off', [false, false, false]],
  ['parentbased_always_on', [true, true, false]],
  ['parentbased_always_off', [false, true, false]],
] as const)('%s: without a parent, with one that is sampled, with one that is not', (sampler, expected) => {
  expect(PARENTS.map((sampled) => isTraceSampled(traceOf('0af7651916cd43dd8448eb211c80319c', sampled), sampler, 0.5))).toEqual([
    ...expected,
  ])
})

const traceId = fc.stringMatching(/^[0-9a-f]{32}$/).filter((id) => !/^0+$/.test(id))
const ratio = fc.double({ min: 0, max: 1, noNaN: true })
const sampled = (id: string, share: number): boolean => isTraceSampled(traceOf(id, false), 'traceidratio', share)

test('traceidratio: none at 0, all at 1, whatever the id; and what a share has, every larger share has', () => {
  for (const id of ['0'.repeat(31) + '1', 'f'.repeat(32)]) expect([sampled(id, 0), sampled(id, 1)]).toEqual([false, true])
  fc.assert(
    fc.property(traceId, ratio, ratio, (id, one, other) => {
      expect([sampled(id, 0), sampled(id, 1)]).toEqual([false, true])
      if (sampled(id, Math.min(one, other))) expect(sampled(id, Math.max(one, other))).toBe(true)
    }),
  )
})

test('traceidratio: of random ids so many as the share says', () => {
  const ids = Array.from({ length: 10_000 }, (_, index) => Bun.hash.xxHash64(String(index)).toString(16).padStart(16, '0').repeat(2))
  for (const share of [0.1, 0.5, 0.9]) {
    const count = ids.filter((id) => sampled(id, share)).length
    expect(Math.abs(count / ids.length - share)).toBeLessThan(0.02)
  }
})

test('parentbased_traceidratio: the parent decides where there is one, else the share', () => {
  fc.assert(
    fc.property(traceId, ratio, fc.boolean(), (id, share, isSampled) => {
      expect(isTraceSampled(traceOf(id, isSampled), 'parentbased_traceidratio', share)).toBe(isSampled)
    }),
  )
  const own = { generationId: 'gen-1-a', named: null, parent: null }
  expect([0, 1].map((share) => isTraceSampled(own, 'parentbased_traceidratio', share))).toEqual([false, true])
})
