import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'

import { createFakeClock } from '../../../test/support/fake-clock.ts'
import { pacedBody } from './paced-body.ts'

const MIB = 1024 * 1024

const open = (...pieces: string[]) => {
  const clock = createFakeClock()
  const kept = { now: 0, most: 0 }
  const onUnread = (change: number): void => {
    kept.now += change
    kept.most = Math.max(kept.most, kept.now)
  }
  return { clock, kept, body: pacedBody(pieces, { clock, unreadMs: 60_000, onUnread }) }
}

test('whatever the text, it arrives whole, and nothing is kept at the end', async () => {
  const long = fc.tuple(fc.string({ unit: 'binary', minLength: 1, maxLength: 40 }), fc.integer({ min: 1, max: 200_000 }))
  await fc.assert(
    fc.asyncProperty(long, fc.nat(2), async ([unit, length], offset) => {
      const text = 'é'.repeat(offset) + unit.repeat(Math.ceil(length / unit.length))
      const { body, kept, clock } = open(text)
      expect(kept.now).toBe(text.length)
      expect(await new Response(body).text()).toBe(new TextDecoder('utf-8', { ignoreBOM: false }).decode(new TextEncoder().encode(text)))
      expect([kept.now, kept.most, clock.waiting]).toEqual([0, text.length, 0])
    }),
    { numRuns: 25, examples: [[['😀', 65_535 * 3], 1]] },
  )
})

test('however the text is cut, pieces of one length arrive', async () => {
  const cuts = fc.array(fc.integer({ min: 0, max: 150_000 }), { minLength: 1, maxLength: 12 })
  await fc.assert(
    fc.asyncProperty(cuts, async (lengths) => {
      const { body, kept } = open(...lengths.map((length, at) => `${at}é`.repeat(length).slice(0, length)), 'x')
      const whole = lengths.map((length, at) => `${at}é`.repeat(length).slice(0, length)).join('') + 'x'
      const read = await Array.fromAsync(body)
      expect(Buffer.concat(read).toString()).toBe(whole)
      expect(kept).toEqual({ now: 0, most: whole.length })
      expect(read.length).toBe(Math.ceil(whole.length / (64 * 1024)))
    }),
    { numRuns: 25 },
  )
})

describe('a reader that stops', () => {
  test('keeps the rest counted, and gives it back when it leaves', async () => {
    const { body, kept, clock } = open('x'.repeat(MIB))
    const reader = body.getReader()
    await reader.read()
    expect(kept.now).toBe(MIB - 64 * 1024)
    await reader.cancel()
    expect([kept.now, clock.waiting]).toEqual([0, 0])
  })

  test('is given up a minute after it took something last, and all is given back', async () => {
    const { body, kept, clock } = open('x'.repeat(MIB))
    const reader = body.getReader()
    for (let minute = 0; minute < 3; minute += 1) {
      await reader.read()
      clock.advance(59_000)
    }
    expect(kept.now).toBe(MIB - 3 * 64 * 1024)
    clock.advance(1000)
    expect([kept.now, clock.waiting]).toEqual([0, 0])
    expect(reader.read()).rejects.toThrow('The answer was not read.')
  })

  test('is given up also where it never began', () => {
    const { kept, clock } = open('x'.repeat(MIB))
    clock.advance(60_000)
    expect([kept.now, clock.waiting]).toEqual([0, 0])
  })
})
