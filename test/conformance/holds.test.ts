/** The hold for a request is never less than the possible cost of the body that is sent, whatever the client wrote into it. */
import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'

import type { ClientDialect } from '../../src/canonical/call.ts'
import { createAdmit } from '../../src/inference/admit/admit.ts'
import type { Demand } from '../../src/ledger/admissions.ts'
import { createDurations } from '../../src/ledger/durations.ts'
import type { Scope } from '../../src/ledger/scope.ts'
import { GatewayError } from '../../src/errors.ts'
import { texts } from '../fixtures/token-counts.json'
import { createFakeClock } from '../support/fake-clock.ts'
import { createFakeIds } from '../support/fake-ids.ts'
import { literalCharge } from '../support/literal-meter.ts'
import { replay, type Reply } from '../support/replay.ts'

const DIALECTS = ['openai-chat', 'openai-responses', 'anthropic', 'google', 'bedrock'] as const
const CLIENTS = ['chat', 'responses', 'messages'] as const

const SCOPE: Scope = {
  id: 'key',
  kind: 'key_limit',
  limitNanos: 1e15,
  interval: null,
  includeByok: false,
  guardrailId: null,
  budgetId: null,
  allowLastRequest: false,
}

const REFUSED: Reply = { status: 500, type: 'application/json', pieces: [] }
/** Four times the largest possible limit: a request that may cost this much is never admitted. */
const MOST_NANOS = 4e15
const PRICES = { prompt: 3, completion: 15 }

/** The hold before each body was sent, and the body. `grows`: whether there is room for more than the first hold. */
const sendBody = async (client: ClientDialect, dialect: (typeof DIALECTS)[number], body: string, grows = true) => {
  let heldNanos = 0
  let growths = 0
  const hold = async (demand: Demand): Promise<void> => void (heldNanos = demand.estimateNanos)
  const clock = createFakeClock()
  const admit = createAdmit({
    ledger: {
      scopesOf: () => [SCOPE],
      admit: hold,
      async grow(demand) {
        growths += 1
        if (!grows) throw new GatewayError('permission_denied', 'No room.')
        await hold(demand)
      },
    },
    durations: createDurations(),
    settings: () => ({ unknownPrice: 'refuse', emptyAnswers: 'told', maxOutputTokens: 16_384, assumedPrices: PRICES }),
    clock,
    ids: createFakeIds(),
    turn: () => undefined,
  })
  try {
    const { sent, status } = await replay({ client, upstreams: [{ dialect, reply: REFUSED }], body, prices: PRICES, admit, clock })
    return { sent: sent[0]?.body, heldNanos, growths, status }
  } catch (refused) {
    if (refused instanceof GatewayError && refused.status < 500) return { sent: undefined, heldNanos, growths, status: refused.status }
    throw refused
  }
}

const PDF = Buffer.from(`%PDF-1.4\n${'1 0 obj <</Type /Page /Parent 9 0 R>> endobj\n'.repeat(40)}<</Type /Pages /Count 40>>`).toString(
  'base64',
)
const COUNTED = texts.map(({ text }) => text)
const PICTURE = 'iVBORw0KGgo'.repeat(40)
const DATA_URL = `data:image/png;base64,${PICTURE}`
const URL = 'https://example.com/a.png'

const chatPart = fc.constantFrom<object>(
  ...COUNTED.map((text) => ({ type: 'text', text })),
  { type: 'file', file: { filename: 'a.pdf', file_data: `data:application/pdf;base64,${PDF}` } },
  { type: 'text', text: 'Hello' },
  { type: 'text', text: DATA_URL },
  { type: 'image_url', image_url: { url: URL } },
  { type: 'image_url', image_url: { url: DATA_URL } },
)
const responsesPart = fc.constantFrom<object>(
  ...COUNTED.map((text) => ({ type: 'input_text', text })),
  { type: 'input_file', filename: 'a.pdf', file_data: `data:application/pdf;base64,${PDF}` },
  { type: 'input_text', text: DATA_URL },
  { type: 'input_image', image_url: URL, detail: 'auto' },
  { type: 'input_image', image_url: DATA_URL, detail: 'auto' },
)
const messagesPart = fc.constantFrom<object>(
  ...COUNTED.map((text) => ({ type: 'text', text })),
  { type: 'document', source: { type: 'base64', media_type: 'application/pdf', data: PDF } },
  { type: 'text', text: DATA_URL },
  { type: 'image', source: { type: 'url', url: URL } },
  { type: 'image', source: { type: 'base64', media_type: 'image/png', data: PICTURE } },
)
const PARTS = { chat: chatPart, responses: responsesPart, messages: messagesPart }

const number = fc.oneof(fc.integer({ min: 1, max: 100_000 }), fc.integer({ min: 1, max: 64 }))
/** A number, or a string that a server may read as one. */
const numeral = fc.oneof(
  number,
  number.map(String),
  number.map((value) => ` ${value} `),
)

