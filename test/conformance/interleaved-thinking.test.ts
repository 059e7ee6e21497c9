/**
 * Thinking between text and calls is sent back in its place (docs/contract/requests.md#proofs-of-reasoning): a chat message has one field
 * for all thinking, one for the text and one for the calls, and vendors that sign thinking refuse a turn in another order.
 */
import { describe, expect, test } from 'bun:test'

import { isObject, type JsonObject } from '../../src/lib/json/json.ts'
import { at } from '../support/json-at.ts'
import { streamEvents } from '../support/client-stream.ts'
import { MODEL, replay, type Reply } from '../support/replay.ts'
import { reported, whole } from '../support/upstream-replies.ts'

type Dialect = 'anthropic' | 'bedrock' | 'openai-responses'

/** Text and thinking, named by their first letter; a call by its id. */
type Turn = readonly string[]

const TURNS: readonly Turn[] = [
  ['T1', 'c1', 'T2', 'c2'],
  ['T1', 'W. ', 'T2', 'c1'],
  ['W. ', 'T1', 'c1'],
  ['T1', 'W. ', 'T2', 'c1', 'T3', 'V 🎈. ', 'c2'],
  ['R1', 'c1', 'R2', 'R3', 'c2', 'T4', 'c3'],
]

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '')

const TOOLS = [{ type: 'function', function: { name: 'run', parameters: { type: 'object', properties: {} } } }]

const CLAUDE_BLOCK = (piece: string): JsonObject => {
  switch (piece.slice(0, 1)) {
    case 'T':
      return { type: 'thinking', thinking: `About ${piece}`, signature: `Sig${piece}/+==` }
    case 'R':
      return { type: 'redacted_thinking', data: `Hidden${piece}/+==` }
    case 'c':
      return { type: 'tool_use', id: `toolu_${piece}`, name: 'run', input: {} }
    default:
      return { type: 'text', text: piece }
  }
}

const BEDROCK_BLOCK = (piece: string): JsonObject => {
  switch (piece.slice(0, 1)) {
    case 'T':
      return { reasoningContent: { reasoningText: { text: `About ${piece}`, signature: `Sig${piece}/+==` } } }
    case 'R':
      return { reasoningContent: { redactedContent: btoa(`Hidden ${piece}`) } }
    case 'c':
      return { toolUse: { toolUseId: `tooluse_${piece}`, name: 'run', input: {} } }
    default:
      return { text: piece }
  }
}

const OPENAI_ITEM = (piece: string): JsonObject => {
  switch (piece.slice(0, 1)) {
    case 'T':
      return {
        type: 'reasoning',
        id: `rs_${piece}`,
        summary: [{ type: 'summary_text', text: `About ${piece}` }],
        encrypted_content: `g${piece}`,
      }
    case 'R':
      return { type: 'reasoning', id: `rs_${piece}`, summary: [], encrypted_content: `g${piece}` }
    case 'c':
      return { type: 'function_call', id: `fc_${piece}`, call_id: `call_${piece}`, name: 'run', arguments: '{}', status: 'completed' }
    default:
      return {
        type: 'message',
        id: 'msg_1',
        role: 'assistant',
        status: 'completed',
        content: [{ type: 'output_text', text: piece, annotations: [] }],
      }
  }
}

const ANSWERS: Readonly<Record<Dialect, (turn: Turn) => unknown>> = {
  anthropic: (turn) => ({
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model: 'm',
    content: turn.map(CLAUDE_BLOCK),
    stop_reason: 'tool_use',
    stop_sequence: null,
    usage: { input_tokens: 1, output_tokens: 1 },
  }),
  bedrock: (turn) => ({
    output: { message: { role: 'assistant', content: turn.map(BEDROCK_BLOCK) } },
    stopReason: 'tool_use',
    usage: { inputTokens: 1, outputTokens: 1, totalTokens: 2 },
    metrics: { latencyMs: 1 },
  }),
  'openai-responses': (turn) => ({
    id: 'resp_1',
    object: 'response',
    status: 'completed',
    model: 'm',
    output: turn.map(OPENAI_ITEM),
    usage: { input_tokens: 1, output_tokens: 1, total_tokens: 2 },
  }),
}

