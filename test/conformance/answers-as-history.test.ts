/**
 * Clients send back the answers that they got: for each recorded one, the next turn, built as a program with the official SDK builds it,
 * is one that every vendor accepts, with each text and each call of the answer in it.
 */
import { describe, expect, test } from 'bun:test'

import { CLIENT_DIALECTS, type ClientDialect } from '../../src/canonical/call.ts'
import { isObject } from '../../src/lib/json/json.ts'
import { anthropic, openAi } from '../support/answers.ts'
import { bodyFor } from '../support/body-for.ts'
import { fails, type Recording, recordingsOf, UPSTREAM_DIALECTS, type UpstreamDialect } from '../support/recordings.ts'
import { MODEL, replay } from '../support/replay.ts'
import { refusedByAnthropic } from '../support/strict-anthropic.ts'
import { CHAT_VENDORS, refusedByVendor } from '../support/strict-chat.ts'
import { refusedByConverse } from '../support/strict-converse.ts'
import { refusedByGoogle } from '../support/strict-google.ts'
import { refusedByMistral } from '../support/strict-mistral.ts'
import { refusedByResponses } from '../support/strict-responses.ts'

type Item = Record<string, unknown>

interface Provider {
  readonly dialect: UpstreamDialect
  readonly slug: string
  readonly model: string
  readonly refused: (body: Item) => string | null
}

const chat = (slug: string, model: string): Provider => ({
  dialect: 'openai-chat',
  slug,
  model,
  refused: (body) => (slug in CHAT_VENDORS ? refusedByVendor(body, slug) : slug === 'mistral' ? refusedByMistral(body) : null),
})
const claude = (model: string): Provider => ({ dialect: 'anthropic', slug: 'anthropic', model, refused: refusedByAnthropic })
const gemini = (model: string): Provider => ({ dialect: 'google', slug: 'google', model, refused: (body) => refusedByGoogle(body, model) })
const gpt = (model: string): Provider => ({ dialect: 'openai-responses', slug: 'openai', model, refused: refusedByResponses })
const bedrock = (model: string): Provider => ({ dialect: 'bedrock', slug: 'bedrock', model, refused: refusedByConverse })

const PROVIDERS: readonly Provider[] = [
  chat('openai', 'gpt-4.1'),
  chat('groq', 'openai/gpt-oss-120b'),
  chat('cerebras', 'gpt-oss-120b'),
  chat('xai', 'grok-4.7'),
  chat('deepseek', 'deepseek-v4-pro'),
  chat('moonshot', 'kimi-k3'),
  chat('zai', 'glm-5.3'),
  chat('mistral', 'mistral-medium-3-5'),
  claude('claude-3-5-haiku-20241022'),
  claude('claude-sonnet-4-5'),
  claude('claude-sonnet-5-5'),
  gemini('gemini-2.5-pro'),
  gemini('gemini-3-pro-preview'),
  gpt('gpt-4.1'),
  gpt('gpt-5.2'),
  bedrock('anthropic.claude-sonnet-4-5-20250929-v1:0'),
  bedrock('amazon.nova-pro-v1:0'),
  bedrock('mistral.mistral-large-2407-v1:0'),
]

const QUESTION = 'A question.'
const SCHEMA = { type: 'object', properties: {} }

/** A program's next request: the question, the answer as its SDK gives it, a result for each call, and another question. */
interface Turn {
  readonly body: Item
  readonly texts: readonly string[]
  readonly calls: readonly string[]
}

const ASK: Readonly<Record<ClientDialect, Item>> = {
  chat: { messages: [{ role: 'user', content: QUESTION }] },
  responses: { input: [{ role: 'user', content: QUESTION }], include: ['reasoning.encrypted_content'], store: false },
  messages: { messages: [{ role: 'user', content: QUESTION }], max_tokens: 4096 },
}

const objectsIn = (value: unknown): Item[] => (Array.isArray(value) ? value.filter(isObject) : [])
const textOf = (value: unknown): string => (typeof value === 'string' ? value : '')

