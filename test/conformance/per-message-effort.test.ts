/**
 * System messages of Messages clients that change the effort in the middle of a conversation (docs/contract/messages.md#effort-of-a-message).
 */
import { describe, expect, test } from 'bun:test'

import { recording, type UpstreamDialect } from '../support/recordings.ts'
import { MODEL, replay, type Replay, type Replayed, type Reply } from '../support/replay.ts'
import { whole } from '../support/upstream-replies.ts'

type Json = Readonly<Record<string, unknown>>

const user = (content: unknown): Json => ({ role: 'user', content })
const assistant = (content: unknown): Json => ({ role: 'assistant', content })
const effort = (level: string, content: unknown = []): Json => ({ role: 'system', content, output_config: { effort: level } })
const effortAlone = (level: string, more: Json = {}): Json => ({ role: 'system', output_config: { effort: level }, ...more })
const CALL = assistant([{ type: 'tool_use', id: 'toolu_1', name: 'f', input: {} }])
const RESULT = user([{ type: 'tool_result', tool_use_id: 'toolu_1', content: 'ok' }])
const TALK = [user('Plan it.'), assistant('1, 2, 3.')]

const replyOf = (dialect: UpstreamDialect, stream: boolean): Reply => ({
  type: stream ? 'text/event-stream' : 'application/json',
  pieces: [recording(dialect, 'length', stream).bytes],
})

interface Asked {
  readonly dialect: UpstreamDialect
  readonly model: string
  readonly slug?: string
  readonly stream?: boolean
  readonly messages: readonly Json[]
  readonly more?: Json
  readonly headers?: Readonly<Record<string, string>>
}

/** Every request is strict: nothing that the client sent may be lost or changed. */
const ask = ({ dialect, model, slug, stream = false, messages, more, headers }: Asked): Promise<Replayed> =>
  replay({
    client: 'messages',
    upstreams: [{ dialect, model, ...(slug === undefined ? {} : { slug }), reply: replyOf(dialect, stream) }],
    body: { model: MODEL, max_tokens: 9000, stream, output_config: { effort: 'high' }, messages, ...more },
    headers: { 'x-service-strict': 'enabled', ...headers },
  } satisfies Replay)

const sentIn = ({ sent, text }: Replayed, at = 0): Json => {
  const one = sent[at]
  if (one === undefined) throw new Error(`Nothing was sent: ${text}`)
  return JSON.parse(one.body) as Json
}

const WAYS = [false, true]
const LATER = [...TALK, effort('low'), user('Say it shortly.')]

describe.each(['claude-opus-5-5', 'claude-haiku-5-5', 'claude-sonnet-5-5', 'claude-fable-5-1', 'claude-opus-5'])('%s', (model) => {
  test.each(WAYS)('gets the message whole, in its place, and the effort of the request as it was (stream %p)', async (stream) => {
    const without = [effortAlone('low'), effortAlone('low', { content: null })].map((message) => [...TALK, message, user('Go on.')])
    for (const messages of [LATER, [...TALK, user('Go on.'), effort('low')], [...TALK, effort('low', ''), user('Go on.')], ...without]) {
      const answer = await ask({ dialect: 'anthropic', slug: 'anthropic', model, stream, messages })
      expect([answer.status, answer.headers.get('x-service-warnings')]).toEqual([200, null])
      expect(answer.sent[0]?.body).toContain(JSON.stringify(messages))
      expect(sentIn(answer)['output_config']).toEqual({ effort: 'high' })
    }
  })
})

test('the beta that names the feature reaches Anthropic', async () => {
  const beta = 'mid-conversation-output-config-2026-07-01'
  const { sent } = await ask({
    dialect: 'anthropic',
    slug: 'anthropic',
    model: 'claude-opus-5-5',
    messages: LATER,
    headers: { 'anthropic-beta': beta },
  })
  expect(sent[0]?.headers).toMatchObject({ 'anthropic-beta': beta })
})

