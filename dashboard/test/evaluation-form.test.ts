/** The form of a new evaluation: either its body is valid for the API, or a sentence says what is missing. */
import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'

import { evaluationBody } from '../../src/contract/evaluation.ts'
import { CHECK_KINDS, checkOf, newCheck, type CheckRow } from '../src/screens/presets/evaluations/check-rows.ts'
import { bodyOf, newForm } from '../src/screens/presets/evaluations/evaluation-form.ts'
import { readItemSet } from '../src/screens/presets/evaluations/item-set.ts'

const TYPES = Object.keys(CHECK_KINDS) as CheckRow['type'][]
const words = fc.oneof(fc.constantFrom('', ' ', '4', '-1', 'NaN', '1e9', '{"type":"object"}', '[]', 'order \\d+'), fc.string())

const rows: fc.Arbitrary<CheckRow> = fc.record({
  id: fc.nat(),
  type: fc.constantFrom(...TYPES),
  text: words,
  model: words,
  number: words,
  ignoresCase: fc.boolean(),
})

/** Faults that only the service can report, since they need its rules, such as which expressions are supported. */
const BY_THE_SERVICE = /^checks\.\d+\.(?:pattern|text|model|rubric|min_score)\b|^(?:budget_usd|items)\b/

describe('the form of a new evaluation', () => {
  test('makes a body of the contract from whatever is written, or says what is missing', () => {
    fc.assert(
      fc.property(
        fc.array(rows, { maxLength: 4 }),
        words,
        words,
        words,
        fc.constantFrom('tests', 'recorded'),
        (checks, passShare, budget, limit, source) => {
          const body = bodyOf({ ...newForm(2, 1), checks, passShare, budget, source, recorded: { limit, expectsAnswer: true } })
          if (typeof body === 'string') {
            expect(body).toMatch(/\.$|: .+/)
            return
          }
          const read = evaluationBody.safeParse(JSON.parse(JSON.stringify(body)))
          expect((read.error?.issues ?? []).map(({ path }) => path.join('.')).filter((path) => !BY_THE_SERVICE.test(path))).toEqual([])
        },
      ),
    )
  })

  test('has a row for each type of check that the API knows, and a new one is told what it lacks', () => {
    expect(TYPES.toSorted()).toEqual(['contains', 'cost', 'exact', 'json_schema', 'judge', 'latency', 'pairwise', 'pattern'])
    expect(TYPES.filter((type) => typeof checkOf(newCheck([], type)) === 'string')).toEqual(['pattern', 'judge', 'pairwise'])
  })

  test('a pair needs a version beside it', () => {
    const pair = { ...newCheck([], 'pairwise'), model: 'judge' }
    expect(bodyOf({ ...newForm(1, 1), checks: [pair] })).toContain('Choose a version beside it')
    expect(bodyOf({ ...newForm(2, 1), checks: [pair] })).toMatchObject({ baseline: 1, checks: [{ type: 'pairwise', model: 'judge' }] })
  })
})

describe('a set of items from a file', () => {
  const item = { messages: [{ role: 'user', content: 'Hi' }] }
  test.each<[string, string, unknown]>([
    ['set.json', JSON.stringify([item]), { items: [item], left: [] }],
    ['set.json', JSON.stringify({ items: [item], checks: [], budget_usd: 1 }), { items: [item], left: ['checks', 'budget_usd'] }],
    ['set.jsonl', `${JSON.stringify(item)}\n\n${JSON.stringify(item)}\n`, { items: [item, item], left: [] }],
    ['set.json', '{}', { fault: expect.stringContaining('neither a list') }],
    ['set.json', 'null', { fault: expect.stringContaining('neither a list') }],
    ['set.json', '[]', { fault: 'The file holds no items.' }],
    ['set.json', '[{"messages":[]},{"prompt":"x"}]', { fault: expect.stringContaining('Item 2 has no messages') }],
    ['set.jsonl', '{"messages":[]}\n<b>', { fault: expect.stringContaining('This is no JSON: line 2, column 1 has <b>') }],
    ['set.yaml', 'items:\n  - 1', { fault: expect.stringContaining('This is no JSON: line 1, column 1 has items:') }],
  ])('%s: %s', (name, text, read) => expect(readItemSet(text, name)).toEqual(read as ReturnType<typeof readItemSet>))
})
