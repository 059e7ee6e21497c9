import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'

import { filterRules, type FilterRules } from '../contract/destination.ts'
import { createRegex } from '../lib/regex/finder.ts'
import { type Filtering, isSampled, isSentTo, needsContent } from './filter-traces.ts'
import type { RequestTrace } from './request-trace.ts'
import { traceWith } from './trace.test-kit.ts'

const filtering = (more: Partial<Filtering> = {}): Filtering => ({
  id: 'destination-1',
  keyHashes: null,
  rules: null,
  patterns: new Map(),
  rate: 1,
  ...more,
})

const fitsRule = (rule: object, trace: Partial<RequestTrace>): boolean => {
  const rules: FilterRules = filterRules.parse({ groups: [{ rules: [rule] }] })
  const patterns = new Map(
    rules.groups.flatMap((group) =>
      group.rules.flatMap(({ operator, value }) => (operator === 'regex' ? [[String(value), createRegex(String(value))] as const] : [])),
    ),
  )
  return isSentTo(filtering({ rules, patterns }), traceWith(trace))
}

const TOOLS: Partial<RequestTrace> = {
  content: {
    system: [],
    input: [],
    output: [
      { type: 'tool_call', id: 'c', name: 'n', arguments: 'the arguments' },
      { type: 'tool_call_response', id: 'c', response: 'the response' },
    ],
    tools: null,
    toolCalls: new Map(),
  },
}

test.each<[string, object, Partial<RequestTrace>, boolean]>([
  ['equals', { field: 'model', operator: 'equals', value: 'vendor/model' }, {}, true],
  ['not_equals', { field: 'model', operator: 'not_equals', value: 'vendor/model' }, {}, false],
  ['contains', { field: 'model', operator: 'contains', value: 'or/mo' }, {}, true],
  ['not_contains', { field: 'model', operator: 'not_contains', value: 'or/mo' }, {}, false],
  ['starts_with', { field: 'model', operator: 'starts_with', value: 'vendor/' }, {}, true],
  ['ends_with', { field: 'model', operator: 'ends_with', value: 'vendor/' }, {}, false],
  ['regex', { field: 'model', operator: 'regex', value: '^v.*l$' }, {}, true],
  ['gt', { field: 'total_tokens', operator: 'gt', value: 15 }, {}, false],
  ['gte as text', { field: 'total_tokens', operator: 'gte', value: '15' }, {}, true],
  ['lt', { field: 'total_cost', operator: 'lt', value: 0.3 }, {}, true],
  ['lt, at the bound', { field: 'total_tokens', operator: 'lt', value: 15 }, {}, false],
  ['lte', { field: 'completion_tokens', operator: 'lte', value: 4 }, {}, false],
  ['gte, at the bound', { field: 'completion_tokens', operator: 'gte', value: 5 }, {}, true],
  ['gte, above what there is', { field: 'completion_tokens', operator: 'gte', value: 6 }, {}, false],
  ['lte, at the bound', { field: 'total_tokens', operator: 'lte', value: 15 }, {}, true],
  ['equals of numbers', { field: 'prompt_tokens', operator: 'equals', value: '10.0' }, {}, true],
  ['exists', { field: 'session_id', operator: 'exists' }, {}, false],
  ['exists, of a value', { field: 'session_id', operator: 'exists' }, { sessionId: 's-1' }, true],
  ['exists, of an empty value', { field: 'session_id', operator: 'exists' }, { sessionId: '' }, false],
  ['not_exists', { field: 'session_id', operator: 'not_exists' }, {}, true],
  ['not_exists, of a value', { field: 'session_id', operator: 'not_exists' }, { sessionId: 's-1' }, false],
  ['a regex that does not match', { field: 'model', operator: 'regex', value: '^other' }, {}, false],
  ['what a value does not contain, where there is none', { field: 'user_id', operator: 'not_contains', value: 'null' }, {}, true],
  ['the answer, where it is not known', { field: 'output', operator: 'not_exists' }, {}, true],
  [
    'what a tool was told, and what it answered',
    { field: 'output', operator: 'regex', value: '^the arguments\nthe response$' },
    TOOLS,
    true,
  ],
  ['a field without a value', { field: 'user_id', operator: 'equals', value: 'ada' }, {}, false],
  ['the absence of a value', { field: 'user_id', operator: 'not_equals', value: 'ada' }, {}, true],
  ['the name of the key', { field: 'api_key_name', operator: 'equals', value: 'backend' }, {}, true],
  [
    'the answer',
    { field: 'output', operator: 'contains', value: 'yes' },
    { content: { system: [], input: [], output: [{ type: 'text', content: 'oh yes' }], tools: null, toolCalls: new Map() } },
    true,
  ],
])('a rule can ask for %s', (_, rule, trace, expected) => {
  expect(fitsRule(rule, trace)).toBe(expected)
})

