/**
 * Servers of open models whose templates refuse conversations that all vendors accept: the request is retried in a form that they accept,
 * which is remembered.
 */
import { beforeEach, describe, expect, test } from 'bun:test'

import { type Answer, infer } from '../support/calls.ts'
import { type Exchange, FINISH_CHUNK, proseAnswer, proseChunk, responsesAnswer, startFakeUpstream } from '../support/fake-upstream.ts'
import { useServices } from '../support/started-service.ts'

const upstream = await startFakeUpstream()

const service = await useServices().start({
  config: `
providers:
  own: { name: Own, dialects: [openai-chat], base_url: "${upstream.url}", any_model: true }
  items: { name: Items, dialects: [openai-responses], base_url: "${upstream.url}", any_model: true }
  blocks: { name: Blocks, dialects: [anthropic], base_url: "${upstream.url}", any_model: true }
  ollama: { name: Ollama, dialects: [openai-chat], base_url: "${upstream.url}", any_model: true }
`,
})

let asked: Exchange[] = []
beforeEach(() => {
  asked = []
})

const rolesOf = ({ body }: Exchange): string[] => body.messages.map(({ role }) => role)

const answered = (exchange: Exchange): void | Promise<void> => {
  const { stream } = exchange.body
  if (exchange.path.endsWith('/responses')) return exchange.answer(200, responsesAnswer('Yes'))
  if (exchange.path.endsWith('/messages'))
    return exchange.answer(
      200,
      JSON.stringify({
        id: 'm',
        type: 'message',
        role: 'assistant',
        model: 'm',
        content: [{ type: 'text', text: 'Yes' }],
        stop_reason: 'end_turn',
        stop_sequence: null,
        usage: { input_tokens: 1, output_tokens: 1 },
      }),
    )
  return stream === true ? exchange.stream([proseChunk('Yes'), FINISH_CHUNK]) : exchange.answer(200, proseAnswer('Yes'))
}

/** Refuses the request if `fault` returns a message. */
const strictServer = (fault: (exchange: Exchange) => string | null, status = 400): void =>
  upstream.script((exchange) => {
    asked.push(exchange)
    const message = fault(exchange)
    return message === null ? answered(exchange) : exchange.answer(status, JSON.stringify({ error: { message, code: status } }))
  })

const lateSystem = (exchange: Exchange): boolean => rolesOf(exchange).some((role, index) => role === 'system' && index > 0)

const CONVERSATION = [
  { role: 'system', content: 'First.' },
  { role: 'system', content: [{ type: 'text', text: 'Second.' }] },
  { role: 'user', content: 'Hi' },
  { role: 'assistant', content: 'Hello' },
  { role: 'developer', content: 'Third.' },
  { role: 'user', content: 'Yes?' },
]
const MERGED = [
  { role: 'system', content: 'First.\n\nSecond.\n\nThird.' },
  { role: 'user', content: 'Hi' },
  { role: 'assistant', content: 'Hello' },
  { role: 'user', content: 'Yes?' },
]

const warningsOf = (answer: Answer): string => answer.headers.get('x-service-warnings') ?? ''

const SENTENCES: readonly (readonly [string, number])[] = [
  ['System message must be at the beginning.', 400],
  [
    "\n------------\nWhile executing CallExpression at line 85, column 32 in source:\n...first %}↵            {{- raise_exception('System message must be at the beginnin...\n                                           ^\nError: Jinja Exception: System message must be at the beginning.",
    500,
  ],
  ['Only system message at the beginning of the conversation is supported', 400],
  ['After the optional system message, conversation roles must alternate user and assistant roles except for tool calls and results.', 500],
  ['Only user, assistant and tool roles are supported, got system.', 400],
]

