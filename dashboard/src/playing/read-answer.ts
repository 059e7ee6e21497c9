/** Reads an answer of any of the three interfaces, whole or streamed, into one value to show. */
import type { PresetShape } from '../api/presets.ts'
import { list, type Loose, object } from '../loose.ts'
import { grownMessage, sentMessage } from './grown-message.ts'

export interface ToolCall {
  readonly id: string
  readonly name: string
  /** JSON, if the model kept to the format; incomplete while it streams. Any text if the tool is custom. */
  readonly input: string
  readonly isCustom?: boolean
}

export interface Answer {
  readonly text: string
  readonly reasoning: string
  /** The model's words for its refusal, empty if it has none; null if it did not refuse. */
  readonly refusal: string | null
  readonly calls: readonly ToolCall[]
  readonly inputTokens: number | null
  readonly outputTokens: number | null
  readonly costUsd: number | null
  readonly finish: string | null
  /** An error that the answer itself reports. */
  readonly fault: string | null
  /** The model's turn, as the next request must send it; empty if it said nothing. */
  readonly turns: readonly unknown[]
}

export const NO_ANSWER: Answer = {
  text: '',
  reasoning: '',
  refusal: null,
  calls: [],
  inputTokens: null,
  outputTokens: null,
  costUsd: null,
  finish: null,
  fault: null,
  turns: [],
}

const text = (value: unknown): string => (typeof value === 'string' ? value : '')
const number = (value: unknown): number | null => (typeof value === 'number' ? value : null)

export const readWhole = (dialect: PresetShape, body: unknown): Answer => {
  const answer = object(body)
  if (dialect === 'chat') {
    const choice = object(list(answer['choices'])[0])
    return withUsage(chatMessage(object(choice['message']), text(choice['finish_reason']) || null), answer['usage'], answer['error'])
  }
  if (dialect === 'responses') {
    const finish = text(object(answer['incomplete_details'])['reason']) || text(answer['status']) || null
    return withUsage(responsesOutput(list(answer['output']), finish), answer['usage'], answer['error'])
  }
  return withUsage(messagesContent(list(answer['content']), answer), answer['usage'], answer['error'])
}

const chatMessage = (message: Loose, finish: string | null): Answer => {
  const sent = sentMessage(message)
  return {
    ...NO_ANSWER,
    text: text(message['content']),
    reasoning: text(message['reasoning']),
    refusal: text(message['refusal']) || null,
    calls: list(message['tool_calls']).map(object).map(chatCall),
    finish,
    turns: sent === null ? [] : [sent],
  }
}

const chatCall = ({ id, function: called, custom }: Loose): ToolCall => {
  const { name, arguments: json, input } = object(custom ?? called)
  return { id: text(id), name: text(name), input: text(json) || text(input), isCustom: custom !== undefined }
}

const responsesOutput = (output: readonly unknown[], finish: string | null): Answer => {
  let answer: Answer = { ...NO_ANSWER, finish, turns: output }
  for (const item of output.map(object)) {
    const parts = list(item['content']).map(object)
    const said = textsOf(parts)
    if (item['type'] === 'message') {
      answer = { ...answer, text: answer.text + said }
      for (const { refusal } of parts) if (typeof refusal === 'string') answer = { ...answer, refusal: (answer.refusal ?? '') + refusal }
    } else if (item['type'] === 'reasoning') {
      answer = { ...answer, reasoning: answer.reasoning + said + textsOf(list(item['summary']).map(object), '\n') }
    } else if (item['type'] === 'function_call' || item['type'] === 'custom_tool_call') {
      const { call_id: id, name, arguments: json, input } = item
      const call = { id: text(id), name: text(name), input: text(json) || text(input), isCustom: item['type'] === 'custom_tool_call' }
      answer = { ...answer, calls: [...answer.calls, call] }
    }
  }
  return answer
}

const textsOf = (parts: readonly Loose[], between = ''): string => parts.map((part) => text(part['text'])).join(between)

const messagesContent = (content: readonly unknown[], { stop_reason, stop_details }: Loose): Answer => {
  let answer: Answer = {
    ...NO_ANSWER,
    finish: text(stop_reason) || null,
    refusal: refusalOf(stop_reason, stop_details),
    turns: messagesTurn(sentBlocks(content.map(object))),
  }
  for (const block of content.map(object)) {
    if (block['type'] === 'text') answer = { ...answer, text: answer.text + text(block['text']) }
    else if (block['type'] === 'thinking') answer = { ...answer, reasoning: answer.reasoning + text(block['thinking']) }
    else if (block['type'] === 'tool_use') {
      answer = {
        ...answer,
        calls: [
          ...answer.calls,
          { id: text(block['id']), name: text(block['name']), input: text(block[INPUT]) || JSON.stringify(block['input'] ?? {}) },
        ],
      }
    }
  }
  return answer
}