test('a comparison with what is no number, and an operator without the value that it needs, are no rules', () => {
  const rule = (one: object): boolean => filterRules.safeParse({ groups: [{ rules: [one] }] }).success
  expect(rule({ field: 'total_cost', operator: 'gt', value: 'much' })).toBe(false)
  expect(rule({ field: 'total_cost', operator: 'gt', value: '' })).toBe(false)
  expect(rule({ field: 'model', operator: 'equals' })).toBe(false)
  expect(rule({ field: 'model', operator: 'exists' })).toBe(true)
})

describe('groups', () => {
  const yes = { field: 'model', operator: 'equals', value: 'vendor/model' }
  const no = { field: 'model', operator: 'equals', value: 'another' }
  test.each<[string, object, boolean]>([
    ['one group that fits is enough', { groups: [{ rules: [no] }, { rules: [yes] }] }, true],
    ['and wants all rules', { groups: [{ rules: [yes, no] }] }, false],
    ['or wants one', { groups: [{ logic: 'or', rules: [yes, no] }] }, true],
    ['without groups everything fits', { groups: [] }, true],
    ['rules that are turned off let everything pass', { enabled: false, groups: [{ rules: [no] }] }, true],
  ])('%s', (_, rules, expected) => {
    expect(isSentTo(filtering({ rules: filterRules.parse(rules) }), traceWith())).toBe(expected)
  })
})

test('a rule about the question reads the system prompt and the messages, and fits no request of which they are not known', () => {
  const content: RequestTrace['content'] = {
    system: [{ type: 'text', content: 'be brief' }],
    input: [{ role: 'user', parts: [{ type: 'text', content: 'what is it' }] }],
    output: [],
    tools: null,
    toolCalls: new Map(),
  }
  for (const value of ['be brief', 'what is it']) {
    expect(fitsRule({ field: 'input', operator: 'contains', value }, { content })).toBe(true)
    expect(fitsRule({ field: 'input', operator: 'contains', value }, { content: null })).toBe(false)
  }
})

test.each<[boolean, object | null]>([
  [false, null],
  [false, { groups: [{ rules: [{ field: 'model', operator: 'exists' }] }] }],
  [
    true,
    {
      groups: [
        { rules: [{ field: 'model', operator: 'exists' }] },
        {
          rules: [
            { field: 'model', operator: 'exists' },
            { field: 'input', operator: 'exists' },
          ],
        },
      ],
    },
  ],
  [true, { groups: [{ rules: [{ field: 'output', operator: 'exists' }] }] }],
  [false, { enabled: false, groups: [{ rules: [{ field: 'output', operator: 'exists' }] }] }],
])('question and answer are kept for the rules of a destination: %p, for %j', (needed, rules) => {
  expect(needsContent(rules === null ? null : filterRules.parse(rules))).toBe(needed)
})

test('a destination receives only the traces of its keys', () => {
  expect(isSentTo(filtering({ keyHashes: new Set(['cd'.repeat(32)]) }), traceWith())).toBe(false)
  expect(isSentTo(filtering({ keyHashes: new Set(['ab'.repeat(32)]) }), traceWith())).toBe(true)
})

describe('sampling', () => {
  const kept = (destination: string, rate: number): readonly boolean[] =>
    Array.from({ length: 10_000 }, (_, at) => isSentTo(filtering({ id: destination, rate }), traceWith({ sessionId: `session-${at}` })))

  test('half of the sessions is half of them, and two destinations choose differently', () => {
    const [first, second] = [kept('one', 0.5), kept('two', 0.5)]
    for (const choice of [first, second]) {
      const share = choice.filter(Boolean).length / choice.length
      expect(share).toBeGreaterThan(0.48)
      expect(share).toBeLessThan(0.52)
    }
    const alike = first.filter((one, at) => one === second[at]).length / first.length
    expect(Math.abs(alike - 0.5)).toBeLessThan(0.03)
  })

  test('half of the requests without a session is half of them', () => {
    const sent = Array.from({ length: 2000 }, (_, at) => isSentTo(filtering({ rate: 0.5 }), traceWith({ generationId: `gen-${at}` })))
    expect(Math.abs(sent.filter(Boolean).length / sent.length - 0.5)).toBeLessThan(0.05)
  })

  test('a session is sent whole or not at all, and a higher rate sends all that a lower one does', () => {
    fc.assert(
      fc.property(
        fc.string(),
        fc.double({ min: 0.0001, max: 1, noNaN: true }),
        fc.double({ min: 0.0001, max: 1, noNaN: true }),
        (session, a, b) => {
          const [low, high] = a < b ? [a, b] : [b, a]
          const sent = (generationId: string): boolean =>
            isSentTo(filtering({ rate: low }), traceWith({ sessionId: session, generationId }))
          expect(sent('gen-1')).toBe(sent('gen-2'))
          if (isSampled(session, low)) expect(isSampled(session, high)).toBe(true)
        },
      ),
    )
  })
})
