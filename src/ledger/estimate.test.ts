import { expect, test } from 'bun:test'
import fc from 'fast-check'

import type { Call } from '../canonical/call.ts'
import { usageOf } from '../canonical/usage.ts'
import { JsonBody } from '../lib/json/json-body.ts'
import type { PriceEntry } from '../models/catalogue-schema.ts'
import { costOf } from '../models/price.ts'
import { plainEndpoint } from '../models/models.ts'
import { atOnce } from '../lib/steps.ts'
import { estimateOf, outgoingNanos, type Asked } from './estimate.ts'

const SETTINGS = { maxOutputTokens: 1000, assumedPrices: { prompt: 7, completion: 9 } }

const unparsed = (): never => {
  throw new Error('Nothing is parsed for an estimate.')
}

const call = (body: object, maxOutputTokens: number | null = null): Call => ({
  dialect: 'chat',
  body: JsonBody.read(JSON.stringify(body)),
  models: ['a/b'],
  stream: false,
  maxOutputTokens,
  sessionId: null,
  user: null,
  passHeaders: {},
  prompt: unparsed,
  readingPrompt: unparsed,
})

const at = (prices: PriceEntry | null, maxCompletionTokens: number | null = null): Asked => {
  const provider = { slug: 'p', name: 'P', dialects: ['anthropic'], baseUrl: '', apiKeys: [], anyModel: false } as const
  const endpoint = plainEndpoint(provider, 'm', { prices, maxCompletionTokens })
  return { model: { endpoints: [endpoint] }, endpoint }
}

/** Each digit and sign may be a token: that makes a hundred, and 400 are added. */
const PROMPT = { p: '1'.repeat(92) }
const most = (body: object, attempts: Asked[], max: number | null = null, apiType: 'completions' | 'embeddings' = 'completions') =>
  atOnce(estimateOf({ call: call(body, max), apiType }, attempts, SETTINGS)).mostNanos

test('input by bytes and output by its maximum, at the prices of the endpoint', () => {
  expect(most(PROMPT, [at({ prompt: 1, completion: 10 })], 50)).toBe(500 * 1000 + 50 * 10_000)
})

test('the dearest geography is held, since the account of the provider may have one of its own', () => {
  const endpoint = at({ prompt: 1, completion: 10, request: 1, inference_geo: { eu: 0.9, us: 1.1 } })
  expect(most(PROMPT, [endpoint], 50)).toBe(1_000_000_000 + 1_100_000)
})

test('a request without a maximum holds the default, but no more than the endpoint gives', () => {
  expect(most(PROMPT, [at({ prompt: 0, completion: 1 })])).toBe(1000 * 1000)
  expect(most(PROMPT, [at({ prompt: 0, completion: 1 }, 300)])).toBe(300 * 1000)
  expect(most(PROMPT, [at({ prompt: 0, completion: 1 }, 300)], 500)).toBe(300 * 1000)
  expect(most({ ...PROMPT, n: 3 }, [at({ prompt: 0, completion: 1 })], 10)).toBe(3 * 10 * 1000)
})

test('of several attempts the dearest counts, and the first says what the prompt alone costs', () => {
  const attempts = [at({ prompt: 1, completion: 1 }), at({ prompt: 2, completion: 5 })]
  const estimate = atOnce(estimateOf({ call: call(PROMPT, 10), apiType: 'completions' }, attempts, SETTINGS))
  expect(estimate).toEqual({ mostNanos: 500 * 2000 + 10 * 5000, promptNanos: 434 * 1000 })
})

test('fees, reasoning, tiers and cache writes count at their dearest', () => {
  expect(most(PROMPT, [at({ prompt: 0, completion: 0, request: 0.01 })], 10)).toBe(10_000_000)
  expect(most(PROMPT, [at({ prompt: 0, completion: 1, reasoning: 4 })], 10)).toBe(10 * 4000)
  const tiered = {
    prompt: 1,
    completion: 1,
    tiers: [
      { above_prompt_tokens: 499, prompt: 3, completion: 2 },
      { above_prompt_tokens: 500, prompt: 9, completion: 9 },
    ],
  }
  expect(most(PROMPT, [at(tiered)], 10)).toBe(500 * 3000 + 10 * 2000)
  const cached = { prompt: 1, completion: 0, cache_write: 1.25, cache_write_1h: 2 }
  expect(most(PROMPT, [at(cached)], 0)).toBe(500 * 1000)
  expect(most({ cache_control: '1'.repeat(86) }, [at(cached)], 0)).toBe(500 * 2000)
})

test('stays a number that storage can hold, whatever the request asks for', () => {
  const dear = at({ prompt: 1, completion: 1000 })
  for (const estimate of [most(PROMPT, [dear], Number.MAX_SAFE_INTEGER), most({ ...PROMPT, n: 1e308 }, [dear], 10)]) {
    expect(Number.isSafeInteger(estimate)).toBe(true)
    expect(estimate).toBeGreaterThan(1_000_000 * 1_000_000_000)
  }
})

