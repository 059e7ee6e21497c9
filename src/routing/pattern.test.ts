import { expect, test } from 'bun:test'

import * as fc from 'fast-check'

import { matchesPattern } from './pattern.ts'

test.each<[string, string, boolean]>([
  ['openai/gpt-5', 'openai/gpt-5', true],
  ['OpenAI/GPT-5', 'openai/gpt-5', true],
  ['openai/gpt-5', 'openai/gpt-5-mini', false],
  ['openai/*', 'openai/gpt-5', true],
  ['openai/*', 'azure/openai/gpt-5', false],
  ['*', 'anything', true],
  ['*mini', 'openai/gpt-5-mini', true],
  ['a*a', 'a', false],
  ['*b*b*', 'abcb', true],
  ['a.c', 'abc', false],
])('%s and %s: %p', (pattern, name, fits) => {
  expect(matchesPattern(pattern, name)).toBe(fits)
})

test('says what the regular expression of the same meaning says, in any case', () => {
  const text = fc.string({ unit: fc.constantFrom('a', 'A', 'b', '/', '*'), maxLength: 8 })
  fc.assert(
    fc.property(text, text, (pattern, name) => {
      const expression = new RegExp(`^${pattern.replaceAll('*', '.*')}$`, 'i')
      expect(matchesPattern(pattern, name)).toBe(expression.test(name))
    }),
    { numRuns: 2000 },
  )
})