/** The blocks of a Claude stream, each opened, sent in two pieces, and closed. */
const claudeStream = (turn: Turn): Reply =>
  reported(
    'anthropic',
    {
      type: 'message_start',
      message: { id: 'msg_1', type: 'message', role: 'assistant', model: 'm', content: [], usage: { input_tokens: 1, output_tokens: 1 } },
    },
    ...turn.flatMap((piece, index) => {
      const block = CLAUDE_BLOCK(piece)
      const { type, text, thinking, signature } = block
      const delta = (members: object): object => ({ type: 'content_block_delta', index, delta: members })
      const halves = (said: unknown): readonly string[] => [textOf(said).slice(0, 2), textOf(said).slice(2)]
      const start = type === 'text' ? { type, text: '' } : type === 'thinking' ? { type, thinking: '', signature: '' } : block
      return [
        { type: 'content_block_start', index, content_block: start },
        ...(type === 'text' ? halves(text).map((half) => delta({ type: 'text_delta', text: half })) : []),
        ...(type === 'thinking'
          ? [
              ...halves(thinking).map((half) => delta({ type: 'thinking_delta', thinking: half })),
              delta({ type: 'signature_delta', signature }),
            ]
          : []),
        { type: 'content_block_stop', index },
      ]
    }),
    { type: 'message_delta', delta: { stop_reason: 'tool_use', stop_sequence: null }, usage: { output_tokens: 1 } },
    { type: 'message_stop' },
  )

/** The assistant's turn in a request, as its provider gave it: without members that are ours or say nothing. */
const SENT: Readonly<Record<Dialect, (body: unknown) => unknown>> = {
  anthropic: (body) => at(body, 'messages', 1, 'content'),
  bedrock: (body) => at(body, 'messages', 1, 'content'),
  'openai-responses': (body) =>
    (at(body, 'input') as readonly JsonObject[]).slice(1).filter((item) => item['type'] !== 'function_call_output'),
}

const EXPECTED: Readonly<Record<Dialect, (turn: Turn) => unknown>> = {
  anthropic: (turn) => turn.map(CLAUDE_BLOCK),
  bedrock: (turn) => turn.map(BEDROCK_BLOCK),
  'openai-responses': (turn) => turn.map(OPENAI_ITEM),
}

const ask = async (
  dialect: Dialect,
  messages: readonly unknown[],
  reply: Reply,
  stream = false,
): Promise<{ text: string; sent: unknown }> => {
  const model =
    dialect === 'bedrock' ? 'anthropic.claude-sonnet-4-5-20250929-v1:0' : dialect === 'anthropic' ? 'claude-sonnet-4-5' : 'gpt-5.4'
  const { text, sent } = await replay({
    client: 'chat',
    upstreams: [{ dialect, reply, model }],
    body: { model: MODEL, stream, tools: TOOLS, messages },
  })
  return { text, sent: JSON.parse(sent[0]?.body ?? 'null') }
}

const HI = { role: 'user', content: 'Hi' }

/** The turn that is sent when the client sends its message back with the results of its calls. */
const broughtBack = async (dialect: Dialect, message: JsonObject, turn: Turn): Promise<unknown> => {
  const calls = (message['tool_calls'] ?? []) as readonly JsonObject[]
  const results = calls.map(({ id }) => ({ role: 'tool', tool_call_id: id, content: 'done' }))
  const { sent } = await ask(dialect, [HI, message, ...results], whole(ANSWERS[dialect](turn)))
  return SENT[dialect](sent)
}

const wholeMessage = async (dialect: Dialect, turn: Turn): Promise<JsonObject> => {
  const { text } = await ask(dialect, [HI], whole(ANSWERS[dialect](turn)))
  return at(JSON.parse(text), 'choices', 0, 'message') as JsonObject
}

const detailsOf = (message: JsonObject): readonly JsonObject[] => message['reasoning_details'] as readonly JsonObject[]