test.each(['between_tools', 'disabled'])('Claude Sonnet 5.5 gets no such message beside thinking %s', async (type) => {
  const answer = await ask({
    dialect: 'anthropic',
    slug: 'anthropic',
    model: 'claude-sonnet-5-5',
    messages: LATER,
    more: { thinking: { type } },
    headers: { 'x-service-strict': 'disabled' },
  })
  expect(sentIn(answer)).toMatchObject({ messages: [...TALK, user('Say it shortly.')], thinking: { type: 'between_tools' } })
  if (type === 'between_tools') expect(sentIn(answer)['output_config']).toEqual({ effort: 'low' })
})

interface Elsewhere {
  readonly dialect: UpstreamDialect
  readonly model: string
  readonly slug?: string
  readonly effortIn: (body: Json) => unknown
  readonly turnsIn: (body: Json) => unknown
}

const at =
  (...path: readonly string[]) =>
  (body: Json): unknown =>
    path.reduce<unknown>((value, name) => (value as Json | undefined)?.[name], body)

const ELSEWHERE: readonly Elsewhere[] = [
  { dialect: 'anthropic', slug: 'anthropic', model: 'claude-opus-4-8', effortIn: at('output_config', 'effort'), turnsIn: at('messages') },
  { dialect: 'anthropic', model: 'glm-5', effortIn: at('output_config', 'effort'), turnsIn: at('messages') },
  { dialect: 'openai-chat', slug: 'openai', model: 'gpt-5', effortIn: at('reasoning_effort'), turnsIn: at('messages') },
  { dialect: 'openai-responses', slug: 'openai', model: 'gpt-5', effortIn: at('reasoning', 'effort'), turnsIn: at('input') },
  {
    dialect: 'google',
    slug: 'google',
    model: 'gemini-3-pro',
    effortIn: (body) => String(at('generationConfig', 'thinkingConfig', 'thinkingLevel')(body)).toLowerCase(),
    turnsIn: at('contents'),
  },
  {
    dialect: 'bedrock',
    slug: 'bedrock',
    model: 'anthropic.claude-opus-4-8',
    effortIn: at('outputConfig', 'effort'),
    turnsIn: at('messages'),
  },
]

describe.each(ELSEWHERE)('$dialect, $model', ({ effortIn, turnsIn, ...target }) => {
  test.each(WAYS)('gets the effort as that of the request, and no empty message; nothing is reported (stream %p)', async (stream) => {
    const answer = await ask({ ...target, stream, messages: LATER })
    expect([answer.status, answer.headers.get('x-service-warnings')]).toEqual([200, null])
    const plain = await ask({ ...target, stream, messages: [...TALK, user('Say it shortly.')], more: { output_config: { effort: 'low' } } })
    expect(sentIn(answer)).toEqual(sentIn(plain))
    expect(effortIn(sentIn(answer))).toBe('low')
    expect(turnsIn(sentIn(answer))).toHaveLength(3)
  })

  test('gets the words of a message that changes the effort', async () => {
    const messages = [user('Plan it.'), effort('low', 'Be kind.')]
    const answer = await ask({ ...target, messages, headers: { 'x-service-strict': 'disabled' } })
    const plain = await ask({
      ...target,
      messages: [user('Plan it.'), { role: 'system', content: 'Be kind.' }],
      more: { output_config: { effort: 'low' } },
      headers: { 'x-service-strict': 'disabled' },
    })
    expect(sentIn(answer)).toEqual(sentIn(plain))
    expect(answer.sent[0]?.body).toContain('Be kind.')
  })
})

