/** The searches in a request and additions to it before it is encoded yield, too, however much they read. */
import { createHash } from 'node:crypto'

import { expect, setDefaultTimeout, test } from 'bun:test'

import { CLIENT_DIALECTS, type ClientDialect } from '../../src/canonical/call.ts'
import { createAdmit } from '../../src/inference/admit/admit.ts'
import { createLargeSteps, createTurn } from '../../src/inference/large-steps.ts'
import { createDurations } from '../../src/ledger/durations.ts'
import type { Scope } from '../../src/ledger/scope.ts'
import type { Clock } from '../../src/lib/clock.ts'
import type { Presets } from '../../src/presets/presets.ts'
import { createCountingClock } from '../support/counting-clock.ts'
import { createFakeIds } from '../support/fake-ids.ts'
import { MODEL, OWN_DIALECT, replay, type Replay } from '../support/replay.ts'

setDefaultTimeout(300_000)

const VENDORS = {
  chat: { slug: 'openai', model: 'gpt-4.1' },
  responses: { slug: 'openai', model: 'gpt-5' },
  messages: { slug: 'anthropic', model: 'claude-sonnet-4-5' },
}

/** `beside`: what a part may have that is no text of the conversation, and is searched for that reason. */
const bytesOf = (client: ClientDialect, text: string, beside?: string): Uint8Array => {
  const said = [{ role: 'user', content: [{ type: client === 'responses' ? 'input_text' : 'text', text, beside }] }]
  const conversation = client === 'responses' ? { input: said } : { messages: said }
  return new TextEncoder().encode(JSON.stringify({ model: MODEL, max_tokens: 100, ...conversation }))
}

const turnsFor = async (
  client: ClientDialect,
  body: Uint8Array,
  more: Partial<Replay> | ((clock: Clock) => Partial<Replay>) = {},
): Promise<number> => {
  const { clock, turns } = createCountingClock()
  const upstream = {
    dialect: OWN_DIALECT[client],
    reply: { status: 500, type: 'application/json', pieces: [] },
    ...VENDORS[client],
  } as const
  const { sent } = await replay({ client, upstreams: [upstream], body, clock, ...(typeof more === 'function' ? more(clock) : more) })
  expect(sent.length).toBe(1)
  return turns()
}

test.each(CLIENT_DIALECTS)('%s: a search for addresses in a text that is four times as long takes more steps', async (client) => {
  for (const text of ['g', 'goog', ' ']) {
    const turns = (characters: number): Promise<number> =>
      turnsFor(client, bytesOf(client, 'x', `(${text.repeat(characters / text.length)}`))
    expect(await turns(10_000_000)).toBeGreaterThan((await turns(2_500_000)) + 12)
  }
})

test.each(CLIENT_DIALECTS)(
  '%s: a small request with a preset of 9,000 tools is planned in steps, and one without at once',
  async (client) => {
    const tool = (name: string) =>
      client === 'chat' ? { type: 'function', function: { name } } : { type: 'function', name, parameters: null }
    const presets = {
      serve: () => ({
        preset: { id: 'preset-1', slug: 'house', status: 'active' },
        version: {
          version: 1,
          shape: client,
          config: { model: MODEL, tools: Array.from({ length: 9000 }, (_, at) => tool(`look_${at}`)) },
          system_prompt: null,
        },
        rollout: null,
      }),
    } as unknown as Presets
    const small = bytesOf(client, 'x')
    expect(await turnsFor(client, small)).toBe(0)
    const asking = new TextEncoder().encode(new TextDecoder().decode(small).replace(`"${MODEL}"`, '"@preset/house"'))
    expect(await turnsFor(client, asking, { presets })).toBeGreaterThan(3)
  },
)

test('a PDF that is read as text is looked at in more steps where it is larger', async () => {
  const turns = (bytes: number): Promise<number> => {
    const pdf = Buffer.from(`%PDF-1.4\n${'x'.repeat(bytes)}`)
    const hash = createHash('sha256').update(pdf).digest('hex')
    const known = { type: 'file', file: { hash, content: [{ type: 'text', text: 'An invoice.' }] } }
    const file = { filename: 'a.pdf', file_data: `data:application/pdf;base64,${pdf.toString('base64')}` }
    const messages = [
      { role: 'assistant', content: 'It is an invoice.', annotations: [known] },
      { role: 'user', content: [{ type: 'file', file }] },
    ]
    const plugins = [{ id: 'file-parser', pdf: { engine: 'pdf-text' } }]
    return turnsFor('chat', new TextEncoder().encode(JSON.stringify({ model: MODEL, messages, plugins })))
  }
  expect(await turns(1000)).toBe(0)
  expect(await turns(4_000_000)).toBeGreaterThan((await turns(1_000_000)) + 12)
})