const refusalOf = (reason: unknown, details: unknown): string | null => (reason === 'refusal' ? text(object(details)['explanation']) : null)

const messagesTurn = (content: readonly unknown[]): Answer['turns'] => (content.length === 0 ? [] : [{ role: 'assistant', content }])

const withUsage = (answer: Answer, usage: unknown, error: unknown): Answer => {
  const { prompt_tokens, input_tokens, completion_tokens, output_tokens, cost } = object(usage)
  return {
    ...answer,
    inputTokens: number(prompt_tokens) ?? number(input_tokens) ?? answer.inputTokens,
    outputTokens: number(completion_tokens) ?? number(output_tokens) ?? answer.outputTokens,
    costUsd: number(cost) ?? answer.costUsd,
    fault: text(object(error)['message']) || answer.fault,
  }
}

const figuresOf = ({ inputTokens, outputTokens, costUsd, fault }: Answer) => ({ inputTokens, outputTokens, costUsd, fault })

/** Reads one event after the other; each call returns the whole answer so far. */
export const createStreamReader = (dialect: PresetShape): ((data: string) => Answer) => {
  let answer = NO_ANSWER
  let message: Loose = {}
  const chat = (chunk: Loose): void => {
    const choice =
      list(chunk['choices'])
        .map(object)
        .find(({ index }) => (number(index) ?? 0) === 0) ?? {}
    message = grownMessage(message, object(choice['delta']))
    answer = { ...chatMessage(message, text(choice['finish_reason']) || answer.finish), ...figuresOf(answer) }
    answer = withUsage(answer, chunk['usage'], chunk['error'])
  }
  const responses = (event: Loose): void => {
    const kind = text(event['type'])
    if (kind === 'response.output_text.delta') answer = { ...answer, text: answer.text + text(event['delta']) }
    else if (kind === 'response.refusal.delta') answer = { ...answer, refusal: (answer.refusal ?? '') + text(event['delta']) }
    else if (/^response\.reasoning\w*\.delta$/.test(kind)) answer = { ...answer, reasoning: answer.reasoning + text(event['delta']) }
    else if (/^response\.(?:completed|incomplete|failed)$/.test(kind)) answer = readWhole('responses', event['response'])
    else if (kind === 'error') answer = { ...answer, fault: text(event['message']) || text(object(event['error'])['message']) }
  }
  /** The blocks of Messages by their index, as the next request must send them: thinking with its signature, searches, citations. */
  const blocks = new Map<number, Loose>()
  let end: Loose = {}
  const messages = (event: Loose): void => {
    const index = number(event['index']) ?? 0
    const delta = object(event['delta'])
    const block = object(event['content_block'])
    if (event['type'] === 'content_block_start') blocks.set(index, block)
    else if (event['type'] === 'content_block_delta') blocks.set(index, grown(blocks.get(index) ?? {}, delta))
    if (delta['stop_reason'] !== undefined) end = delta
    answer = { ...messagesContent([...blocks.values()], end), ...figuresOf(answer) }
    answer = withUsage(withUsage(answer, object(event['message'])['usage'], undefined), event['usage'], event['error'])
  }
  const readers = { chat, responses, messages }
  return (data) => {
    if (data !== '[DONE]') readers[dialect](object(JSON.parse(data)))
    return answer
  }
}

/** Where the arguments of a call are put together. */
const INPUT = 'input_json'

const grown = (block: Loose, { text: said, thinking, signature, partial_json: input, citation }: Loose): Loose => ({
  ...block,
  ...(said === undefined ? {} : { text: text(block['text']) + text(said) }),
  ...(thinking === undefined ? {} : { thinking: text(block['thinking']) + text(thinking) }),
  ...(signature === undefined ? {} : { signature: text(block['signature']) + text(signature) }),
  ...(input === undefined ? {} : { [INPUT]: text(block[INPUT]) + text(input) }),
  ...(citation === undefined ? {} : { citations: [...list(block['citations']), citation] }),
})

/** An empty text is no block that may be sent. */
const sentBlocks = (blocks: readonly Loose[]): readonly Loose[] =>
  blocks
    .filter(({ type, text: said }) => type !== 'text' || said !== '')
    .map(({ [INPUT]: input, ...block }) => (input === undefined ? block : { ...block, input: parsed(text(input)) }))

const parsed = (json: string): unknown => {
  try {
    return JSON.parse(json || '{}')
  } catch {
    return {}
  }
}
