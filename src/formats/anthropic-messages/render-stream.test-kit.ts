import { frames, HEAD, streamed } from '../../../test/support/answers.ts'
import type { ModelEvent } from '../../canonical/event.ts'
import type { AnswerHead, StreamRenderer } from '../format.ts'
import { inWholeTexts } from '../with-texts.ts'
import { openStream as openWritten } from './render-stream.ts'

export const openStream = (head: AnswerHead): StreamRenderer => inWholeTexts(openWritten(head))

export const frame = (type: string, members = ''): string => `event: ${type}\ndata: {"type":"${type}"${members}}\n\n`

export const start = (
  input = '7,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"cache_creation":{"ephemeral_5m_input_tokens":0,"ephemeral_1h_input_tokens":0},"output_tokens":0',
): string =>
  frame(
    'message_start',
    ',"message":{"id":"msg_abc123","type":"message","role":"assistant","model":"acme/one","provider":"Acme","content":[],' +
      '"stop_reason":null,"stop_sequence":null,"stop_details":null,"container":null,' +
      `"usage":{"input_tokens":${input},"output_tokens_details":null,"server_tool_use":null,"service_tier":null,"inference_geo":null,"speed":null}}`,
  )

export const COUNTS =
  '10,"cache_creation_input_tokens":3,"cache_read_input_tokens":4,' +
  '"cache_creation":{"ephemeral_5m_input_tokens":2,"ephemeral_1h_input_tokens":1},"output_tokens":8'

const USAGE =
  `{"input_tokens":${COUNTS},"output_tokens_details":{"thinking_tokens":3},"server_tool_use":null,"service_tier":null,"inference_geo":null,` +
  '"speed":null,"cost":0.0015,"is_byok":false,"cost_details":{"upstream_inference_cost":0.0012,' +
  '"upstream_inference_prompt_cost":0.0002,"upstream_inference_completions_cost":0.001}}'

export const end = (reason: string, details = 'null', sequence = 'null'): string =>
  frame(
    'message_delta',
    `,"delta":{"stop_reason":"${reason}","stop_sequence":${sequence},"stop_details":${details},"container":null},"usage":${USAGE}`,
  ) +
  frame('message_stop') +
  'data: [DONE]\n\n'

/** The frames of one block; each piece is given as it is written inside a JSON string. */
const block = (index: number, opening: string, delta: string, pieces: readonly string[]): string =>
  frame('content_block_start', `,"index":${index},"content_block":{${opening}}`) +
  pieces.map((piece) => frame('content_block_delta', `,"index":${index},"delta":{${delta}:"${piece}"}`)).join('') +
  frame('content_block_stop', `,"index":${index}`)
export const textBlock = (index: number, ...pieces: string[]): string =>
  block(index, '"type":"text","text":"","citations":[]', '"type":"text_delta","text"', pieces)
export const textDelta = (index: number, piece: string): string =>
  frame('content_block_delta', `,"index":${index},"delta":{"type":"text_delta","text":"${piece}"}`)
export const stop = (index: number): string => frame('content_block_stop', `,"index":${index}`)
export const thinkingBlock = (index: number, pieces: readonly string[], signed: string): string =>
  block(index, '"type":"thinking","thinking":"","signature":""', '"type":"thinking_delta","thinking"', pieces).replace(
    stop(index),
    signed,
  ) + stop(index)
export const redacted = (index: number, data: string): string => block(index, `"type":"redacted_thinking","data":"${data}"`, '', [])
export const toolBlock = (index: number, id: number, name: string, ...pieces: string[]): string =>
  block(index, `"type":"tool_use","id":"call_${id}","name":"${name}","input":{}`, '"type":"input_json_delta","partial_json"', pieces)

export const render = (...events: readonly ModelEvent[]): string => streamed(openStream(HEAD), frames(...events))
