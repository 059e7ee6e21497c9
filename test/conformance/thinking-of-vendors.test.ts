/**
 * Thinking of earlier turns, without a proof, goes back to the vendors of Chat Completions under the name that each of them reads, and to no
 * other (decisions/0131, decisions/0257): between the calls of tools it is what the model goes on from, and a vendor that does not know the
 * member refuses the whole request.
 */
import { describe, expect, test } from 'bun:test'

import { FORMATS } from '../../src/formats/formats.ts'
import { JsonBody } from '../../src/lib/json/json-body.ts'
import type { JsonObject } from '../../src/lib/json/json.ts'
import { atOnce } from '../../src/lib/steps.ts'
import { encodeChatRequest } from '../../src/providers/openai-chat/encode.ts'
import { at } from '../support/json-at.ts'

const LANES = ['relayed', 'translated'] as const

type Lane = (typeof LANES)[number]

const CALL = { id: 'abcdefghi', type: 'function', function: { name: 'look', arguments: '{}' } }

/** The turn of the assistant, as it is sent. */
const sent = (lane: Lane, provider: string, upstreamModel: string, said: object): JsonObject => {
  const asked = [{ role: 'user', content: 'Hi' }]
  const messages = [...asked, { role: 'assistant', ...said }, { role: 'tool', tool_call_id: 'abcdefghi', content: 'fog' }]
  const { call } = atOnce(FORMATS.chat.parseCall(JsonBody.read(JSON.stringify({ model: 'a/b', messages }))))
  const target = { provider, providerName: provider, baseUrl: 'https://v.example', apiKey: null, modelId: 'a/b', upstreamModel }
  const attempt = {
    call: lane === 'relayed' ? call : { ...call, dialect: 'responses' as const },
    target: { ...target, maxCompletionTokens: null },
    number: 0,
    warn: () => undefined,
    connection: new AbortController(),
  }
  return at(JSON.parse(atOnce(encodeChatRequest(attempt))), 'messages', 1) as JsonObject
}

const PARTS = [
  { type: 'thinking', thinking: [{ type: 'text', text: 'Hm.' }] },
  { type: 'text', text: 'I look.' },
]

/** Vendor, its name of the model, and the member of the message that holds the thinking; null for none. */
const TABLE: readonly (readonly [string, string, 'reasoning' | 'reasoning_content' | 'content' | null])[] = [
  ['openai', 'gpt-5.4', null],
  ['azure', 'grok-4.7', null],
  ['groq', 'openai/gpt-oss-120b', 'reasoning'],
  ['groq', 'qwen/qwen3.8-27b', 'reasoning'],
  ['groq', 'llama-3.3-70b-versatile', null],
  ['groq', 'moonshotai/kimi-k2-instruct', null],
  ['cerebras', 'gpt-oss-120b', 'reasoning'],
  ['cerebras', 'zai-glm-4.7', 'reasoning'],
  ['cerebras', 'qwen-3.8-27b', 'reasoning'],
  ['cerebras', 'llama3.1-8b', null],
  ['mistral', 'mistral-large-4', 'content'],
  ['mistral', 'mistral-medium-3-5', 'content'],
  ['mistral', 'mistral-medium-3', 'content'],
  ['mistral', 'mistral-medium-2604', 'content'],
  ['mistral', 'mistral-vibe-cli-latest', 'content'],
  ['mistral', 'magistral-medium-2509', 'content'],
  ['mistral', 'mistral-small-2603', 'content'],
  ['mistral', 'mistral-large-2512', null],
  ['mistral', 'mistral-medium-2508', null],
  ['mistral', 'codestral-2508', null],
  ['deepseek', 'deepseek-v4-pro', 'reasoning_content'],
  ['moonshot', 'kimi-k3', 'reasoning_content'],
  ['moonshot', 'kimi-k2.6', 'reasoning_content'],
  ['zai', 'glm-5.3', 'reasoning_content'],
  ['fireworks', 'accounts/fireworks/models/minimax-m3', 'reasoning_content'],
  ['vllm', 'MiniMaxAI/MiniMax-M3', 'reasoning'],
  ['ollama', 'qwen3.8', 'reasoning'],
  ['llamacpp', 'gpt-oss-20b', 'reasoning_content'],
  ['alibaba', 'qwen3.8-max', 'reasoning_content'],
  ['together', 'zai-org/GLM-5.3', null],
  ['xai', 'grok-4.7', null],
  ['perplexity', 'sonar-reasoning-pro', null],
  ['lmstudio', 'qwen3.8', null],
]

/** The words of clients for a turn with thinking; the last two are those of Mistral's. */
const FORMS: Readonly<Record<string, object>> = {
  reasoning: { content: 'I look.', reasoning: 'Hm.', tool_calls: [CALL] },
  'the older name': { content: 'I look.', reasoning_content: 'Hm.', tool_calls: [CALL] },
  pieces: {
    content: 'I look.',
    reasoning: 'Hm.',
    reasoning_details: [{ type: 'reasoning.text', text: 'Hm.', index: 0 }],
    tool_calls: [CALL],
  },
  parts: { content: PARTS, tool_calls: [CALL] },
  'a part with a text': { content: [{ type: 'thinking', thinking: 'Hm.' }, PARTS[1]], tool_calls: [CALL] },
}

describe.each(LANES)('%s', (lane) => {
  describe.each(TABLE)('%s, %s: thinking in %s', (vendor, model, member) => {
    test.each(Object.entries(FORMS))('from a client’s %s', (_, said) => {
      const message = sent(lane, vendor, model, said)
      const holding = Object.entries(message).filter(([, value]) => JSON.stringify(value).includes('Hm.'))
      expect(holding.map(([key]) => key)).toEqual(member === null ? [] : [member])
      expect(JSON.stringify(message['content'])).toContain('I look.')
      if (member !== null && member !== 'content') expect(message[member]).toBe('Hm.')
    })
  })

  test.each(['reasoning', 'the older name', 'pieces', 'parts'])(
    'Mistral gets it as a part before the words, from a client’s %s',
    (form) => {
      expect(sent(lane, 'mistral', 'mistral-large-4', FORMS[form] ?? {})['content']).toEqual(PARTS)
    },
  )

  test('Moonshot, which refuses a call without thinking, gets some where a client sends back an empty text', () => {
    const said = { content: '', reasoning_content: '', tool_calls: [CALL] }
    expect(sent(lane, 'moonshot', 'kimi-k3', said)['reasoning_content']).toBe(' ')
  })

  test('Mistral gets no turn that is nothing but thinking', () => {
    expect(sent(lane, 'mistral', 'mistral-large-4', { content: null, reasoning: 'Hm.' })['role']).toBe('user')
  })
})

test('translated: Mistral gets thinking and words in the order in which they came', () => {
  const content = [...PARTS, { type: 'thinking', thinking: [{ type: 'text', text: 'So.' }] }, { type: 'text', text: 'Fog.' }]
  expect(sent('translated', 'mistral', 'mistral-large-4', { content, tool_calls: [CALL] })['content']).toEqual(content)
})

test('a server of which nothing is known gets a client’s parts as they are', () => {
  expect(sent('relayed', 'acme', 'some', { content: PARTS, tool_calls: [CALL] })['content']).toEqual(PARTS)
})
