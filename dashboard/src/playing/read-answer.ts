/** Reads an answer of any of the three interfaces, whole or streamed, into one value to show. */
import type { PresetShape } from '../api/presets.ts'

export interface ToolCall {
  readonly id: string
  readonly name: string
  /** JSON, if the model kept to the format; incomplete while it streams. */
  readonly input: string
}

export interface Answer {
  readonly text: string
  readonly reasoning: string
  readonly calls: readonly ToolCall[]
  readonly inputTokens: number | null
  readonly outputTokens: number | null
  readonly costUsd: number | null
  readonly finish: string | null
  /** An error that the answer itself reports. */
  readonly fault: string | null
  /** The model's turn, as the next request must send it. */
  readonly turns: readonly unknown[]
}

export const NO_ANSWER: Answer = {
  text: '',
  reasoning: '',
  calls: [],
  inputTokens: null,
  outputTokens: null,
  costUsd: null,
  finish: null,
  fault: null,
  turns: [],
}

interface Loose {
  readonly [name: string]: unknown
}

const object = (value: unknown): Loose => (typeof value === 'object' && value !== null ? (value as Loose) : {})
const list = (value: unknown): readonly unknown[] => (Array.isArray(value) ? (value as readonly unknown[]) : [])
const text = (value: unknown): string => (typeof value === 'string' ? value : '')
const number = (value: unknown): number | null => (typeof value === 'number' ? value : null)

export const readWhole = (dialect: PresetShape, body: unknown): Answer => {
  const answer = object(body)
  if (dialect === 'chat') {
    const choice = object(list(answer['choices'])[0])
    return withUsage(chatMessage(object(choice['message']), text(choice['finish_reason']) || null), answer['usage'], answer['error'])
  }
  if (dialect === 'responses')
    return withUsage(responsesOutput(list(answer['output']), text(answer['status']) || null), answer['usage'], answer['error'])
  return withUsage(messagesContent(list(answer['content']), text(answer['stop_reason']) || null), answer['usage'], answer['error'])
}

const chatMessage = (message: Loose, finish: string | null): Answer => ({
  ...NO_ANSWER,
  text: text(message['content']),
  reasoning: text(message['reasoning']),
  calls: list(message['tool_calls']).map((call) => {
    const { name, arguments: input } = object(object(call)['function'])
    return { id: text(object(call)['id']), name: text(name), input: text(input) }
  }),
  finish,
  turns: [message],
})

const responsesOutput = (output: readonly unknown[], finish: string | null): Answer => {
  let answer: Answer = { ...NO_ANSWER, finish, turns: output }
  for (const item of output.map(object)) {
    const parts = list(item['content'])
      .map((part) => text(object(part)['text']))
      .join('')
    if (item['type'] === 'message') answer = { ...answer, text: answer.text + parts }
    else if (item['type'] === 'reasoning') {
      answer = {
        ...answer,
        reasoning:
          answer.reasoning +
          parts +
          list(item['summary'])
            .map((part) => text(object(part)['text']))
            .join('\n'),
      }
    } else if (item['type'] === 'function_call') {
      answer = {
        ...answer,
        calls: [...answer.calls, { id: text(item['call_id']), name: text(item['name']), input: text(item['arguments']) }],
      }
    }
  }
  return answer
}

const messagesContent = (content: readonly unknown[], finish: string | null): Answer => {
  let answer: Answer = { ...NO_ANSWER, finish, turns: [{ role: 'assistant', content }] }
  for (const block of content.map(object)) {
    if (block['type'] === 'text') answer = { ...answer, text: answer.text + text(block['text']) }
    else if (block['type'] === 'thinking') answer = { ...answer, reasoning: answer.reasoning + text(block['thinking']) }
    else if (block['type'] === 'tool_use') {
      answer = {
        ...answer,
        calls: [...answer.calls, { id: text(block['id']), name: text(block['name']), input: JSON.stringify(block['input'] ?? {}) }],
      }
    }
  }
  return answer
}

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

