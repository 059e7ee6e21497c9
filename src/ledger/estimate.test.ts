import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'

import type { Call } from '../canonical/call.ts'
import { PROVIDER_DIALECTS, type ProviderDialect } from '../canonical/provider-dialects.ts'
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

const at = (
  prices: PriceEntry | null,
  maxCompletionTokens: number | null = null,
  dialects: readonly ProviderDialect[] = ['anthropic'],
  contextLength: number | null = null,
): Asked => {
  const provider = { slug: 'p', name: 'P', dialects, baseUrl: '', apiKeys: [], anyModel: false }
  const endpoint = plainEndpoint(provider, 'm', { prices, maxCompletionTokens, contextLength })
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

test('a cache that a provider writes unasked is held at its price, and that of the tier; not one that has to be marked', () => {
  const tiers = [{ above_prompt_tokens: 400, prompt: 2, completion: 0, cache_write: 3, cache_write_1h: 6 }]
  const prices = { prompt: 1, completion: 0, cache_write: 1.25, cache_write_1h: 2 }
  for (const dialect of PROVIDER_DIALECTS) {
    const unasked = dialect === 'openai-chat' || dialect === 'openai-responses'
    expect(most(PROMPT, [at(prices, null, [dialect])], 0)).toBe(500 * (unasked ? 1250 : 1000))
    expect(most(PROMPT, [at({ ...prices, tiers }, null, [dialect])], 0)).toBe(500 * (unasked ? 3000 : 2000))
  }
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
  // A mark is many tokens itself.
  for (const mark of ['prompt_cache_breakpoint', 'prompt_cache_options', 'prompt_cache_retention']) {
    const [plain, marked] = [
      { prompt: 2, completion: 0 },
      { ...cached, prompt: 1 },
    ].map((prices) => most({ [mark]: '1' }, [at(prices)], 0))
    expect([mark, marked]).toEqual([mark, plain])
  }
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

test('a picture that a tool of the provider may draw is held at its price, where its dialect has the tool', () => {
  const drawn = (body: object, dialect: ProviderDialect = 'openai-responses', price: Partial<PriceEntry> = {}) =>
    most({ ...PROMPT, ...body }, [at({ prompt: 0, completion: 0, ...price }, null, [dialect])])
  const tools = [{ type: 'image_generation' }]
  expect(drawn({ tools })).toBe(6240 * 40_000)
  expect(drawn({ extra: { tools } })).toBe(6240 * 40_000)
  expect(drawn({ tools }, 'openai-responses', { drawing: 8 })).toBe(6240 * 8_000)
  expect(drawn({ tools }, 'openai-chat')).toBe(0)
  expect(drawn({ tools: [{ type: 'function', name: 'image_generation' }] })).toBe(0)
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

describe('what a prompt holds besides its text is part of the most that it may cost, and of the charge for an answer that never came', () => {
  const estimate = (parts: readonly object[], asked: Asked) =>
    atOnce(estimateOf({ call: call({ messages: [{ role: 'user', content: parts }] }, 0), apiType: 'completions' }, [asked], SETTINGS))
  const picture = { type: 'image_url', image_url: { url: 'https://example.com/a.png' } }
  const linked = { type: 'file', file: { file_id: 'file-1' } }
  const sound = (bytes: number) => ({
    type: 'input_audio',
    input_audio: { data: Buffer.alloc(bytes, 'A').toString('base64'), format: 'wav' },
  })
  const file = (mediaType: string, text: string) => ({
    type: 'file',
    file: { filename: 'a', file_data: `data:${mediaType};base64,${Buffer.from(text).toString('base64')}` },
  })
  const price = { prompt: 1, completion: 0 }

  test('the fees of the request and of each picture', () => {
    const fees = at({ prompt: 0, completion: 0, request: 0.01, image: 0.005 })
    expect(estimate([picture, picture], fees)).toEqual({ mostNanos: 20_000_000, promptNanos: 20_000_000 })
    expect(estimate([picture], at({ prompt: 0, completion: 0 }))).toEqual({ mostNanos: 0, promptNanos: 0 })
  })

  test('the tokens of each picture, by the dialect that counts most', () => {
    const free = estimate([picture, picture], at(price, null, ['sandbox']))
    for (const [dialects, tokens] of [
      [['google'], 2600],
      [['google', 'anthropic'], 4800],
    ] as const) {
      const { mostNanos, promptNanos } = estimate([picture, picture], at(price, null, dialects))
      expect([mostNanos - free.mostNanos, promptNanos - free.promptNanos]).toEqual([2 * tokens * 1000, 2 * tokens * 1000])
    }
  })

  test('a token for each three bytes of sound, at its price', () => {
    const [short, long] = [sound(3), sound(301)].map((part) => estimate([part], at({ ...price, audio: 9 })))
    expect(long!.mostNanos - short!.mostNanos).toBeGreaterThanOrEqual(100 * 9000)
    expect(long!.promptNanos - short!.promptNanos).toBe(100 * 1000)
  })

  test('what is given by its address or id, which may be sound', () => {
    const { mostNanos, promptNanos } = estimate([linked, linked], at({ ...price, audio: 9 }))
    expect(mostNanos).toBeGreaterThan(2 * 30_000 * 9000)
    expect(promptNanos).toBeGreaterThan(2 * 30_000 * 1000)
  })

  test('the text of a file, and the pages of a PDF as text and as pictures, up to the context window', () => {
    expect(estimate([file('text/plain', '1'.repeat(300))], at(price)).mostNanos).toBeGreaterThanOrEqual((400 + 300) * 1000)
    const pdf = file('application/pdf', `%PDF-1.4\n${'1 0 obj <</Type /Page>> endobj\n'.repeat(40)}<</Type /Pages /Count 40>>`)
    const most = (contextLength: number | null) => estimate([pdf], at(price, null, ['anthropic'], contextLength)).mostNanos
    expect(most(null)).toBeGreaterThanOrEqual(40 * (3000 + 4800) * 1000)
    expect(most(null) - most(100_000)).toBe((40 * (3000 + 4800) - 100_000) * 1000)
  })

  test('the text of an embedding that looks like a list of numbers', () => {
    expect(most({ input: `[${'1'.repeat(98)}` }, [at(price)], null, 'embeddings')).toBeGreaterThanOrEqual((98 + 400) * 1000)
  })
})

describe('the output of a body that is about to be sent', () => {
  const ENDPOINT = at({ prompt: 0, completion: 1 })
  const output = (body: object, dialect: ProviderDialect = 'openai-chat', asked = ENDPOINT): number => {
    const read = JsonBody.read(JSON.stringify(body))
    return atOnce(outgoingNanos(read, { dialect, apiType: 'completions', clientBody: read, model: null }, asked, SETTINGS)) / 1000
  }
  const NAMES = {
    max_tokens: (limit: unknown) => ({ max_tokens: limit }),
    max_completion_tokens: (limit: unknown) => ({ max_completion_tokens: limit }),
    max_output_tokens: (limit: unknown) => ({ max_output_tokens: limit }),
    maxOutputTokens: (limit: unknown) => ({ generationConfig: { maxOutputTokens: limit } }),
    maxTokens: (limit: unknown) => ({ inferenceConfig: { maxTokens: limit } }),
  }
  const KNOWN: Readonly<Record<ProviderDialect, readonly string[]>> = {
    'openai-chat': ['max_tokens', 'max_completion_tokens'],
    'openai-responses': ['max_output_tokens'],
    anthropic: ['max_tokens'],
    google: ['maxOutputTokens'],
    bedrock: ['maxTokens'],
    sandbox: ['max_tokens', 'max_completion_tokens', 'max_output_tokens'],
  }

  test.each(PROVIDER_DIALECTS)('%s: a limit holds less only under a name that it knows, and more under any', (dialect) => {
    for (const [name, limited] of Object.entries(NAMES)) {
      expect([name, output(limited(1), dialect)]).toEqual([name, KNOWN[dialect].includes(name) ? 1 : 1000])
      expect([name, output(limited(5000), dialect)]).toEqual([name, 5000])
      for (const none of [0, -1, '10', null]) expect([name, none, output(limited(none), dialect)]).toEqual([name, none, 1000])
    }
  })

  test('thinking is added where nothing limits both, and a prediction that may be wrong always', () => {
    expect(output({ thinking: { budget_tokens: 50 } })).toBe(1050)
    expect(output({ thinking: { budget_tokens: 50 }, max_tokens: 10 })).toBe(50)
    expect(output({ thinking: { budget_tokens: 50 } }, 'anthropic', at({ prompt: 0, completion: 1 }, 300))).toBe(300)
    const content = 'x'.repeat(301)
    const predicted = output({ max_tokens: 10, prediction: { type: 'content', content } })
    expect(predicted).toBeGreaterThanOrEqual(10 + Math.ceil(content.length / 3))
    expect(predicted).toBeLessThan(10 + content.length)
  })

  test('one negative limit means as much as possible, whatever another says', () => {
    expect(output({ max_tokens: 10, max_completion_tokens: -1 })).toBe(1000)
  })

  test('a tier that may cost more is held at the dearest price of the provider', () => {
    const dear = at({ prompt: 0, completion: 4 })
    const asked = { ...ENDPOINT, model: { endpoints: [dear.endpoint, ENDPOINT.endpoint] } }
    expect(output({ max_tokens: 10 }, 'openai-chat', asked)).toBe(10)
    expect(output({ max_tokens: 10, service_tier: 'priority' }, 'openai-chat', asked)).toBe(40)
  })

  test('stays a number that storage can hold', () => {
    expect(output({ max_tokens: 1e300 })).toBe(4_000_000_000_000)
  })
})