/** The model's own order, without what its dialect does not want back. */
const comparable = (dialect: Dialect, blocks: unknown): unknown =>
  dialect === 'openai-responses'
    ? (blocks as readonly JsonObject[]).map((item) => [
        item['type'],
        item['encrypted_content'] ?? item['call_id'] ?? at(item, 'content', 0, 'text'),
      ])
    : blocks

for (const dialect of ['anthropic', 'bedrock', 'openai-responses'] as const) {
  describe(`chat → ${dialect}`, () => {
    test.each(TURNS)('a whole answer goes back in its order: %s, %s, %s …', async (...turn) => {
      const given = turn.filter((piece) => typeof piece === 'string')
      const sent = await broughtBack(dialect, await wholeMessage(dialect, given), given)
      expect(comparable(dialect, sent)).toEqual(comparable(dialect, EXPECTED[dialect](given)))
    })
  })
}

describe('a client of a stream', () => {
  /** The messages that clients build from the chunks: with every piece separate, or with the pieces of an index joined. */
  const streamedMessage = async (turn: Turn, joined: boolean): Promise<JsonObject> => {
    const { text } = await ask('anthropic', [HI], claudeStream(turn), true)
    let content = ''
    const details: JsonObject[] = []
    const calls: JsonObject[] = []
    for (const { data } of streamEvents(text)) {
      const delta = at(data, 'choices', 0, 'delta')
      if (!isObject(delta)) continue
      content += typeof delta['content'] === 'string' ? delta['content'] : ''
      for (const piece of (delta['reasoning_details'] ?? []) as readonly JsonObject[]) {
        const open = details.at(-1)
        if (!joined || open === undefined || open['index'] !== piece['index']) details.push(piece)
        // The id of the first piece is kept, as some programs do.
        else
          details[details.length - 1] = {
            ...piece,
            ...open,
            text: textOf(open['text']) + textOf(piece['text']),
            signature: piece['signature'] ?? open['signature'] ?? null,
          }
      }
      for (const call of (delta['tool_calls'] ?? []) as readonly JsonObject[])
        if (call['id'] !== undefined) calls.push({ ...call, function: { name: 'run', arguments: '{}' } })
    }
    return { role: 'assistant', content: content === '' ? null : content, tool_calls: calls, reasoning_details: details }
  }

  test.each(TURNS.flatMap((turn) => [[turn, true] as const, [turn, false] as const]))(
    'brings %j back in its order (pieces joined: %p)',
    async (turn, joined) => {
      expect(await broughtBack('anthropic', await streamedMessage(turn, joined), turn)).toEqual(turn.map(CLAUDE_BLOCK))
    },
  )
})

describe('a client that', () => {
  const TURN = ['T1', 'W. ', 'T2', 'c1', 'T3', 'c2']

  test('drops the ids of pieces has all thinking before the text and the calls, as ever', async () => {
    const message = await wholeMessage('anthropic', TURN)
    const bare = detailsOf(message).map((detail) => Object.fromEntries(Object.entries(detail).filter(([key]) => key !== 'id')))
    expect(await broughtBack('anthropic', { ...message, reasoning_details: bare }, TURN)).toEqual(
      ['T1', 'T2', 'T3', 'W. ', 'c1', 'c2'].map(CLAUDE_BLOCK),
    )
  })

  test('shortened the text and left a call out still has the rest in its order', async () => {
    const message = await wholeMessage('anthropic', TURN)
    const [first] = message['tool_calls'] as readonly JsonObject[]
    expect(await broughtBack('anthropic', { ...message, content: 'W', tool_calls: [first ?? {}] }, TURN)).toEqual(
      ['T1', 'W', 'T2', 'c1'].map(CLAUDE_BLOCK),
    )
  })

  test('gives every piece another id than all others, since programs keep one of each id', async () => {
    const ids = detailsOf(await wholeMessage('anthropic', ['R1', 'c1', 'R2', 'R3', 'c2'])).map(({ id }) => id)
    expect(new Set(ids).size).toBe(ids.length)
  })
})