const SETTINGS = {
  chat: fc.record({ max_tokens: number, max_completion_tokens: number }, { requiredKeys: [] }),
  responses: fc.record({ max_output_tokens: number }, { requiredKeys: [] }),
  messages: fc.record(
    { max_tokens: number, thinking: fc.record({ type: fc.constant('enabled'), budget_tokens: number }) },
    { requiredKeys: [] },
  ),
}
/** At most one, since most of them are refused if a server may take them for a known field. */
const HOSTILE: fc.Arbitrary<object> = fc.oneof(
  fc.constant({}),
  fc.record({ n: fc.integer({ min: 1, max: 8 }) }),
  fc.record({ best_of: numeral }),
  fc.record({ Max_Tokens: numeral }),
  fc.record({ max_new_tokens: numeral }),
  fc.record({ num_return_sequences: numeral }),
  fc.record({ numBeams: numeral, N: numeral }, { requiredKeys: [] }),
  fc.record({ generationConfig: fc.record({ candidateCount: numeral, maxOutputTokens: number }, { requiredKeys: [] }) }),
  fc.record({ extra_body: fc.record({ n: numeral, max_tokens: numeral }, { requiredKeys: [] }) }),
  fc.record({ options: fc.record({ num_predict: numeral }) }),
  fc.record({ images: fc.array(fc.constant(URL), { maxLength: 50 }) }),
  fc.record({ multi_modal_data: fc.record({ image: fc.array(fc.record({ url: fc.constant(URL) }), { maxLength: 50 }) }) }),
  fc.record({ extra_body: fc.record({ image_urls: fc.array(fc.constant(URL), { maxLength: 50 }) }) }),
)
const TOOLS = fc.option(fc.constant([{ type: 'function', function: { name: 'f', parameters: { type: 'object', data: DATA_URL } } }]), {
  nil: undefined,
})

const bodyOf = (client: ClientDialect) =>
  fc
    .record({ parts: fc.array(PARTS[client], { minLength: 1, maxLength: 6 }), set: SETTINGS[client], hostile: HOSTILE, tools: TOOLS })
    .map(({ parts, set, hostile, tools }) => {
      const said = [{ role: 'user', content: parts }]
      return {
        model: 'replay/one',
        ...(client === 'responses' ? { input: said } : { messages: said }),
        ...hostile,
        ...set,
        ...(client === 'chat' ? { tools } : {}),
      }
    })

/** The same JSON with some letters of its names and texts escaped. */
const escaped = (json: string, every: number): string =>
  json.replaceAll(/(?<=")[a-z]/g, (letter: string, at: number) => (at % every === 0 ? `\\u00${letter.charCodeAt(0).toString(16)}` : letter))

describe.each(CLIENTS)('%s', (client) => {
  test.each(DIALECTS)(
    'a literal-minded provider of %s charges no more than is held',
    async (dialect) => {
      let went = 0
      await fc.assert(
        fc.asyncProperty(bodyOf(client), fc.constantFrom(1, 2, 7, 1_000_000), async (body, every) => {
          const { sent, heldNanos } = await sendBody(client, dialect, escaped(JSON.stringify(body), every))
          if (sent === undefined) return
          went += 1
          const { inputTokens, outputTokens } = literalCharge(sent, dialect)
          expect(Math.min(MOST_NANOS, inputTokens * 3000 + outputTokens * 15_000)).toBeLessThanOrEqual(heldNanos)
        }),
        { numRuns: 300 },
      )
      expect(went).toBeGreaterThan(30)
    },
    300_000,
  )
})

const SAID = { model: 'replay/one', messages: [{ role: 'user', content: 'Hi' }] }

test('an ordinary request is held for once, before it is planned', async () => {
  for (const dialect of DIALECTS) {
    const { growths, sent } = await sendBody('chat', dialect, JSON.stringify({ ...SAID, max_tokens: 100 }))
    expect([growths, sent === undefined]).toEqual([0, false])
  }
})

test('without a limit of its own, a request gets from a dialect that wants one the limit that is held', async () => {
  for (const client of ['chat', 'messages'] as const) {
    const { growths, sent } = await sendBody(client, 'anthropic', JSON.stringify(SAID))
    expect([growths, (JSON.parse(sent ?? '') as { max_tokens: number }).max_tokens]).toEqual([0, 16_384])
  }
})

test('a body that turns out to be dearer than there is room for does not leave, with its real status', async () => {
  // Quotes in an object become escapes in the text of a call.
  const input = Object.fromEntries(Array.from({ length: 2000 }, (_, index) => [`"${index}"`, '"']))
  const messages = [
    { role: 'user', content: 'Hi' },
    { role: 'assistant', content: [{ type: 'tool_use', id: 'toolu_1', name: 'f', input }] },
    { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'toolu_1', content: 'ok' }] },
  ]
  const body = JSON.stringify({ model: 'replay/one', max_tokens: 10, messages })
  expect(await sendBody('messages', 'openai-chat', body)).toMatchObject({ growths: 1 })
  expect(await sendBody('messages', 'openai-chat', body, false)).toMatchObject({ sent: undefined, growths: 1, status: 403 })
})
