/** One answer, told by an upstream of any dialect: what fast-check draws, and the events that say it. */
import * as fc from 'fast-check'

import { streamBytes, type UpstreamDialect } from './recordings.ts'

export interface ReportedAnswer {
  /** Pieces of text. */
  readonly text: readonly string[]
  readonly thinking: readonly string[]
  readonly calls: readonly { readonly id: string; readonly name: string; readonly args: Readonly<Record<string, unknown>> }[]
  readonly stop: 'end' | 'length'
  readonly input: number
  readonly output: number
  /** Where the pieces of JSON are cut. */
  readonly cut: number
}

const piece = fc.string({ unit: 'binary', minLength: 1, maxLength: 8 }).filter((text) => text.isWellFormed())

export const reportedAnswers: fc.Arbitrary<ReportedAnswer> = fc
  .record({
    text: fc.array(piece, { maxLength: 5 }),
    thinking: fc.array(piece, { maxLength: 3 }),
    calls: fc.array(fc.dictionary(fc.string({ maxLength: 5 }), fc.jsonValue({ maxDepth: 2 }), { maxKeys: 3 }), { maxLength: 3 }),
    stop: fc.constantFrom('end', 'length'),
    input: fc.integer({ min: 1, max: 10_000 }),
    output: fc.integer({ min: 1, max: 10_000 }),
    cut: fc.nat(40),
  })
  .map(({ calls, text, ...rest }) => ({
    ...rest,
    // Something is said: an empty answer is a failure of its own.
    text: text.length === 0 && calls.length === 0 ? ['x'] : text,
    // As JSON brings it: `__proto__` and -0 are not what is tested here.
    calls: calls.map((args, index) => ({
      id: `call_${index}`,
      name: `tool_${index}`,
      args: JSON.parse(JSON.stringify(args)) as Record<string, unknown>,
    })),
  }))

/** The stream of bytes with which an upstream says it. */
export const reportedBytes = (dialect: UpstreamDialect, answer: ReportedAnswer): Uint8Array =>
  streamBytes(
    dialect,
    TELL[dialect](answer).map((event) => JSON.stringify(event)),
  )

const pieces = (json: string, cut: number): string[] => [json.slice(0, cut), json.slice(cut)].filter((part) => part !== '')
const ending = (answer: ReportedAnswer, words: { end: string; length: string; calls: string }): string =>
  answer.stop === 'length' ? words.length : answer.calls.length > 0 ? words.calls : words.end

type Tell = (answer: ReportedAnswer) => unknown[]

const chat: Tell = (answer) => {
  const chunk = (delta: unknown, finish: string | null = null): object => ({
    id: 'chatcmpl-p',
    object: 'chat.completion.chunk',
    created: 1,
    model: 'm',
    choices: [{ index: 0, delta, finish_reason: finish }],
  })
  const { input, output } = answer
  return [
    chunk({ role: 'assistant', content: null }),
    ...answer.thinking.map((reasoning_content) => chunk({ reasoning_content })),
    ...answer.text.map((content) => chunk({ content })),
    ...answer.calls.flatMap(({ id, name, args }, index) => [
      chunk({ tool_calls: [{ index, id, type: 'function', function: { name, arguments: '' } }] }),
      ...pieces(JSON.stringify(args), answer.cut).map((json) => chunk({ tool_calls: [{ index, function: { arguments: json } }] })),
    ]),
    chunk({}, ending(answer, { end: 'stop', length: 'length', calls: 'tool_calls' })),
    { ...chunk({}), choices: [], usage: { prompt_tokens: input, completion_tokens: output, total_tokens: input + output } },
  ]
}

const messages: Tell = (answer) => {
  const blocks: { start: unknown; deltas: unknown[] }[] = []
  if (answer.thinking.length > 0)
    blocks.push({
      start: { type: 'thinking', thinking: '', signature: '' },
      deltas: [
        ...answer.thinking.map((thinking) => ({ type: 'thinking_delta', thinking })),
        { type: 'signature_delta', signature: 'c2ln' },
      ],
    })
  if (answer.text.length > 0)
    blocks.push({ start: { type: 'text', text: '' }, deltas: answer.text.map((text) => ({ type: 'text_delta', text })) })
  for (const { id, name, args } of answer.calls)
    blocks.push({
      start: { type: 'tool_use', id, name, input: {} },
      deltas: pieces(JSON.stringify(args), answer.cut).map((partial_json) => ({ type: 'input_json_delta', partial_json })),
    })
  const stop = ending(answer, { end: 'end_turn', length: 'max_tokens', calls: 'tool_use' })
  const usage = { input_tokens: answer.input, output_tokens: 0 }
  return [
    {
      type: 'message_start',
      message: { id: 'msg_p', type: 'message', role: 'assistant', model: 'm', content: [], stop_reason: null, stop_sequence: null, usage },
    },
    ...blocks.flatMap(({ start, deltas }, index) => [
      { type: 'content_block_start', index, content_block: start },
      ...deltas.map((delta) => ({ type: 'content_block_delta', index, delta })),
      { type: 'content_block_stop', index },
    ]),
    { type: 'message_delta', delta: { stop_reason: stop, stop_sequence: null }, usage: { output_tokens: answer.output } },
    { type: 'message_stop' },
  ]
}

