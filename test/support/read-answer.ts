/**
 * Reads an answer with the official SDK of its dialect as a program does, for a provider's own answer as for ours. Google's and Bedrock's
 * dialects are read by hand; a Bedrock stream is given as the lines of its recording.
 */
import type OpenAI from 'openai'

import { anthropic, openAi } from './answers.ts'
import type { UpstreamDialect } from './recordings.ts'

export interface Reading {
  text: string
  reasoning: string
  refusal: string
  calls: { id: string; name: string; arguments: unknown }[]
  /** In the terms of Chat Completions. */
  stop: string | null
  /** The URL of each source. */
  sources: string[]
  /** `input` includes cached tokens, `output` includes thinking; null if the dialect does not report usage. */
  usage: { input: number; cacheRead: number; output: number; reasoning: number | null } | null
}

export const readAnswer = (dialect: UpstreamDialect, stream: boolean, body: string): Promise<Reading> | Reading => {
  switch (dialect) {
    case 'openai-chat':
      return stream ? readChatStream(body) : readChat(body)
    case 'openai-responses':
      return stream ? readResponseStream(body) : readResponse(body)
    case 'anthropic':
      return readMessage(stream, body)
    case 'google':
      return readGoogle(stream, body)
    case 'bedrock':
      return stream ? readConverseStream(body) : readConverse(JSON.parse(body) as Converse)
  }
}

const nothing = (): Reading => ({ text: '', reasoning: '', refusal: '', calls: [], stop: null, sources: [], usage: null })

/** Empty arguments are an empty object; otherwise the parsed JSON is compared, so spaces do not matter. */
const parsed = (json: string): unknown => JSON.parse(json === '' ? '{}' : json) as unknown

/** Members of the dialects that the SDKs have no types for. */
interface ChatMessage {
  readonly content?: unknown
  readonly reasoning?: string | null
  readonly reasoning_content?: string | null
  readonly refusal?: string | null
  readonly annotations?: readonly { readonly url_citation?: { readonly url: string } }[] | null
}

const readChatMessage = (reading: Reading, said: ChatMessage): void => {
  const { content } = said
  if (typeof content === 'string') reading.text += content
  for (const part of Array.isArray(content) ? (content as { type: string; text?: string; thinking?: { text?: string }[] }[]) : []) {
    if (part.type === 'thinking') for (const { text } of part.thinking ?? []) reading.reasoning += text ?? ''
    else reading.text += part.text ?? ''
  }
  reading.reasoning += said.reasoning ?? said.reasoning_content ?? ''
  reading.refusal += said.refusal ?? ''
  for (const { url_citation } of said.annotations ?? []) if (url_citation !== undefined) reading.sources.push(url_citation.url)
}

const chatUsage = (usage: OpenAI.CompletionUsage): Reading['usage'] => ({
  input: usage.prompt_tokens,
  cacheRead: usage.prompt_tokens_details?.cached_tokens ?? 0,
  output: usage.completion_tokens,
  reasoning: usage.completion_tokens_details?.reasoning_tokens ?? null,
})

const readChatStream = async (body: string): Promise<Reading> => {
  const reading = nothing()
  const calls: { id: string; name: string; json: string }[] = []
  for await (const chunk of await openAi(body).chat.completions.create({ model: 'm', messages: [], stream: true })) {
    if (chunk.usage) reading.usage = chatUsage(chunk.usage)
    const [choice] = chunk.choices
    if (choice === undefined) continue
    readChatMessage(reading, choice.delta)
    reading.stop = choice.finish_reason ?? reading.stop
    for (const { index, id, function: about } of choice.delta.tool_calls ?? []) {
      calls[index] ??= { id: id ?? '', name: about?.name ?? '', json: '' }
      calls[index].json += about?.arguments ?? ''
    }
  }
  reading.calls = calls.map(({ id, name, json }) => ({ id, name, arguments: parsed(json) }))
  return reading
}

const readChat = async (body: string): Promise<Reading> => {
  const reading = nothing()
  const answer = await openAi(body, 'application/json').chat.completions.create({ model: 'm', messages: [] })
  const [choice] = answer.choices
  if (answer.usage !== undefined) reading.usage = chatUsage(answer.usage)
  if (choice === undefined) return reading
  readChatMessage(reading, choice.message)
  reading.stop = choice.finish_reason
  for (const call of choice.message.tool_calls ?? [])
    if (call.type === 'function') reading.calls.push({ id: call.id, name: call.function.name, arguments: parsed(call.function.arguments) })
  return reading
}

const readResponseStream = async (body: string): Promise<Reading> => {
  let last: OpenAI.Responses.Response | null = null
  for await (const event of await openAi(body).responses.create({ model: 'm', input: 'x', stream: true })) {
    if (event.type === 'response.completed' || event.type === 'response.incomplete' || event.type === 'response.failed')
      last = event.response
  }
  if (last === null) throw new Error('The stream has no terminal event.')
  return responseReading(last)
}

const readResponse = async (body: string): Promise<Reading> =>
  responseReading(await openAi(body, 'application/json').responses.create({ model: 'm', input: 'x' }))

