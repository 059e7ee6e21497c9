import { expect, test } from 'bun:test'

import { eachOutlined } from './json-outline.ts'

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