/** Adds the pieces of a stream as OpenRouter's and LangChain's clients do. */
const chatMessage = async (stream: boolean, text: string): Promise<Item> => {
  const client = openAi(text, stream ? 'text/event-stream' : 'application/json').chat.completions
  if (!stream) return (await client.create({ model: 'm', messages: [] })).choices[0]?.message as unknown as Item
  const message: Item = { role: 'assistant', content: '' }
  for await (const { choices } of await client.create({ model: 'm', messages: [], stream: true })) {
    const delta = (choices[0]?.delta ?? {}) as Item
    for (const [name, value] of Object.entries(delta)) {
      if (name === 'role') continue
      if (name === 'tool_calls') addCalls(message, objectsIn(value))
      else if (typeof value === 'string') message[name] = textOf(message[name]) + value
      else if (Array.isArray(value)) message[name] = [...((message[name] as unknown[] | undefined) ?? []), ...(value as unknown[])]
      else if (value !== null) message[name] = value
    }
  }
  return message
}

const addCalls = (message: Item, pieces: readonly Item[]): void => {
  const calls = ((message['tool_calls'] as Item[] | undefined) ??= [])
  for (const { index, function: part, ...rest } of pieces) {
    const about = isObject(part) ? part : {}
    const call = (calls[index as number] ??= { function: { name: '', arguments: '' } })
    Object.assign(call, Object.fromEntries(Object.entries(rest).filter(([, value]) => value !== null)))
    const own = call['function'] as Item
    own['name'] = textOf(own['name']) + textOf(about['name'])
    own['arguments'] = textOf(own['arguments']) + textOf(about['arguments'])
  }
}

const chatTurn = async (stream: boolean, text: string): Promise<Turn> => {
  const message = await chatMessage(stream, text)
  const calls = objectsIn(message['tool_calls'])
  const names = calls.map(({ type, function: about, custom }) => textOf((type === 'custom' ? (custom as Item) : (about as Item))['name']))
  return {
    body: {
      messages: [
        { role: 'user', content: QUESTION },
        message,
        ...calls.map(({ id }) => ({ role: 'tool', tool_call_id: id, content: 'A result.' })),
        ...(calls.length === 0 ? [{ role: 'user', content: 'Go on.' }] : []),
      ],
      tools: calls.map(({ type }, at) =>
        type === 'custom' ? { type, custom: { name: names[at] } } : { type: 'function', function: { name: names[at], parameters: SCHEMA } },
      ),
    },
    texts: [textOf(message['content'])],
    calls: names,
  }
}

const responsesTurn = async (stream: boolean, text: string): Promise<Turn> => {
  const client = openAi(text, stream ? 'text/event-stream' : 'application/json').responses
  let output: Item[] = []
  if (!stream) output = (await client.create({ model: 'm', input: 'x' })).output as unknown as Item[]
  else
    for await (const event of await client.create({ model: 'm', input: 'x', stream: true }))
      if (event.type === 'response.completed' || event.type === 'response.incomplete') output = event.response.output as unknown as Item[]
  const calls = output.filter(({ type }) => type === 'function_call' || type === 'custom_tool_call')
  return {
    body: {
      input: [
        { role: 'user', content: QUESTION },
        ...output,
        ...calls.map(({ type, call_id }) => ({ type: `${textOf(type)}_output`, call_id, output: 'A result.' })),
        ...(calls.length === 0 ? [{ role: 'user', content: 'Go on.' }] : []),
      ],
      tools: calls.map(({ type, name }) =>
        type === 'custom_tool_call' ? { type: 'custom', name } : { type: 'function', name, parameters: SCHEMA, strict: false },
      ),
      include: ['reasoning.encrypted_content'],
      store: false,
    },
    texts: output.filter(({ type }) => type === 'message').flatMap(({ content }) => objectsIn(content).map((part) => textOf(part['text']))),
    calls: calls.map(({ name }) => textOf(name)),
  }
}