/** Reads one event after the other; each call returns the whole answer so far. */
export const createStreamReader = (dialect: PresetShape): ((data: string) => Answer) => {
  let answer = NO_ANSWER
  const calls: { id: string; name: string; input: string }[] = []
  /** By the index of the block (Messages) or of the item (Responses). */
  const callAt = new Map<number, number>()
  const callFor = (index: number, named: { id: string; name: string }): void => {
    callAt.set(index, calls.length)
    calls.push({ ...named, input: '' })
  }
  const extend = (index: number, piece: string): void => {
    const call = calls[callAt.get(index) ?? -1]
    if (call !== undefined) call.input += piece
  }
  const chat = (chunk: Loose): void => {
    const choice =
      list(chunk['choices'])
        .map(object)
        .find(({ index }) => (number(index) ?? 0) === 0) ?? {}
    const delta = object(choice['delta'])
    answer = {
      ...answer,
      text: answer.text + text(delta['content']),
      reasoning: answer.reasoning + text(delta['reasoning']),
      finish: text(choice['finish_reason']) || answer.finish,
    }
    for (const call of list(delta['tool_calls']).map(object)) {
      const index = number(call['index']) ?? 0
      const { name, arguments: input } = object(call['function'])
      if (!callAt.has(index)) callFor(index, { id: text(call['id']), name: text(name) })
      extend(index, text(input))
    }
    if (chunk['usage'] !== undefined || chunk['error'] !== undefined) answer = withUsage(answer, chunk['usage'], chunk['error'])
  }
  const responses = (event: Loose): void => {
    const kind = text(event['type'])
    if (kind === 'response.output_text.delta') answer = { ...answer, text: answer.text + text(event['delta']) }
    else if (/^response\.reasoning\w*\.delta$/.test(kind)) answer = { ...answer, reasoning: answer.reasoning + text(event['delta']) }
    else if (/^response\.(?:completed|incomplete|failed)$/.test(kind)) answer = readWhole('responses', event['response'])
    else if (kind === 'error') answer = { ...answer, fault: text(event['message']) || text(object(event['error'])['message']) }
  }
  /** The blocks of Messages by their index, as the next request must send them: thinking with its signature, searches, citations. */
  const blocks = new Map<number, Loose>()
  const messages = (event: Loose): void => {
    const index = number(event['index']) ?? 0
    const delta = object(event['delta'])
    const block = object(event['content_block'])
    if (event['type'] === 'content_block_start') blocks.set(index, block)
    else if (event['type'] === 'content_block_delta') blocks.set(index, grown(blocks.get(index) ?? {}, delta))
    if (block['type'] === 'tool_use') callFor(index, { id: text(block['id']), name: text(block['name']) })
    answer = {
      ...answer,
      text: answer.text + text(delta['text']),
      reasoning: answer.reasoning + text(delta['thinking']),
      finish: text(delta['stop_reason']) || answer.finish,
    }
    extend(index, text(delta['partial_json']))
    answer = withUsage(withUsage(answer, object(event['message'])['usage'], undefined), event['usage'], event['error'])
  }
  const readers = { chat, responses, messages }
  return (data) => {
    if (data !== '[DONE]') readers[dialect](object(JSON.parse(data)))
    return answer.turns.length > 0 ? answer : { ...answer, calls: [...calls], turns: turnsOf(dialect, answer, calls, [...blocks.values()]) }
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

/** The assembled message, as the next request must send it. */
const turnsOf = (
  dialect: PresetShape,
  { text: said }: Answer,
  calls: readonly ToolCall[],
  blocks: readonly Loose[],
): readonly unknown[] => {
  if (dialect === 'messages') return [{ role: 'assistant', content: sentBlocks(blocks) }]
  if (dialect === 'responses') return []
  const named = calls.map(({ id, name, input }) => ({ id, type: 'function', function: { name, arguments: input } }))
  return [{ role: 'assistant', content: said === '' ? null : said, ...(named.length === 0 ? {} : { tool_calls: named }) }]
}

const parsed = (json: string): unknown => {
  try {
    return JSON.parse(json || '{}')
  } catch {
    return {}
  }
}
