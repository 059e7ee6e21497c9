/** Only management keys may read a preset's system prompt: no answer, echo or dry run reveals it (docs/contract/presets.md#secrets). */
import { describe, expect, test } from 'bun:test'

import { CLIENT_DIALECTS, type ClientDialect } from '../../src/canonical/call.ts'
import type { PresetContent } from '../../src/contract/preset.ts'
import type { Presets } from '../../src/presets/presets.ts'
import { emailGuardrail } from '../support/guardrail.ts'
import type { UpstreamDialect } from '../support/recordings.ts'
import { MODEL, question, replay, type Replay, type Replayed, type Reply } from '../support/replay.ts'

const SECRET = 'Never tell anybody of the "blue" door.\nAsk jane@example.com.'
const OWN = 'Be brief.'
const FULL = `${SECRET}\n\n${OWN}`

const presetOf = ({ systemPrompt, config }: Pick<PresetContent, 'systemPrompt' | 'config'>): Presets =>
  ({
    serve: () => ({
      preset: { id: 'preset-1', slug: 'house', status: 'active' },
      version: { version: 1, shape: 'messages', config: { model: MODEL, ...config }, system_prompt: systemPrompt },
      rollout: null,
    }),
  }) as unknown as Presets

const PRESETS = {
  'as text': presetOf({ systemPrompt: SECRET, config: {} }),
  'as blocks': presetOf({
    systemPrompt: SECRET,
    config: { system: SECRET.split('\n').map((text) => ({ type: 'text', text, cache_control: { type: 'ephemeral' } })) },
  }),
}

const own = (client: ClientDialect): object =>
  client === 'responses' ? { instructions: OWN } : client === 'messages' ? { system: OWN } : {}

const expectHidden = (text: string): void => {
  for (const word of ['blue', 'door', 'jane', 'Never tell', 'Ask [EMAIL]']) expect(text).not.toContain(word)
}

const responseOf = (status: string): object => ({
  id: 'resp_1',
  object: 'response',
  created_at: 1,
  model: 'm',
  status,
  instructions: FULL,
  output: [],
  ...(status === 'failed' ? { error: { code: 'server_error', message: 'Down.' } } : { error: null }),
  usage: { input_tokens: 7, output_tokens: 3, total_tokens: 10 },
})

const replyOf = (status: 'completed' | 'failed', stream: boolean): Reply => {
  const encoded = (text: string): Uint8Array[] => [new TextEncoder().encode(text)]
  if (!stream) return { type: 'application/json', pieces: encoded(JSON.stringify(responseOf(status))) }
  const events = [
    { type: 'response.created', response: responseOf('in_progress') },
    { type: 'response.in_progress', response: responseOf('in_progress') },
    { type: 'response.output_text.delta', item_id: 'msg_1', output_index: 0, content_index: 0, delta: 'Hi.' },
    { type: `response.${status}`, response: responseOf(status) },
  ]
  const pieces = events.flatMap((event, number) =>
    encoded(`event: ${event.type}\ndata: ${JSON.stringify({ ...event, sequence_number: number })}\n\n`),
  )
  return { type: 'text/event-stream', pieces }
}

const CHAT: Reply = {
  type: 'application/json',
  pieces: [
    new TextEncoder().encode(
      JSON.stringify({
        id: 'c',
        object: 'chat.completion',
        created: 1,
        model: 'm',
        choices: [{ index: 0, message: { role: 'assistant', content: 'Hi.' }, finish_reason: 'stop' }],
      }),
    ),
  ],
}

const ask = (
  client: ClientDialect,
  dialect: UpstreamDialect,
  reply: Reply,
  more: Partial<Replay> & { readonly fields?: object } = {},
): Promise<Replayed> =>
  replay({
    client,
    upstreams: [{ dialect, reply }],
    presets: PRESETS['as text'],
    ...more,
    body: { ...question(client, reply.type === 'text/event-stream'), ...own(client), model: '@preset/house', ...more.fields },
  })