const responses: Tell = (answer) => {
  const output: Record<string, unknown>[] = []
  const events: Record<string, unknown>[] = []
  const open = (item: Record<string, unknown>, started: object, between: (at: object) => object[]): void => {
    const output_index = output.length
    output.push(item)
    const at = { item_id: item['id'], output_index }
    events.push({ type: 'response.output_item.added', output_index, item: { ...item, ...started } })
    for (const event of between(at)) events.push({ ...event })
    events.push({ type: 'response.output_item.done', output_index, item })
  }
  if (answer.thinking.length > 0) {
    const text = answer.thinking.join('')
    open({ id: 'rs_0', type: 'reasoning', summary: [{ type: 'summary_text', text }] }, { summary: [] }, (at) => [
      { type: 'response.reasoning_summary_part.added', ...at, summary_index: 0, part: { type: 'summary_text', text: '' } },
      ...answer.thinking.map((delta) => ({ type: 'response.reasoning_summary_text.delta', ...at, summary_index: 0, delta })),
      { type: 'response.reasoning_summary_text.done', ...at, summary_index: 0, text },
      { type: 'response.reasoning_summary_part.done', ...at, summary_index: 0, part: { type: 'summary_text', text } },
    ])
  }
  if (answer.text.length > 0) {
    const part = { type: 'output_text', text: answer.text.join(''), annotations: [], logprobs: [] }
    open(
      { id: 'msg_0', type: 'message', role: 'assistant', status: 'completed', content: [part] },
      { status: 'in_progress', content: [] },
      (at) => [
        { type: 'response.content_part.added', ...at, content_index: 0, part: { ...part, text: '' } },
        ...answer.text.map((delta) => ({ type: 'response.output_text.delta', ...at, content_index: 0, delta, logprobs: [] })),
        { type: 'response.output_text.done', ...at, content_index: 0, text: part.text, logprobs: [] },
        { type: 'response.content_part.done', ...at, content_index: 0, part },
      ],
    )
  }
  for (const { id, name, args } of answer.calls) {
    const json = JSON.stringify(args)
    open(
      { id: `fc_${id}`, type: 'function_call', status: 'completed', call_id: id, name, arguments: json },
      { status: 'in_progress', arguments: '' },
      (at) => [
        ...pieces(json, answer.cut).map((delta) => ({ type: 'response.function_call_arguments.delta', ...at, delta })),
        { type: 'response.function_call_arguments.done', ...at, name, arguments: json },
      ],
    )
  }
  const status = answer.stop === 'length' ? 'incomplete' : 'completed'
  const response = (more: object): object => ({
    id: 'resp_p',
    object: 'response',
    created_at: 1,
    model: 'm',
    output: [],
    usage: null,
    ...more,
  })
  const { input, output: out } = answer
  const usage = {
    input_tokens: input,
    input_tokens_details: { cached_tokens: 0 },
    output_tokens: out,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: input + out,
  }
  const incomplete_details = answer.stop === 'length' ? { reason: 'max_output_tokens' } : null
  const all: object[] = [
    { type: 'response.created', response: response({ status: 'in_progress' }) },
    { type: 'response.in_progress', response: response({ status: 'in_progress' }) },
    ...events,
    { type: `response.${status}`, response: response({ status, incomplete_details, output, usage }) },
  ]
  return all.map((event, sequence_number) => ({ ...event, sequence_number }))
}

const google: Tell = (answer) => {
  const chunk = (parts: readonly unknown[], more: object = {}): object => ({
    candidates: [{ content: { parts, role: 'model' }, index: 0, ...more }],
    usageMetadata: { promptTokenCount: answer.input, candidatesTokenCount: answer.output, totalTokenCount: answer.input + answer.output },
    modelVersion: 'm',
    responseId: 'r',
  })
  return [
    ...answer.thinking.map((text) => chunk([{ text, thought: true }])),
    ...answer.text.map((text) => chunk([{ text }])),
    ...answer.calls.map(({ id, name, args }) => chunk([{ functionCall: { id, name, args } }])),
    chunk([{ text: '' }], { finishReason: answer.stop === 'length' ? 'MAX_TOKENS' : 'STOP' }),
  ]
}

const bedrock: Tell = (answer) => {
  const blocks: { start?: unknown; deltas: unknown[] }[] = []
  if (answer.thinking.length > 0) blocks.push({ deltas: answer.thinking.map((text) => ({ reasoningContent: { text } })) })
  if (answer.text.length > 0) blocks.push({ deltas: answer.text.map((text) => ({ text })) })
  for (const { id, name, args } of answer.calls)
    blocks.push({
      start: { toolUse: { toolUseId: id, name } },
      deltas: pieces(JSON.stringify(args), answer.cut).map((input) => ({ toolUse: { input } })),
    })
  const { input: inputTokens, output: outputTokens } = answer
  return [
    { messageStart: { role: 'assistant' } },
    ...blocks.flatMap(({ start, deltas }, contentBlockIndex) => [
      ...(start === undefined ? [] : [{ contentBlockStart: { contentBlockIndex, start } }]),
      ...deltas.map((delta) => ({ contentBlockDelta: { contentBlockIndex, delta } })),
      { contentBlockStop: { contentBlockIndex } },
    ]),
    { messageStop: { stopReason: ending(answer, { end: 'end_turn', length: 'max_tokens', calls: 'tool_use' }) } },
    { metadata: { usage: { inputTokens, outputTokens, totalTokens: inputTokens + outputTokens }, metrics: { latencyMs: 1 } } },
  ]
}

const TELL: Readonly<Record<UpstreamDialect, Tell>> = {
  'openai-chat': chat,
  'openai-responses': responses,
  anthropic: messages,
  google,
  bedrock,
}