test.each<[string, readonly Json[], string]>([
  ['behind new input it counts at once', [user('A'), effort('low')], 'low'],
  ['behind an answer it counts from the next new input on', [user('A'), assistant('B'), effort('low'), user('C')], 'low'],
  ['behind results of tools it does not count yet', [user('A'), CALL, RESULT, effort('low')], 'high'],
  ['results of tools are no new input', [user('A'), CALL, effort('low'), RESULT], 'high'],
  [
    'results of tools beside words are new input',
    [user('A'), CALL, effort('low'), user([...(RESULT['content'] as Json[]), { type: 'text', text: 'B' }])],
    'low',
  ],
  ['it counts until another one', [user('A'), effort('low'), assistant('B'), effort('medium'), user('C')], 'medium'],
  ['it counts through a loop of tools', [user('A'), effort('low'), CALL, RESULT], 'low'],
  ['the last one of several counts', [user('A'), effort('low'), effort('medium')], 'medium'],
  ['it counts from the beginning', [effort('low'), user('A')], 'low'],
  ['a message without content counts too', [user('A'), effortAlone('low')], 'low'],
  [
    'its words are no longer shown, but it counts',
    [effort('low', 'S'), user('A'), effortAlone('low', { content: 'T', clear_at: 'next_user_message' }), user('B')],
    'low',
  ],
  ['a system message with words stands between', [user('A'), { role: 'system', content: 'S' }, effort('low')], 'low'],
  ['null changes nothing', [user('A'), { role: 'system', content: 'S', output_config: { effort: null } }], 'high'],
])('the effort that counts: %s', async (_, messages, level) => {
  for (const target of [ELSEWHERE[0], ELSEWHERE[2]]) {
    if (target === undefined) throw new Error('A target is missing.')
    const { effortIn, turnsIn: __, ...to } = target
    const answer = await ask({ ...to, messages, headers: { 'x-service-strict': 'disabled' } })
    expect(effortIn(sentIn(answer))).toBe(level)
  }
})

test('400: an effort that does not exist, by the path of the message', async () => {
  const messages = [...TALK, effort('most'), user('Go on.')]
  const refusal: unknown = await ask({ dialect: 'openai-chat', model: 'm', messages }).catch((thrown: unknown) => thrown)
  expect(refusal).toMatchObject({ type: 'invalid_prompt', metadata: { issues: [{ path: 'messages[2].output_config.effort' }] } })
})

test('a model of the next provider gets the effort as that of its request after Claude has failed', async () => {
  const answer = await replay({
    client: 'messages',
    upstreams: [
      { dialect: 'anthropic', slug: 'anthropic', model: 'claude-opus-5-5', reply: { ...whole({ type: 'error' }), status: 529 } },
      { dialect: 'openai-chat', slug: 'openai', model: 'gpt-5', reply: replyOf('openai-chat', false) },
    ],
    body: { model: MODEL, max_tokens: 9000, messages: LATER },
    headers: { 'x-service-strict': 'enabled' },
  })
  expect(answer.status).toBe(200)
  expect(sentIn(answer, 0)['messages']).toEqual(LATER)
  expect(sentIn(answer, 1)).toMatchObject({ reasoning_effort: 'low', messages: [{}, {}, {}] })
})

test('the message stays whole in every turn of a loop of server tools', async () => {
  const message = {
    id: 'm',
    type: 'message',
    role: 'assistant',
    model: 'claude',
    stop_sequence: null,
    usage: { input_tokens: 1, output_tokens: 1 },
  }
  const calling = whole({
    ...message,
    content: [{ type: 'tool_use', id: 'toolu_1', name: 'service_datetime', input: {} }],
    stop_reason: 'tool_use',
  })
  const saying = whole({ ...message, content: [{ type: 'text', text: 'Late.' }], stop_reason: 'end_turn' })
  const given = [...TALK, effort('low'), user('How late is it?'), effort('max')]
  const answer = await replay({
    client: 'messages',
    upstreams: [
      {
        dialect: 'anthropic',
        slug: 'anthropic',
        model: 'claude-opus-5-5',
        reply: (sent) => (sent.includes('tool_result') ? saying : calling),
      },
      { dialect: 'anthropic', slug: 'anthropic', model: 'claude-opus-5-5', reply: saying },
    ],
    body: { model: MODEL, max_tokens: 9000, output_config: { effort: 'high' }, messages: given, tools: [{ type: 'service:datetime' }] },
    headers: { 'x-service-strict': 'enabled' },
  })
  expect(answer.status).toBe(200)
  expect(answer.sent).toHaveLength(2)
  for (const turn of [0, 1]) {
    const { messages, output_config: config } = sentIn(answer, turn) as { readonly messages: readonly Json[]; readonly output_config: Json }
    expect(config).toEqual({ effort: 'high' })
    expect([messages[2], messages[4]]).toEqual([effort('low'), effort('max')])
    expect(messages).toHaveLength(turn === 0 ? 5 : 7)
  }
})