const responseReading = (response: OpenAI.Responses.Response): Reading => {
  const reading = nothing()
  for (const item of response.output) {
    if (item.type === 'function_call') reading.calls.push({ id: item.call_id, name: item.name, arguments: parsed(item.arguments) })
    // xAI also shows searches made by its own server as calls.
    if (item.type === 'custom_tool_call' && !item.call_id.startsWith('xs_'))
      reading.calls.push({ id: item.call_id, name: item.name, arguments: { input: item.input } })
    if (item.type === 'reasoning') for (const { text } of [...item.summary, ...(item.content ?? [])]) reading.reasoning += text
    if (item.type !== 'message') continue
    for (const part of item.content) {
      if (part.type === 'refusal') reading.refusal += part.refusal
      else {
        reading.text += part.text
        for (const source of part.annotations) if (source.type === 'url_citation') reading.sources.push(source.url)
      }
    }
  }
  const { status, incomplete_details: incomplete, usage } = response
  if (status === 'completed') reading.stop = reading.calls.length > 0 ? 'tool_calls' : 'stop'
  if (status === 'incomplete') reading.stop = incomplete?.reason === 'content_filter' ? 'content_filter' : 'length'
  if (usage)
    reading.usage = {
      input: usage.input_tokens,
      cacheRead: usage.input_tokens_details.cached_tokens,
      output: usage.output_tokens,
      reasoning: usage.output_tokens_details.reasoning_tokens,
    }
  return reading
}

const MESSAGE_STOPS: Readonly<Record<string, string>> = {
  end_turn: 'stop',
  stop_sequence: 'stop',
  pause_turn: 'length',
  max_tokens: 'length',
  tool_use: 'tool_calls',
  refusal: 'content_filter',
}

const readMessage = async (stream: boolean, body: string): Promise<Reading> => {
  const reading = nothing()
  const client = anthropic(body, stream ? 'text/event-stream' : 'application/json').messages
  const ask = { model: 'm', max_tokens: 1, messages: [] }
  const message = stream ? await client.stream(ask).finalMessage() : await client.create(ask)
  for (const block of message.content) {
    if (block.type === 'text') {
      reading.text += block.text
      for (const source of block.citations ?? []) if ('url' in source) reading.sources.push(source.url)
    } else if (block.type === 'thinking') reading.reasoning += block.thinking
    else if (block.type === 'tool_use') reading.calls.push({ id: block.id, name: block.name, arguments: block.input })
  }
  const { usage, stop_details: details } = message
  reading.stop = MESSAGE_STOPS[message.stop_reason ?? ''] ?? message.stop_reason
  if (details?.type === 'refusal') reading.refusal = details.explanation ?? ''
  // A refusal without an explanation is reported in this service's own words.
  else if (message.stop_reason === 'refusal') reading.refusal = 'The model declined to answer.'
  const cacheRead = usage.cache_read_input_tokens ?? 0
  reading.usage = {
    input: usage.input_tokens + cacheRead + (usage.cache_creation_input_tokens ?? 0),
    cacheRead,
    output: usage.output_tokens,
    reasoning: usage.output_tokens_details?.thinking_tokens ?? null,
  }
  return reading
}

interface GoogleCall {
  readonly id?: string
  readonly name?: string
  readonly args?: unknown
  /** In a stream, arguments may come in pieces, each with its JSON path. */
  readonly partialArgs?: readonly { readonly jsonPath: string; readonly stringValue?: string; readonly numberValue?: number }[]
}

interface GoogleChunk {
  readonly candidates?: readonly {
    readonly content?: {
      readonly parts?: readonly {
        readonly text?: string
        readonly thought?: boolean
        readonly functionCall?: GoogleCall
      }[]
    }
    readonly finishReason?: string
    readonly groundingMetadata?: { readonly groundingChunks?: readonly { readonly web: { readonly uri: string } }[] }
  }[]
  readonly usageMetadata?: {
    readonly promptTokenCount?: number
    readonly candidatesTokenCount?: number
    readonly thoughtsTokenCount?: number
    readonly cachedContentTokenCount?: number
  }
}

const GOOGLE_STOPS: Readonly<Record<string, string>> = { STOP: 'stop', MAX_TOKENS: 'length', SAFETY: 'content_filter' }

const readGoogle = (stream: boolean, body: string): Reading => {
  const reading = nothing()
  const chunks = stream
    ? [...body.matchAll(/^data: (.*)\r$/gm)].map((line) => JSON.parse(line[1] ?? '') as GoogleChunk)
    : [JSON.parse(body) as GoogleChunk]
  for (const { candidates = [], usageMetadata: usage } of chunks) {
    for (const part of candidates[0]?.content?.parts ?? []) {
      if (part.functionCall !== undefined) readGoogleCall(reading, part.functionCall)
      else if (part.thought === true) reading.reasoning += part.text ?? ''
      else reading.text += part.text ?? ''
    }
    for (const { web } of candidates[0]?.groundingMetadata?.groundingChunks ?? []) reading.sources.push(web.uri)
    const reason = candidates[0]?.finishReason
    if (reason !== undefined) reading.stop = GOOGLE_STOPS[reason] ?? reason
    if (usage !== undefined)
      reading.usage = {
        input: usage.promptTokenCount ?? 0,
        cacheRead: usage.cachedContentTokenCount ?? 0,
        output: (usage.candidatesTokenCount ?? 0) + (usage.thoughtsTokenCount ?? 0),
        reasoning: usage.thoughtsTokenCount ?? 0,
      }
  }
  if (reading.stop === 'stop' && reading.calls.length > 0) reading.stop = 'tool_calls'
  return reading
}

