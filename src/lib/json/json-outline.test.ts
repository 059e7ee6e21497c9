import { describe, expect, test } from 'bun:test'

import fc from 'fast-check'

import { JsonBody } from './json-body.ts'
import { eachElementOutlined, eachOutlined } from './json-outline.ts'
import { atOnce } from '../steps.ts'

test('an element that is longer than a step is read in several, and gives what one of the usual length gives', () => {
  const stepsOf = (count: number): number => {
    const part = `{"type":"text","text":"${'a'.repeat(100)}"}`
    const element = `{"role":"user","content":[${Array.from({ length: count }, () => part).join()}]}`
    const found: unknown[] = []
    const steps = [...eachOutlined(`[${element}]`, 5, (given) => found.push(given))].length
    expect(found).toEqual([{ role: 'user', content: Array.from({ length: count }, () => ({ type: 'text', text: '' })) }])
    return steps
  }
  expect(stepsOf(300)).toBe(0)
  expect(stepsOf(3000)).toBeGreaterThan(2)
})

/** Long enough that the scan of the body records the positions of elements. */
const FILLER = `{"role":"user","content":"${'a'.repeat(40_000)}"}`

const bodyOf = (elements: readonly string[]): JsonBody => JsonBody.read(`{"messages":[${[FILLER, ...elements].join(',')}],"model":"m"}`)

const outlinesOf = (body: JsonBody): readonly unknown[] => {
  const outlines: unknown[] = []
  const elements = body.elementsOf('messages')
  if (elements === undefined) throw new Error('The scan noted no elements.')
  atOnce(eachElementOutlined(body.held, elements, 5, (element) => outlines.push(element)))
  return outlines.slice(1)
}

/** As in an outline, long strings may be empty and numbers may be 0. */
const sameForm = (outline: unknown, value: unknown): void => {
  if (typeof value === 'string' && value.length > 9) expect([value, '']).toContainEqual(outline as string)
  else if (typeof value === 'number') expect(typeof outline).toBe('number')
  else if (Array.isArray(value)) value.forEach((one, index) => sameForm((outline as readonly unknown[])[index], one))
  else if (typeof value === 'object' && value !== null) {
    expect(Object.keys(outline as object)).toEqual(Object.keys(value))
    for (const [name, one] of Object.entries(value)) sameForm((outline as Record<string, unknown>)[name], one)
  } else expect(outline).toEqual(value)
}

describe('elements whose places the scan of a body noted', () => {
  const words = fc.oneof(fc.constantFrom('user', 'tool', '', '\\', '"', '\u0000', 'é', '😀'), fc.string({ unit: 'binary' }))
  const long = fc.tuple(words, fc.integer({ min: 0, max: 40 })).map(([word, times]) => word.repeat(times))
  const value = fc.oneof({ weight: 4, arbitrary: fc.oneof(words, long) }, fc.jsonValue({ maxDepth: 2 }))
  const object = fc.dictionary(fc.oneof(fc.constantFrom('role', 'content', 'name', 'constructor'), fc.string()), value, { maxKeys: 10 })
  const element = fc.oneof({ weight: 6, arbitrary: object }, fc.array(value, { maxLength: 4 }))

  test('have the form that a parser finds, however they are written', () => {
    fc.assert(
      fc.property(
        fc.array(
          fc.tuple(
            element.filter((one) => Object.keys(one).length > 0),
            fc.boolean(),
          ),
          { minLength: 1, maxLength: 5 },
        ),
        (given) => {
          const outlines = outlinesOf(bodyOf(given.map(([one, isSpaced]) => JSON.stringify(one, null, isSpaced ? 1 : 0))))
          expect(outlines).toHaveLength(given.length)
          given.forEach(([one], index) => sameForm(outlines[index], one))
        },
      ),
      { numRuns: 400 },
    )
  })

  test.each([
    ['an escape that JSON does not know', String.raw`\q`],
    ['one behind an escaped backslash', String.raw`\\\q`],
    ['one with too few digits', String.raw`\u12g4`],
    ['a line break that is not escaped', '\n'],
    ['a null character', '\0'],
  ])('are refused with %s, in a long text and in a short one', (_, fault) => {
    for (const text of [fault, `${'a'.repeat(100)}${fault}`, `${fault}${'a'.repeat(100)}`]) {
      expect(() => outlinesOf(bodyOf([`{"role":"user","content":"${text}"}`]))).toThrow('The body is not valid JSON.')
      expect(() => outlinesOf(bodyOf([`{"content":"${text}","role":"user"}`]))).toThrow('The body is not valid JSON.')
    }
  })

  test('are noted only where all elements are objects or lists that are not empty', () => {
    expect(bodyOf(['{"a":1}']).elementsOf('messages')).toHaveLength(2)
    for (const other of ['{}', '"a"', '1', 'null', '[]']) expect(bodyOf(['{"a":1}', other]).elementsOf('messages')).toBeUndefined()
  })
})