describe('an unknown server that refuses system messages after the first', () => {
  test.each(SENTENCES)('is asked a second time with a single one, and the next time from the start: %j', async (sentence, status) => {
    const model = `own/first-${sentence.length}`
    strictServer((exchange) => (lateSystem(exchange) ? sentence : null), status)
    const first = await infer(service, { model, messages: CONVERSATION })
    expect([first.status, asked.length]).toEqual([200, 2])
    expect(asked[1]?.body.messages).toEqual(MERGED)
    expect(warningsOf(first)).toBe('1')
    const next = await infer(service, { model, messages: CONVERSATION })
    expect([next.status, asked.length]).toEqual([200, 3])
    expect(asked[2]?.body.messages).toEqual(MERGED)
    expect(warningsOf(next)).toBe('1')
  })

  test('is asked again when streamed too, even if it refuses in the stream', async () => {
    upstream.script((exchange) => {
      asked.push(exchange)
      return lateSystem(exchange)
        ? exchange.stream([
            JSON.stringify({ error: { message: 'Error rendering prompt with jinja template: System message must be at the beginning.' } }),
          ])
        : answered(exchange)
    })
    const streamed = await infer(service, { model: 'own/streamed', messages: CONVERSATION, stream: true })
    expect([streamed.status, asked.length]).toEqual([200, 2])
    expect(streamed.text).toContain('Yes')
    expect(streamed.text).not.toContain('jinja')
    await infer(service, { model: 'own/streamed', messages: CONVERSATION, stream: true })
    expect(asked).toHaveLength(3)
  })

  test('is asked again for clients of the other interfaces too', async () => {
    strictServer((exchange) => (lateSystem(exchange) ? 'System message must be at the beginning.' : null))
    const input = CONVERSATION.map(({ role, content }) => ({ role, content: typeof content === 'string' ? content : 'Second.' }))
    const responses = await infer(service, { model: 'own/items', input }, { path: '/responses' })
    expect([responses.status, asked.length]).toEqual([200, 2])
    expect(asked[1]?.body.messages).toEqual(MERGED)
    const turns = [...input.slice(2, 4), { role: 'user', content: 'Yes?' }, { role: 'system', content: 'Third.' }]
    const messages = await infer(service, { model: 'own/turns', system: 'First.', messages: turns, max_tokens: 9 }, { path: '/messages' })
    expect([messages.status, asked.length]).toEqual([200, 4])
    expect(asked[3] === undefined ? [] : rolesOf(asked[3])).toEqual(['system', 'user', 'assistant', 'user'])
  })

  test('gets neighbouring user turns as one if turns must alternate', async () => {
    const alternates = (exchange: Exchange): boolean =>
      rolesOf(exchange)
        .filter((role) => role !== 'system')
        .every((role, index) => role === (index % 2 === 0 ? 'user' : 'assistant'))
    strictServer(
      (exchange) =>
        lateSystem(exchange) || !alternates(exchange) ? 'Conversation roles must alternate user/assistant/user/assistant/...' : null,
      500,
    )
    const messages = [
      { role: 'user', content: 'Hi' },
      { role: 'system', content: 'Briefly.' },
      { role: 'user', content: 'Yes?' },
    ]
    const answer = await infer(service, { model: 'own/alternating', messages })
    expect([answer.status, asked.length]).toEqual([200, 2])
    expect(asked[1]?.body.messages).toEqual([
      { role: 'system', content: 'Briefly.' },
      { role: 'user', content: 'Hi\n\nYes?' },
    ])
  })

  test('is not remembered after a second refusal, and is not asked twice without such messages', async () => {
    strictServer(() => 'System message must be at the beginning.')
    const refused = await infer(
      service,
      { model: 'own/always', messages: CONVERSATION },
      { headers: { 'X-Service-Provider-Failure': 'status' } },
    )
    expect([refused.status, asked.length]).not.toEqual([200, 1])
    expect(asked).toHaveLength(2)
    await infer(service, { model: 'own/always', messages: [{ role: 'user', content: 'Hi' }] })
    expect(asked).toHaveLength(3)
    strictServer(() => null)
    const untouched = await infer(service, { model: 'own/always', messages: CONVERSATION })
    expect(asked.at(-1)?.body.messages).toEqual(CONVERSATION)
    expect(warningsOf(untouched)).toBe('')
  })

  test('a strict request is refused with the reason', async () => {
    strictServer((exchange) => (lateSystem(exchange) ? 'System message must be at the beginning.' : null))
    const headers = { 'X-Service-Provider-Failure': 'status' }
    const answer = await infer(service, { model: 'own/strict', messages: CONVERSATION, strict: true }, { headers })
    expect([answer.status, asked.length]).toEqual([400, 1])
    expect(answer.text).toContain('one system message')
  })
})