const messagesTurn = async (stream: boolean, text: string): Promise<Turn> => {
  const client = anthropic(text, stream ? 'text/event-stream' : 'application/json').messages
  const ask = { model: 'm', max_tokens: 1, messages: [] }
  const { content } = stream ? await client.stream(ask).finalMessage() : await client.create(ask)
  const blocks = content as unknown as Item[]
  const calls = blocks.filter(({ type }) => type === 'tool_use')
  return {
    body: {
      max_tokens: 4096,
      messages: [
        { role: 'user', content: QUESTION },
        { role: 'assistant', content: blocks },
        {
          role: 'user',
          content: calls.length === 0 ? 'Go on.' : calls.map(({ id }) => ({ type: 'tool_result', tool_use_id: id, content: 'A result.' })),
        },
      ],
      tools: calls.map(({ name }) => ({ name, input_schema: SCHEMA })),
    },
    texts: blocks.filter(({ type }) => type === 'text').map((block) => textOf(block['text'])),
    calls: calls.map(({ name }) => textOf(name)),
  }
}

const TURNS = { chat: chatTurn, responses: responsesTurn, messages: messagesTurn } as const

/** Each name once: an answer may call a tool twice. */
const withOneOfEach = ({ tools, ...rest }: Item): Item => {
  const seen = new Set<string>()
  const kept = objectsIn(tools).filter((tool) => {
    const key = JSON.stringify(tool)
    return !seen.has(key) && seen.add(key)
  })
  return kept.length === 0 ? rest : { ...rest, tools: kept }
}

const answered = async (client: ClientDialect, { dialect, stream, bytes }: Recording): Promise<string> => {
  const reply = { type: stream ? 'text/event-stream' : 'application/json', pieces: [bytes] } as const
  const { text } = await replay({
    client,
    upstreams: [{ dialect, reply, slug: OWN[dialect], model: MODELS[dialect] }],
    body: { model: MODEL, ...ASK[client], stream },
  })
  return text
}

const OWN: Readonly<Record<UpstreamDialect, string>> = {
  'openai-chat': 'acme',
  'openai-responses': 'openai',
  anthropic: 'anthropic',
  google: 'google',
  bedrock: 'bedrock',
}

const MODELS: Readonly<Record<UpstreamDialect, string>> = {
  'openai-chat': 'one',
  'openai-responses': 'gpt-5.2',
  anthropic: 'claude-sonnet-4-5',
  google: 'gemini-3-pro-preview',
  bedrock: 'anthropic.claude-sonnet-4-5-20250929-v1:0',
}

/** Signatures and sealed thinking, which their vendor wants back byte for byte. OpenAI seals an item anew in each event. */
const proofsIn = ({ payloads }: Recording, client: ClientDialect): readonly string[] => {
  const source = client === 'responses' ? 'completed' : 'output_item.done'
  return payloads
    .filter((payload) => !payload.startsWith('{"type":"response.') || payload.startsWith(`{"type":"response.${source}"`))
    .flatMap((payload) => [...payload.matchAll(PROOF)].map(([, signature, sealed]) => signature ?? sealed ?? ''))
}

const PROOF =
  /"(?:signature|thoughtSignature|redactedContent)":\s*"([^"]{8,})"|"type":\s*"reasoning"[^{}]*"encrypted_content":\s*"([^"]+)"/g

const RECORDINGS = UPSTREAM_DIALECTS.flatMap((dialect) => recordingsOf(dialect)).filter((one) => !fails(one))

describe.each(CLIENT_DIALECTS)('an answer that a client of %s got', (client) => {
  test.each(RECORDINGS.map((one) => [`${one.dialect}/${one.name}${one.stream ? ', streamed' : ''}`, one] as const))(
    'is history for each vendor: %s',
    async (_, recorded) => {
      const text = await answered(client, recorded)
      const { body: next, texts, calls } = await TURNS[client](recorded.stream, text)
      for (const provider of PROVIDERS) {
        const body = await bodyFor(client, provider, withOneOfEach(next))
        const sent = JSON.stringify(body)
        const isOwn = provider.slug === OWN[recorded.dialect] && provider.model === MODELS[recorded.dialect]
        const wanted = [...texts.map(inJson), ...calls, ...(isOwn ? proofsIn(recorded, client) : [])]
        expect({
          model: provider.model,
          refused: body === null ? 'by this service' : provider.refused(body),
          lost: wanted.filter((part) => !sent.includes(part)),
          sent,
        }).toEqual({ model: provider.model, refused: null, lost: [], sent })
      }
    },
  )
})

/** The text as JSON has it. Its ends may be trimmed. */
const inJson = (text: string): string => JSON.stringify(text.trim()).slice(1, -1)
