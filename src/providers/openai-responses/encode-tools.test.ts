import { expect, test } from 'bun:test'

import type { Prompt } from '../../canonical/prompt.ts'
import type { JsonObject } from '../../lib/json/json.ts'
import { encode, set } from './encode.test-kit.ts'

test('tools are never made strict by silence', () => {
  const a = { type: 'object', properties: { x: {} } }
  const b = { type: 'object', properties: {}, required: [], additionalProperties: false }
  const { sent } = encode({
    tools: [
      { type: 'function', name: 'a', description: null, parameters: a },
      { type: 'function', name: 'b', description: 'B', parameters: b, strict: true },
    ],
  })
  expect(sent['tools']).toEqual([
    { type: 'function', name: 'a', parameters: a, strict: false },
    { type: 'function', name: 'b', description: 'B', parameters: b, strict: true },
  ])
})

test('cache marks are reported as lost once, also those on tools alone', () => {
  const f = { type: 'function', name: 'f', description: null, parameters: { type: 'object', properties: {} } } as const
  const { lost } = encode({ tools: [f, { ...f, name: 'g', cache: {} }, { ...f, name: 'h', cache: {} }] })
  expect(lost).toEqual(['tools[1]'])
  const messages = [{ role: 'user', parts: [{ type: 'text', text: 'Hi', cache: {} }] }] as const
  expect(encode({ messages, tools: [{ ...f, cache: {} }] }).lost).toEqual(['messages'])
})

test.each<[Prompt['toolChoice'], unknown]>([
  [{ type: 'auto' }, undefined],
  [{ type: 'none' }, 'none'],
  [{ type: 'required' }, 'required'],
  [
    { type: 'tool', name: 'f' },
    { type: 'function', name: 'f' },
  ],
])('the choice %j is %j', (toolChoice, expected) => {
  const { sent } = encode({ toolChoice, tools: [{ type: 'function', name: 'f', description: null, parameters: {} }] })
  expect(sent['tool_choice']).toEqual(expected as never)
})

test.each<[string, unknown, JsonObject, string[]]>([
  [
    'web_search_20250305',
    {
      type: 'web_search_20250305',
      name: 'web_search',
      max_uses: 3,
      allowed_domains: ['a.example'],
      user_location: { type: 'approximate', city: 'Oslo', country: null },
    },
    { type: 'web_search', filters: { allowed_domains: ['a.example'] }, user_location: { type: 'approximate', city: 'Oslo' } },
    ['tools[0].max_uses'],
  ],
  [
    'service:web_search',
    { type: 'service:web_search', parameters: { search_context_size: 'high', engine: 'exa' } },
    { type: 'web_search', search_context_size: 'high' },
    ['tools[0].parameters.engine'],
  ],
  [
    'web_search_20260209',
    { type: 'web_search_20260209', name: 'web_search', blocked_domains: ['a.example'] },
    { type: 'web_search', filters: { blocked_domains: ['a.example'] } },
    [],
  ],
  ['web_search_preview', { type: 'web_search_preview' }, { type: 'web_search' }, []],
])('the web search %s is this provider’s', (kind, raw, expected, reported) => {
  const { sent, lost } = encode({ tools: [{ type: 'provider', kind, at: 'tools[0]', raw }] })
  expect([sent['tools'], lost]).toEqual([[expected], reported])
})

test.each(['bash_20250124', 'service:datetime', 'service:web_fetch', 'custom'])('%s is reported as lost', (kind) => {
  const { sent, lost } = encode({ tools: [{ type: 'provider', kind, at: 'tools[0]', raw: {} }] })
  expect([sent['tools'], lost]).toEqual([undefined as never, ['tools[0]']])
})

test('the place of a search is read as chat wraps it', () => {
  const options = { search_context_size: 'low', user_location: { type: 'approximate', approximate: { city: 'Bonn' } } }
  expect(encode({ settings: set('webSearchOptions', options) }).sent['tools']).toEqual([
    { type: 'web_search', search_context_size: 'low', user_location: { type: 'approximate', city: 'Bonn' } },
  ])
})

test('a choice of a tool that could not be carried causes a warning, and one of a web search is carried', () => {
  const choiceOf = (name: string, kind: string) => {
    const tools = [{ type: 'provider', kind, at: 'tools[0]', raw: { type: kind, name } } as const]
    const { sent, lost } = encode({ toolChoice: { type: 'tool', name }, tools })
    return [sent['tool_choice'], lost]
  }
  expect(choiceOf('web_fetch', 'web_fetch_20250910')).toEqual([undefined, ['tools[0]', 'tool_choice']])
  expect(choiceOf('web_search', 'web_search_20250305')).toEqual([{ type: 'web_search' }, []])
})