test.each([
  'Failed to deserialize the JSON body into the target type: messages[0].role: unknown variant `developer`, expected one of `system`, `user`, `assistant`, `tool` at line 1 column 60',
  "messages.0.role: Input should be 'system', 'user', 'assistant' or 'tool'",
  'Unexpected message role.',
])('an unknown server that refuses the role developer gets system, and the next time from the start: %j', async (sentence) => {
  const model = `own/developer-${sentence.length}`
  strictServer((exchange) => (rolesOf(exchange).includes('developer') ? sentence : null), sentence.startsWith('messages') ? 422 : 400)
  const messages = [
    { role: 'developer', content: 'Be brief.' },
    { role: 'user', content: 'Hi' },
  ]
  for (const calls of [2, 3]) {
    const answer = await infer(service, { model, messages })
    expect([answer.status, asked.length]).toEqual([200, calls])
    expect(asked.at(-1)?.body.messages[0]).toEqual({ role: 'system', content: 'Be brief.' })
  }
})

test('a server known to have this rule gets one system message from the start', async () => {
  strictServer((exchange) => (lateSystem(exchange) ? 'System message must be at the beginning.' : null))
  const answer = await infer(service, { model: 'ollama/qwen', messages: CONVERSATION })
  expect([answer.status, asked.length]).toEqual([200, 1])
  expect(asked[0]?.body.messages).toEqual(MERGED)
  const leading = await infer(service, {
    model: 'ollama/qwen',
    messages: [...CONVERSATION.slice(0, 4), { role: 'user', content: 'Yes?' }],
    strict: true,
  })
  expect([leading.status, warningsOf(leading)]).toEqual([200, ''])
})

test('an unknown server of Responses gets all system text as instructions', async () => {
  const crowded = ({ body }: Exchange): boolean => JSON.stringify(body['input']).includes('developer')
  strictServer((exchange) => (crowded(exchange) ? 'Error: Jinja Exception: System message must be at the beginning.' : null), 500)
  const developer = (text: string): object => ({ type: 'message', role: 'developer', content: [{ type: 'input_text', text }] })
  const user = { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Hi' }] }
  for (const calls of [2, 3]) {
    const request = { model: 'items/qwen', instructions: 'First.', input: [developer('Second.'), user, developer('Third.')] }
    const answer = await infer(service, request, { path: '/responses' })
    expect([answer.status, asked.length]).toEqual([200, calls])
    expect([asked.at(-1)?.body['instructions'], asked.at(-1)?.body['input']]).toEqual(['First.\n\nSecond.\n\nThird.', [user]])
  }
})

test("an unknown server of Messages gets system messages between turns as the user's words", async () => {
  strictServer((exchange) => (rolesOf(exchange).includes('system') ? "messages.1.role: Input should be 'user' or 'assistant'" : null))
  for (const calls of [2, 3]) {
    const messages = [
      { role: 'user', content: 'Hi' },
      { role: 'system', content: 'Briefly.' },
    ]
    const answer = await infer(service, { model: 'blocks/qwen', messages, max_tokens: 9 }, { path: '/messages' })
    expect([answer.status, asked.length]).toEqual([200, calls])
    expect(asked.at(-1)?.body.messages).toEqual([
      { role: 'user', content: 'Hi' },
      { role: 'user', content: 'Briefly.' },
    ])
  }
})
