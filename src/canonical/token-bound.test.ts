import { expect, test } from 'bun:test'
import fc from 'fast-check'

import { texts } from '../../test/fixtures/token-counts.json'
import { atOnce } from '../lib/steps.ts'
import { mostHundredths, wholeTokens } from './token-bound.ts'

const most = (text: string): number => wholeTokens(atOnce(mostHundredths(JSON.stringify(text).slice(1, -1), 'text')))

test.each(texts.map(({ name, text, tokens }) => [name, text, tokens] as const))(
  '%s: no public tokenizer makes more tokens of it',
  (_, text, tokens) => {
    // Some tokenizers add one token of their own at the beginning of every text.
    expect(most(text)).toBeGreaterThanOrEqual(tokens - 1)
  },
)

test('prose is a third more than three bytes a token at most, and programs are below four times their tokens', () => {
  for (const { name, text, tokens } of texts) {
    if (name === 'prose') expect(most(text)).toBeLessThanOrEqual((text.length / 3) * 1.3)
    if (['prose', 'python', 'german', 'russian', 'chinese'].includes(name)) expect(most(text)).toBeLessThan(tokens * 4)
  }
})

test('no text is more tokens than it has bytes as JSON, nor fewer than its words', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      expect(most(text)).toBeLessThanOrEqual(Buffer.byteLength(JSON.stringify(text)))
      expect(most(text)).toBeGreaterThanOrEqual(text.match(/[A-Za-z]+/g)?.length ?? 0)
    }),
  )
})

test('a text counts the same as its octets', () => {
  const unit = fc.oneof(fc.constantFrom('Щ', 'я', 'ё', 'Ѐ', 'é', '€', '日', '😀', 'the', ' ', '\\', '"'), fc.string({ unit: 'binary' }))
  fc.assert(
    fc.property(fc.array(unit), (units) => {
      const json = JSON.stringify(units.join(''))
      const octets = Buffer.from(json).toString('latin1')
      expect(atOnce(mostHundredths(json, 'text'))).toBe(atOnce(mostHundredths(octets, 'octets')))
    }),
  )
})

test('a long string is passed over where it is counted as something else, and only then', () => {
  const picture = 'A1'.repeat(500)
  const text = `{"a":"${picture}","b":"x"}`
  expect(atOnce(mostHundredths(text, 'octets', () => false))).toBe(atOnce(mostHundredths(text, 'octets')))
  expect(atOnce(mostHundredths(text, 'octets', (long) => long === picture))).toBeLessThan(2000)
})

test('text that is longer is counted in more steps, and no word is cut by them', () => {
  const counted = (text: string): [steps: number, hundredths: number] => {
    const work = mostHundredths(text, 'octets')
    for (let steps = 0; ; steps += 1) {
      const { done, value } = work.next()
      if (done === true) return [steps, value]
    }
  }
  expect(counted('word '.repeat(10_000))[0]).toBe(0)
  for (const text of ['word,', '\\n']) {
    const [steps, tokens] = counted(text.repeat(700_000))
    const [moreSteps, moreTokens] = counted(text.repeat(2_800_000))
    expect(moreSteps).toBeGreaterThan(steps + 3)
    expect(moreTokens).toBe(4 * tokens)
  }
})
