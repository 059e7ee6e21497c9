import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'

import { JsonBody } from '../lib/json/json-body.ts'
import { type AskedWork, askedWork } from './asked-work.ts'

const work = (body: object): AskedWork => askedWork(JsonBody.read(JSON.stringify(body)))

/** Nests the members in objects and lists that no dialect defines. */
const within = (depth: number, body: object): object => (depth === 0 ? body : { extra_body: [within(depth - 1, body)] })

describe('a setting counts', () => {
  const words = fc.constantFrom('max_tokens', 'maxOutputTokens', 'max_completion_tokens', 'tokens_to_generate', 'generation_length')
  const sign = fc.constantFrom('', '_', '-', '.', ' ', '\u200b', '\u00ad', '\u00a0', '__')
  const wide = (text: string): string => text.replaceAll(/[a-z]/gi, (letter) => String.fromCharCode(letter.charCodeAt(0) + 0xfee0))

  test('in any case, with any signs and in any form of its letters, however deep it stands', () => {
    const names = fc.tuple(words, sign, fc.boolean(), fc.boolean()).map(([word, between, upper, full]) => {
      const spelled = word.replaceAll('_', between)
      const cased = upper ? spelled.toUpperCase() : spelled
      return full ? wide(cased) : cased
    })
    fc.assert(
      fc.property(names, fc.nat(3), fc.integer({ min: 11, max: 100_000 }), (name, depth, tokens) => {
        expect(work({ max_tokens: 10, ...within(depth + 1, { [name]: tokens }) }).outputTokens).toBe(tokens)
      }),
    )
  })

  test.each([
    'max_gen_toks',
    'tokens_to_generate',
    'token_limit',
    'max_output',
    'length',
    'generation_length',
    'num_predict',
    'max_new_tokens',
  ])('as a limit of output: %s', (name) => expect(work({ max_tokens: 10, [name]: 4000 }).outputTokens).toBe(4000))

  test.each(['n', 'best_of', 'number_of_completions', 'num_return_sequences', 'repeat', 'samples', 'candidateCount', 'numberOfSamples'])(
    'as a number of answers: %s',
    (name) => expect(work({ [name]: 7 }).answers).toBe(7),
  )

  test.each([0, 1, 3])('of tiers, searches and predictions, %p objects deep', (depth) => {
    expect(work(within(depth, { service_tier: 'priority' })).premiumTier).toBe(true)
    expect(work(within(depth, { speed: 'fast' })).premiumTier).toBe(true)
    expect(work(within(depth, { service_tier: 'flex' })).premiumTier).toBe(false)
    expect(work(within(depth, { web_search_options: {} })).searches).toBe(10)
    for (const words of [{ enable_search: true }, { search_parameters: { mode: 'auto' } }, { search_settings: {} }])
      expect(work(within(depth, words)).searches).toBe(10)
    for (const type of ['live_search', 'browser_search', 'web_browser', 'x_search', 'googleSearch'])
      expect(work(within(depth, { tools: [{ type }] })).searches).toBe(10)
    for (const words of [{ enable_search: false }, { search_parameters: { mode: 'off' } }, { web_search: false }])
      expect(work(within(depth, words)).searches).toBe(0)
    expect(work(within(depth, { tools: [{ type: 'web_search_20250305', max_uses: 50 }] })).searches).toBe(50)
    expect(work(within(depth, { prediction: { content: 'x'.repeat(100) } })).predictedBytes).toBeGreaterThan(100)
  })
})

test('of tools that an item of the input adds', () => {
  const input = (type: string) => ({ input: [{ type, tools: [{ type: 'web_search' }, { type: 'image_generation' }] }] })
  expect(work(input('additional_tools'))).toMatchObject({ searches: 10, draws: true })
  expect(work(input('message'))).toMatchObject({ searches: 0, draws: false })
})

test('of tools that a message defines, or that a summary says were defined', () => {
  const addition = { type: 'tool_addition', tool: { type: 'tool_definition', definition: { type: 'web_search_20260318', max_uses: 50 } } }
  const saying = (block: object) => ({ messages: [{ role: 'system', content: [block] }] })
  expect(work(saying(addition)).searches).toBe(50)
  expect(work(saying({ type: 'compaction', content: 'x', tool_changes: [addition] })).searches).toBe(50)
  expect(work(saying({ type: 'text', text: JSON.stringify(addition) })).searches).toBe(0)
})

test.each([
  { context_management: { edits: [{ type: 'clear_tool_uses_20250919' }, { type: 'compact_20260112' }] } },
  { context_management: [{ type: 'compaction', compact_threshold: 1000 }] },
  { extra_body: [{ contextManagement: { edits: [{ type: 'compact_20260112' }] } }] },
])('a summary of the conversation is asked for: %j', (body) => {
  expect(work(body).compacts).toBe(true)
  expect(work({ context_management: { edits: [{ type: 'clear_thinking_20251015' }] } }).compacts).toBe(false)
})

test('a prediction counts by its bytes, whatever its script', () => {
  expect(work({ prediction: { content: '日'.repeat(100) } }).predictedBytes).toBeGreaterThan(300)
})

test.each([
  { max_prompt_tokens: 9000 },
  { max_input_tokens: 9000 },
  { num_ctx: 9000 },
  { truncate_prompt_tokens: 9000 },
  { eos_token_id: 9000 },
  { stop_token_ids: [9000] },
  { repetition_penalty: 9000 },
  { tools: [{ type: 'function', function: { name: 'f', parameters: { properties: { max_tokens: { const: 9000 } } } } }] },
  { response_format: { json_schema: { schema: { maxLength: 9000 } } } },
  { logit_bias: { 9000: 100 } },
])('what limits no output raises none: %j', (body) => {
  expect(work({ max_tokens: 10, ...body })).toMatchObject({ outputTokens: 10, answers: 1, unlimited: false })
})
