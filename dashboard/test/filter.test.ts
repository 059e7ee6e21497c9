import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'

import { filterText, readFilter, withValues } from '../src/screens/requests/filter.ts'

describe('the filter of requests', () => {
  test.each([
    ['status:error model:gpt', { status: 'error', model: 'gpt' }],
    ['model:"a b" key:x', { model: 'a b', key: 'x' }],
    ['model:org//name', { model: 'org//name' }],
    ['preset:support-bot@7', { preset: 'support-bot', preset_version: '7' }],
    ['cost>0.01 latency>2s', { min_cost_usd: '0.01', min_latency_ms: '2000' }],
    ['latency>250ms cost>$1', { min_latency_ms: '250', min_cost_usd: '1' }],
    ['content:yes req-abc', { has_content: 'true', request_id: 'req-abc' }],
    ['has_preset:no content:no', { has_preset: 'false', has_content: 'false' }],
    ['guardrail:"names of ACME"', { guardrail: 'names of ACME' }],
    ['', {}],
  ])('%s', (text, query) => {
    expect(readFilter(text)).toEqual({ query, faults: [] })
  })

  test.each([
    '-model:gpt',
    'nonsense:1',
    'status:bad',
    'model:',
    'model:a model:b',
    'cost>cheap',
    'cost>2s',
    'tokens>3',
    'word',
    'constructor:x',
    '__proto__:x',
  ])('%s is told, and the rest is used', (text) => {
    const { query, faults } = readFilter(`key:k ${text}`)
    expect(query).toMatchObject({ key: 'k' })
    expect(faults).toHaveLength(1)
    expect(faults[0]!.reason).not.toBe('')
  })

  test('what a link asks for is read as it was meant, whatever the name holds', () => {
    fc.assert(
      fc.property(fc.string({ minLength: 1, unit: 'binary' }), (model) => {
        expect(readFilter(filterText({ model }))).toEqual({ query: { model }, faults: [] })
      }),
    )
  })

  test('no text throws, and every word of it is used or told', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        const { query, faults } = readFilter(text)
        expect(text.trim() === '' || Object.keys(query).length + faults.length > 0).toBe(true)
      }),
    )
  })
})

test('values take the place of those that the text has for the same keys, and leave the others and what is not understood', () => {
  const text = 'status:ok model:"a b" latency>2s what key:old'
  expect(withValues(text, { status: 'error', key: 'new' })).toBe('model:"a b" latency>2s what status:error key:new')
  expect(withValues('', { error: 'timeout' })).toBe('error:timeout')
})
