/** Answers of the fake upstream in the Messages dialect: the texts and counts of answers.ts. */
import { CONTENT_EVENTS, PROMPT_TOKENS, STREAM_PIECES, WHOLE_TEXT, WHOLE_TOKENS } from './answers.ts'

export const WHOLE_MESSAGES_MARKERS = ['end-of-answer', '"stop_reason":"end_turn"', `"output_tokens":${WHOLE_TOKENS}`]
export const STREAM_MESSAGES_MARKERS = [
  'end-of-answer',
  '"stop_reason":"end_turn"',
  `"output_tokens":${CONTENT_EVENTS}`,
  'event: message_stop',
]

const HEAD = { id: 'msg_bench0123456789abcdefghijk', type: 'message', role: 'assistant', model: 'bench-messages' }

const usage = (outputTokens: number) => ({
  input_tokens: PROMPT_TOKENS,
  cache_creation_input_tokens: 0,
  cache_read_input_tokens: 0,
  cache_creation: { ephemeral_5m_input_tokens: 0, ephemeral_1h_input_tokens: 0 },
  output_tokens: outputTokens,
  service_tier: 'standard',
})

/** The body of the answer without streaming. */
export const wholeMessage = (): string =>
  JSON.stringify({
    ...HEAD,
    content: [{ type: 'text', text: WHOLE_TEXT }],
    stop_reason: 'end_turn',
    stop_sequence: null,
    usage: usage(WHOLE_TOKENS),
  })

/** 35 events, each with its name and its blank line: the 30 of content, and the five that the dialect puts around them. */
export const messageEvents = (): string[] =>
  [
    { type: 'message_start', message: { ...HEAD, content: [], stop_reason: null, stop_sequence: null, usage: usage(1) } },
    { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
    ...STREAM_PIECES.map((text) => ({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } })),
    { type: 'content_block_stop', index: 0 },
    { type: 'message_delta', delta: { stop_reason: 'end_turn', stop_sequence: null }, usage: { output_tokens: CONTENT_EVENTS } },
    { type: 'message_stop' },
  ].map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)