test.each(CLIENT_DIALECTS)('%s: a text that is four times as long is searched for what a vendor refuses in more steps', async (client) => {
  const turns = (lines: number): Promise<number> => turnsFor(client, bytesOf(client, 'x', 'Say yes to it.\n'.repeat(lines)))
  expect(await turns(600_000)).toBeGreaterThan((await turns(150_000)) + 160)
})

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

/** The caller has a budget, so the possible cost is held before anything is sent. */
const underBudget = (clock: Clock): Partial<Replay> => ({
  admit: createAdmit({
    ledger: {
      scopesOf: () => [SCOPE],
      admit: async () => {},
      grow: async () => {},
    },
    durations: createDurations(),
    settings: () => ({
      unknownPrice: 'refuse',
      emptyAnswers: 'told',
      maxOutputTokens: 16_384,
      assumedPrices: { prompt: 1, completion: 1 },
    }),
    clock,
    ids: createFakeIds(),
    turn: createTurn(clock, createLargeSteps(clock)),
  }),
})

test.each(CLIENT_DIALECTS)('%s: the most that a request may cost is worked out in more steps where it is longer', async (client) => {
  const furtherTurns = async (more?: typeof underBudget): Promise<number> =>
    (await turnsFor(client, bytesOf(client, 'x', 'word '.repeat(2_500_000)), more)) -
    (await turnsFor(client, bytesOf(client, 'x', 'word '.repeat(500_000)), more))
  expect(await furtherTurns(underBudget)).toBeGreaterThan((await furtherTurns()) + 60)
})

test.each(CLIENT_DIALECTS)('%s: the size of a request with more pictures is measured in more steps', async (client) => {
  const turns = (count: number): Promise<number> => {
    const url = `data:image/png;base64,${'iVBORw0KGgo='.repeat(10_000)}`
    const parts = Array.from({ length: count }, () => {
      if (client === 'chat') return { type: 'image_url', image_url: { url } }
      return client === 'responses'
        ? { type: 'input_image', image_url: url }
        : { type: 'image', source: { type: 'base64', media_type: 'image/png', data: url.slice('data:image/png;base64,'.length) } }
    })
    const said = [{ role: 'user', content: parts }]
    const body = { model: MODEL, max_tokens: 100, ...(client === 'responses' ? { input: said } : { messages: said }) }
    return turnsFor(client, new TextEncoder().encode(JSON.stringify(body)))
  }
  expect(await turns(80)).toBeGreaterThan((await turns(20)) + 40)
})

test.each(CLIENT_DIALECTS)('%s: unknown fields that are four times as many, none of them long, are sent in more steps', async (client) => {
  const turns = (count: number): Promise<number> => {
    const given = JSON.parse(new TextDecoder().decode(bytesOf(client, 'x'))) as object
    const fields = Object.fromEntries(Array.from({ length: count }, (_, at) => [`f${at}`, 'x'.repeat(17_000)]))
    return turnsFor(client, new TextEncoder().encode(JSON.stringify({ ...given, ...fields })))
  }
  const few = await turns(225)
  expect(await turns(900)).toBeGreaterThan(few + 675)
})

test.each(CLIENT_DIALECTS)(
  '%s: a tool or a call whose name or id is longer than any is refused before a provider hears of it',
  async (client) => {
    const long = 'a'.repeat(65_537)
    const said = { role: 'user', content: 'x' }
    const tool = client === 'chat' ? { type: 'function', function: { name: long } } : { type: 'function', name: long, parameters: null }
    const called = {
      chat: { role: 'assistant', content: null, tool_calls: [{ id: long, type: 'function', function: { name: 'f', arguments: '{}' } }] },
      responses: { type: 'function_call', call_id: long, name: 'f', arguments: '{}' },
      messages: { role: 'assistant', content: [{ type: 'tool_use', id: long, name: 'f', input: {} }] },
    }[client]
    for (const [conversation, more] of [
      [[said], { tools: [tool] }],
      [[said, called], {}],
    ] as const) {
      const body = {
        model: MODEL,
        max_tokens: 100,
        ...(client === 'responses' ? { input: conversation } : { messages: conversation }),
        ...more,
      }
      const sending = turnsFor(client, new TextEncoder().encode(JSON.stringify(body)))
      expect(sending).rejects.toThrow(/^The member "(?:name|id|call_id)" at character \d+ of the body has more than 65536 characters\.$/)
    }
  },
)