const instructionsIn = (text: string): unknown[] =>
  [...text.matchAll(/"instructions":(null|"(?:[^"\\]|\\.)*")/g)].map(([, json]) => JSON.parse(json ?? ''))

describe("responses: `instructions` are the client's own", () => {
  for (const status of ['completed', 'failed'] as const) {
    for (const stream of [false, true]) {
      test(`${status}${stream ? ', stream' : ''}, from its own dialect`, async () => {
        const { text, sent } = await ask('responses', 'openai-responses', replyOf(status, stream))
        expect(JSON.parse(sent[0]?.body ?? '{}')).toMatchObject({ instructions: FULL })
        expectHidden(text)
        if (stream || status === 'completed') expect(new Set(instructionsIn(text))).toEqual(new Set([OWN]))
        const without = await ask('responses', 'openai-responses', replyOf(status, stream), { fields: { instructions: null } })
        expectHidden(without.text)
        if (stream || status === 'completed') expect(new Set(instructionsIn(without.text))).toEqual(new Set([null]))
      })
    }
  }

  test('from another dialect, and where the provider cannot be reached', async () => {
    expect(instructionsIn((await ask('responses', 'openai-chat', CHAT)).text)).toEqual([OWN])
    const failed = await ask('responses', 'openai-chat', { ...CHAT, status: 500 })
    expectHidden(failed.text)
  })

  test('without a preset they are echoed as ever', async () => {
    const { text } = await ask('responses', 'openai-responses', replyOf('completed', false), { fields: { model: MODEL } })
    expect(instructionsIn(text)).toEqual([FULL])
  })
})

describe('a provider that repeats it in members that name facts of its own', () => {
  const answer = {
    id: FULL,
    object: 'chat.completion',
    created: 1,
    model: FULL,
    system_fingerprint: FULL,
    service_tier: FULL,
    obfuscation: FULL,
  }
  const choice = { index: 0, finish_reason: 'stop', native_finish_reason: FULL }
  const body = (text: string, type: Reply['type']): Reply => ({ type, pieces: [new TextEncoder().encode(text)] })

  test('chat', async () => {
    const whole = { ...answer, choices: [{ ...choice, message: { role: 'assistant', content: 'Hi.' } }] }
    const { text } = await ask('chat', 'openai-chat', body(JSON.stringify(whole), 'application/json'))
    expectHidden(text)
    expect(text).toContain('Hi.')
  })

  test('chat, stream', async () => {
    const chunk = { ...answer, object: 'chat.completion.chunk', choices: [{ ...choice, delta: { role: 'assistant', content: 'Hi.' } }] }
    const { text } = await ask('chat', 'openai-chat', body(`data: ${JSON.stringify(chunk)}\n\ndata: [DONE]\n\n`, 'text/event-stream'))
    expectHidden(text)
    expect(text).toContain('Hi.')
  })

  test('responses', async () => {
    const whole = { ...responseOf('incomplete'), id: FULL, model: FULL, service_tier: FULL, incomplete_details: { reason: FULL } }
    expectHidden((await ask('responses', 'openai-responses', body(JSON.stringify(whole), 'application/json'))).text)
  })
})

describe('a mark stands for it, whatever the provider speaks and however the preset holds it', () => {
  for (const client of CLIENT_DIALECTS) {
    for (const dialect of ['openai-chat', 'openai-responses', 'anthropic', 'google', 'bedrock'] as const) {
      for (const [form, presets] of Object.entries(PRESETS)) {
        test(`in a dry run: ${client} to ${dialect}, ${form}`, async () => {
          for (const guardrails of [[], [emailGuardrail('redact', 'input')]]) {
            const headers = { 'x-service-dry-run': 'enabled' }
            const { status, text } = await ask(client, dialect, CHAT, { headers, presets, guardrails })
            expect(status).toBe(200)
            expectHidden(text)
            const { request, upstream_request: upstream } = JSON.parse(text) as { request: unknown; upstream_request: unknown }
            for (const shown of [request, upstream]) expect(JSON.stringify(shown)).toContain('[preset system prompt]')
            if (client !== 'chat') expect(JSON.stringify(upstream)).toContain(OWN)
          }
        })
      }
    }
  }

  test('in the echo of what went to the provider', async () => {
    for (const client of ['chat', 'responses'] as const) {
      const { text, sent } = await ask(client, 'openai-responses', replyOf('completed', true), {
        fields: { debug: { echo_upstream_body: true } },
      })
      expect(sent[0]?.body).toContain('blue')
      expect(text).toContain('[preset system prompt]')
      expectHidden(text)
    }
  })
})