test('searches that the request allows are held at their own price', () => {
  const searched = (body: object) => {
    const price = { prompt: 0, completion: 0, web_search: 0.01 }
    return most({ ...PROMPT, ...body }, [at(price)], 10)
  }
  expect(searched({})).toBe(0)
  for (const body of [
    { tools: [{ type: 'web_search_20250305', name: 'web_search' }] },
    { tools: [{ type: 'web_search_preview' }] },
    { tools: [{ type: 'openrouter:web_search' }] },
    { web_search_options: {} },
    { plugins: [{ id: 'web' }] },
  ])
    expect(searched(body)).toBe(10 * 10_000_000)
})

test('a conversation that its provider may summarise first is held twice, where it is long enough for that', () => {
  const compacts = { context_management: { edits: [{ type: 'compact_20260112' }] } }
  const price = [at({ prompt: 1, completion: 10 })]
  expect(most({ ...PROMPT, ...compacts }, price, 10)).toBeLessThan(2 * most(PROMPT, price, 10))
  const long = { messages: [{ role: 'user', content: '1'.repeat(60_000) }] }
  expect(most({ ...long, ...compacts }, price, 10)).toBeGreaterThanOrEqual(2 * most(long, price, 10))
})

test('an unknown price counts at the default', () => {
  expect(most(PROMPT, [at(null)], 10)).toBe(500 * 7000 + 10 * 9000)
})

test('embeddings have no output', () => {
  expect(most(PROMPT, [at({ prompt: 1, completion: 100 })], null, 'embeddings')).toBe((100 + 400) * 1000)
  const tokens = { input: Array.from({ length: 100 }, () => 12_345) }
  expect(most(tokens, [at({ prompt: 1, completion: 100 })], null, 'embeddings')).toBe(
    Math.ceil(JSON.stringify(tokens).length / 2 + 400) * 1000,
  )
})

test('no usage within the bounds costs more than was held', () => {
  const price = fc.double({ min: 0, max: 100, noNaN: true })
  fc.assert(
    fc.property(
      price,
      price,
      price,
      price,
      fc.nat(500),
      fc.nat(1000),
      fc.nat(1000),
      (prompt, completion, tierPrompt, read, tokens, output, cachedShare) => {
        const prices = {
          prompt,
          completion,
          cache_read: Math.min(read, prompt),
          tiers: [{ above_prompt_tokens: 200, prompt: tierPrompt, completion }],
        }
        const cached = Math.min(tokens, Math.floor((tokens * cachedShare) / 1000))
        const usage = usageOf({ inputFresh: tokens - cached, inputCacheRead: cached, output })
        expect(costOf(usage, prices).totalNanos).toBeLessThanOrEqual(most(PROMPT, [at(prices)], 1000) + 2)
      },
    ),
  )
})

test('a body that goes out with another model is held for as if it were read, and for the tokens of the model that it came with at most', () => {
  const attempt = at({ prompt: 1, completion: 10, cache_write: 2 })
  for (const body of [
    { messages: [{ role: 'user', content: 'Is “€ 12,50” right?' }], n: 2, max_tokens: 9 },
    { ...PROMPT, thinking: { budget_tokens: 5 } },
  ]) {
    const { body: came } = call({ model: 'a/b', ...body })
    const text = came.textWith({ model: '"upstream/one"' })
    const outgoing = { dialect: 'openai-chat', apiType: 'completions', clientBody: came } as const
    const known = atOnce(outgoingNanos(came, { ...outgoing, model: came.stringPutIn('model', text) ?? null }, attempt, SETTINGS))
    const read = atOnce(outgoingNanos(JsonBody.read(text), { ...outgoing, model: null }, attempt, SETTINGS))
    expect(known).toBeGreaterThanOrEqual(read)
    expect(known).toBeLessThanOrEqual(read + 2 * '"a/b"'.length * 1000)
  }
})

test('pictures, sound and what may be drawn or spoken are held at their own prices', () => {
  const prices = { prompt: 1, completion: 1, image: 0.005, audio: 9, completion_audio: 20 }
  const plain = most(PROMPT, [at(prices)], 10)
  expect(plain).toBe(500 * 1000 + 10 * 20_000)
  const said = (part: object) => ({ ...PROMPT, messages: [{ role: 'user', content: [part] }] })
  const pictured = said({ type: 'image_url', image_url: { url: 'https://example.com/a.png' } })
  expect(most(pictured, [at(prices)], 10) - plain).toBeGreaterThanOrEqual(5_000_000)
  const heard = said({ type: 'input_audio', input_audio: { data: 'QUJD'.repeat(100), format: 'wav' } })
  expect(most(heard, [at(prices)], 10)).toBeGreaterThan(400 * 9000)
})
