import { expect, test } from 'bun:test'

import { derivedSpanId, derivedTraceId, readTraceParent, spanIdOf, traceIdOf, traceParentText } from './trace-ids.ts'

const TRACE = '0af7651916cd43dd8448eb211c80319c'
const SPAN = 'b7ad6b7169203331'

test('a traceparent of any version but ff is read, and what follows its flags is ignored', () => {
  for (const [text, sampled] of [
    [`00-${TRACE}-${SPAN}-01`, true],
    [` 00-${TRACE}-${SPAN}-00 `, false],
    [`cc-${TRACE}-${SPAN}-03-what-comes-later`, true],
  ] as const)
    expect(readTraceParent(text)).toEqual({ traceId: TRACE, spanId: SPAN, sampled })
})

test.each([
  null,
  '',
  `ff-${TRACE}-${SPAN}-01`,
  `00-${TRACE}-${SPAN}`,
  `00-${TRACE}-${SPAN}-01x`,
  `x00-${TRACE}-${SPAN}-01`,
  `00-${TRACE.toUpperCase()}-${SPAN}-01`,
  `00-${'0'.repeat(32)}-${SPAN}-01`,
  `00-${TRACE}-${'0'.repeat(16)}-01`,
])('%p is no traceparent', (text) => {
  expect(readTraceParent(text)).toBeNull()
})

test('what is read from a traceparent is written as it was', () => {
  for (const flags of ['00', '01']) {
    const text = `00-${TRACE}-${SPAN}-${flags}`
    expect(traceParentText(readTraceParent(text)!)).toBe(text)
  }
})

test('an id of the right form stays as it is, and any other text becomes one, always the same', () => {
  const uuid = '0af76519-16cd-43dd-8448-eb211c80319c'
  for (const text of [TRACE, TRACE.toUpperCase(), uuid, uuid.toUpperCase()])
    expect(traceIdOf(text)).toEqual({ traceId: TRACE, isHashed: false })
  expect([spanIdOf(SPAN), spanIdOf(SPAN.toUpperCase())]).toEqual([SPAN, SPAN])
  for (const text of ['', 'mine', '0'.repeat(32), `${TRACE}0`, `x${uuid}`, `${uuid}0`]) {
    const { traceId, isHashed } = traceIdOf(text)
    expect([traceId, isHashed]).toEqual([expect.stringMatching(/^[0-9a-f]{32}$/), true])
    expect(traceIdOf(text).traceId).toBe(traceId)
  }
  for (const text of ['', 'mine', '0'.repeat(16), `${SPAN}0`, `x${SPAN}`]) expect(spanIdOf(text)).toMatch(/^[0-9a-f]{16}$/)
  expect(spanIdOf(`${SPAN}0`)).not.toBe(SPAN)
})

test('a generation has ids of its own, and each of its parts another', () => {
  const ids = [
    derivedTraceId('gen-1'),
    derivedTraceId('gen-2'),
    derivedSpanId('gen-1', 'a'),
    derivedSpanId('gen-1', 'b'),
    derivedSpanId('gen-2', 'a'),
  ]
  expect(new Set(ids).size).toBe(ids.length)
  expect(ids.map(({ length }) => length)).toEqual([32, 32, 16, 16, 16])
})