const readGoogleCall = (reading: Reading, { id, name, args, partialArgs }: GoogleCall): void => {
  if (name !== undefined) reading.calls.push({ id: id ?? '', name, arguments: args ?? {} })
  const call = reading.calls.at(-1)
  for (const { jsonPath, stringValue, numberValue } of partialArgs ?? []) {
    const steps = jsonPath.match(/[^$.[\]]+/g) ?? []
    let at = call?.arguments as Record<string, unknown>
    for (const [position, step] of steps.slice(0, -1).entries())
      at = (at[step] ??= /^\d/.test(steps[position + 1] ?? '') ? [] : {}) as Record<string, unknown>
    const last = steps.at(-1) ?? ''
    at[last] = numberValue ?? `${typeof at[last] === 'string' ? at[last] : ''}${stringValue ?? ''}`
  }
}

interface ConverseBlock {
  readonly text?: string
  /** A call of type `server_tool_use` was for a tool that the provider ran itself. */
  readonly toolUse?: { readonly toolUseId: string; readonly name: string; readonly type?: string; readonly input?: unknown }
  readonly reasoningContent?: { readonly text?: string; readonly reasoningText?: { readonly text: string } }
  readonly citation?: ConverseSource
  readonly citationsContent?: { readonly content: readonly { readonly text: string }[]; readonly citations: readonly ConverseSource[] }
}

interface ConverseSource {
  readonly location: { readonly web: { readonly url: string } }
}

interface Converse {
  readonly output: { readonly message: { readonly content: readonly ConverseBlock[] } }
  readonly stopReason: string
  readonly usage: {
    readonly inputTokens: number
    readonly outputTokens: number
    readonly cacheReadInputTokens?: number
    readonly cacheWriteInputTokens?: number
  }
}

const CONVERSE_STOPS: Readonly<Record<string, string>> = { ...MESSAGE_STOPS, guardrail_intervened: 'content_filter' }

const readConverse = ({ output, stopReason, usage }: Converse): Reading => {
  const reading = nothing()
  for (const { text, toolUse, reasoningContent, citation, citationsContent } of output.message.content) {
    reading.text += text ?? (citationsContent?.content ?? []).map((piece) => piece.text).join('')
    reading.reasoning += reasoningContent?.reasoningText?.text ?? reasoningContent?.text ?? ''
    if (toolUse !== undefined && toolUse.type !== 'server_tool_use')
      reading.calls.push({ id: toolUse.toolUseId, name: toolUse.name, arguments: toolUse.input })
    for (const source of citation === undefined ? (citationsContent?.citations ?? []) : [citation])
      reading.sources.push(source.location.web.url)
  }
  reading.stop = CONVERSE_STOPS[stopReason] ?? stopReason
  const cacheRead = usage.cacheReadInputTokens ?? 0
  reading.usage = {
    input: usage.inputTokens + cacheRead + (usage.cacheWriteInputTokens ?? 0),
    cacheRead,
    output: usage.outputTokens,
    reasoning: null,
  }
  return reading
}

interface ConverseEvent {
  readonly contentBlockStart?: { readonly contentBlockIndex: number; readonly start: ConverseBlock }
  readonly contentBlockDelta?: { readonly contentBlockIndex: number; readonly delta: ConverseBlock }
  readonly messageStop?: { readonly stopReason: string }
  readonly metadata?: { readonly usage: Converse['usage'] }
}

const readConverseStream = (lines: string): Reading => {
  const events = lines.split('\n').map((line) => JSON.parse(line) as ConverseEvent)
  const content: ConverseBlock[] = []
  const inputs = new Map<number, string>()
  for (const { contentBlockStart: start, contentBlockDelta: piece } of events) {
    if (start !== undefined) inputs.set(start.contentBlockIndex, '')
    if (typeof piece?.delta.toolUse?.input === 'string')
      inputs.set(piece.contentBlockIndex, `${inputs.get(piece.contentBlockIndex)}${piece.delta.toolUse.input}`)
    else if (piece !== undefined) content.push(piece.delta)
  }
  for (const { contentBlockStart: start } of events)
    if (start?.start.toolUse !== undefined)
      content.push({ toolUse: { ...start.start.toolUse, input: parsed(inputs.get(start.contentBlockIndex) ?? '') } })
  const stopReason = events.find(({ messageStop }) => messageStop !== undefined)?.messageStop?.stopReason ?? ''
  const usage = events.find(({ metadata }) => metadata !== undefined)?.metadata?.usage ?? { inputTokens: 0, outputTokens: 0 }
  return readConverse({ output: { message: { content } }, stopReason, usage })
}
