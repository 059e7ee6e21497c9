/**
 * Golden invoices: the cost of recorded usage, calculated by hand beside it. Prices are in dollars per million tokens, so tokens times
 * price is millionths of a dollar, a thousand nano-dollars each.
 */
import { describe, expect, test } from 'bun:test'

import { CLIENT_DIALECTS } from '../../src/canonical/call.ts'
import type { PriceEntry } from '../../src/models/catalogue-schema.ts'
import { recording, type UpstreamDialect } from '../support/recordings.ts'
import { question, replay, typeOf } from '../support/replay.ts'

interface Invoice {
  readonly dialect: UpstreamDialect
  readonly name: string
  readonly stream: boolean
  readonly prices: PriceEntry
  /** Calculated by hand, as in the comment above it. */
  readonly nanos: number
}

const SONNET: PriceEntry = { prompt: 3, completion: 15, cache_read: 0.3, cache_write: 3.75, cache_write_1h: 6 }
const GEMINI: PriceEntry = { prompt: 2, completion: 12, cache_read: 0.2 }
const DEEPSEEK: PriceEntry = { prompt: 0.28, completion: 0.42, cache_read: 0.028 }
const LLAMA: PriceEntry = { prompt: 0.59, completion: 0.79 }
const CODEX: PriceEntry = { prompt: 1.75, completion: 14, cache_read: 0.175 }
const GPT: PriceEntry = { prompt: 1.25, completion: 10, cache_read: 0.125 }

const INVOICES: readonly Invoice[] = [
  // 12×3 + 29×15 = 36 + 435
  { dialect: 'anthropic', name: 'anthropic-text', stream: false, prices: SONNET, nanos: 471_000 },
  // 12×3 + 30×15 = 36 + 450: the end of the stream repeats the input, which is not added again
  { dialect: 'anthropic', name: 'anthropic-text', stream: true, prices: SONNET, nanos: 486_000 },
  // fresh 28×3 = 84, read 1720×0.3 = 516, written 100×3.75 = 375 and for an hour 200×6 = 1200, output 64×15 = 960
  { dialect: 'anthropic', name: 'cache-usage', stream: true, prices: SONNET, nanos: 3_135_000 },
  // 15 665×3 + 795×15 = 46 995 + 11 925, and a cent for the one search
  { dialect: 'anthropic', name: 'anthropic-web-search-tool.1', stream: true, prices: { ...SONNET, web_search: 0.01 }, nanos: 68_920_000 },
  // 9×2 + (29 + 282 thoughts)×12 = 18 + 3732: the candidates' count excludes thoughts
  { dialect: 'google', name: 'google-reasoning', stream: false, prices: GEMINI, nanos: 3_750_000 },
  // (2048 − 1920)×2 = 256, 1920×0.2 = 384, (4 + 60 thoughts)×12 = 768: the prompt's count includes cached tokens
  { dialect: 'google', name: 'cache-usage', stream: true, prices: GEMINI, nanos: 1_408_000 },
  // (339 − 320)×0.28 = 5.32, 320×0.028 = 8.96, 92×0.42 = 38.64: the completion's count includes thinking
  { dialect: 'openai-chat', name: 'deepseek-tool-call', stream: false, prices: DEEPSEEK, nanos: 52_920 },
  // 218×0.59 = 128.62, 15×0.79 = 11.85
  { dialect: 'openai-chat', name: 'groq-tool-call', stream: false, prices: LLAMA, nanos: 140_470 },
  // 210×0.59 = 123.9, 15×0.79 = 11.85: usage is reported twice, in the vendor's own member too
  { dialect: 'openai-chat', name: 'groq-tool-call', stream: true, prices: LLAMA, nanos: 135_750 },
  // 10×2 + 46×5 = 20 + 230
  { dialect: 'openai-chat', name: 'mistral-reasoning', stream: false, prices: { prompt: 2, completion: 5 }, nanos: 250_000 },
  // 16×0.1 + 363×0.4 = 1.6 + 145.2
  { dialect: 'openai-chat', name: 'openai-text', stream: false, prices: { prompt: 0.1, completion: 0.4 }, nanos: 146_800 },
  // 15×1.25 + 78×10 = 18.75 + 780
  { dialect: 'openai-chat', name: 'azure-model-router.1', stream: true, prices: GPT, nanos: 798_750 },
  // (2048 − 1920)×1.25 = 160, 1920×0.125 = 240, 64×10 = 640
  { dialect: 'openai-chat', name: 'cache-usage', stream: true, prices: GPT, nanos: 1_040_000 },
  // the same use in the other dialect costs the same
  { dialect: 'openai-responses', name: 'cache-usage', stream: true, prices: GPT, nanos: 1_040_000 },
  // 50×1.75 + 20×14 = 87.5 + 280
  { dialect: 'openai-responses', name: 'openai-custom-tool.1', stream: true, prices: CODEX, nanos: 367_500 },
  // (7243 − 3072)×1.75 = 7299.25, 3072×0.175 = 537.6, 423×14 = 5922
  { dialect: 'openai-responses', name: 'openai-phase.1', stream: false, prices: CODEX, nanos: 13_758_850 },
  // above 7000 input tokens, cached ones included, all tokens cost more: 4171×3.5 = 14 598.5, 3072×0.35 = 1075.2, 423×21 = 8883
  {
    dialect: 'openai-responses',
    name: 'openai-phase.1',
    stream: false,
    prices: { ...CODEX, tiers: [{ above_prompt_tokens: 7000, prompt: 3.5, completion: 21, cache_read: 0.35 }] },
    nanos: 24_556_700,
  },
  // 865×0.25 + (163 − 128)×2 + 128 of thinking×3 = 216.25 + 70 + 384, and half a cent for the request
  {
    dialect: 'openai-responses',
    name: 'openai-reasoning-encrypted-content.1',
    stream: false,
    prices: { prompt: 0.25, completion: 2, reasoning: 3, request: 0.005 },
    nanos: 5_670_250,
  },
]

describe('a recorded use costs what it costs by hand, and every interface is told the same', () => {
  for (const { dialect, name, stream, prices, nanos } of INVOICES) {
    test.each(CLIENT_DIALECTS.map((client) => [client]))(
      `${dialect}/${name}, ${stream ? 'stream' : 'whole'}: ${nanos} nano-dollars, on %s`,
      async (client) => {
        const { bytes } = recording(dialect, name, stream)
        const upstreams = [{ dialect, reply: { type: typeOf(stream), pieces: [bytes] } }]
        const { run, text } = await replay({ client, upstreams, body: question(client, stream), prices })
        expect(run?.bill.cost.totalNanos).toBe(nanos)
        expect(costsIn(text)).toContain(nanos / 1e9)
      },
    )
  }
})

/** Each `cost` that the client reads, in dollars. */
const costsIn = (text: string): number[] => [...text.matchAll(/"cost":(\d[\d.e-]*)/g)].map(([, cost]) => Number(cost))
