import { frames, HEAD, streamed } from '../../../test/support/answers.ts'
import type { ModelEvent } from '../../canonical/event.ts'
import type { AnswerHead, StreamRenderer } from '../format.ts'
import { inWholeTexts } from '../with-texts.ts'
import { openStream as openWritten } from './render-stream.ts'

export const openStream = (head: AnswerHead): StreamRenderer => inWholeTexts(openWritten(head))

export const USAGE =
  '{"input_tokens":17,"input_tokens_details":{"cached_tokens":4,"cache_write_tokens":3},"output_tokens":8,' +
  '"output_tokens_details":{"reasoning_tokens":3},"total_tokens":25,"cost":0.0015,"is_byok":false,"cost_details":' +
  '{"upstream_inference_cost":0.0012,"upstream_inference_input_cost":0.0002,"upstream_inference_output_cost":0.001}}'

export interface State {
  error?: string
  details?: string
  output?: string[]
  usage?: string
  more?: string
}

export const response = (status: string, { error = 'null', details = 'null', output = [], usage = USAGE, more = '' }: State = {}): string =>
  '"response":{"id":"resp_abc123","object":"response","created_at":1700000000,' +
  `"completed_at":${status === 'completed' ? 1700000002 : null},"status":"${status}","error":${error},"incomplete_details":${details},"output":[${output.join(',')}],"model":"acme/one",` +
  '"instructions":null,"metadata":null,"parallel_tool_calls":true,"temperature":0.5,"top_p":null,"presence_penalty":null,' +
  '"frequency_penalty":null,"max_output_tokens":null,"max_tool_calls":null,"tool_choice":"auto","reasoning":null,' +
  '"text":{"format":{"type":"text"}},"truncation":"disabled","user":null,"tools":[],"store":false,"background":false,' +
  `"previous_response_id":null,"usage":${usage}${more}}`

/** The frames of a stream from `[type, members]`, numbered from 0 and preceded by the two that begin every stream. */
export const stream = (...events: readonly [string, string][]): string => {
  const begun = response('in_progress', { usage: 'null' })
  const all: [string, string][] = [['response.created', begun], ['response.in_progress', begun], ...events]
  const framesOfAll = all.map(([type, members], at) => `event: ${type}\ndata: {"type":"${type}",${members},"sequence_number":${at}}\n\n`)
  return `${framesOfAll.join('')}data: [DONE]\n\n`
}

export const render = (...events: readonly ModelEvent[]): string => streamed(openStream(HEAD), frames(...events))

export const message = (id: string, status: string, ...parts: string[]): string =>
  `{"type":"message","id":"${id}","role":"assistant","status":"${status}","content":[${parts.join(',')}]}`
export const thinking = (id: string, status: string, { summary = '', content = '', encrypted = '' } = {}): string =>
  `{"type":"reasoning","id":"${id}","status":"${status}","summary":[${summary}],"content":[${content}]` +
  (encrypted === '' ? '}' : `,"encrypted_content":"${encrypted}"}`)
export const textPart = (said: string): string => `{"type":"output_text","text":"${said}","annotations":[],"logprobs":[]}`
export const callItem = (id: string, status: string, index: number, name: string, json: string): string =>
  `{"type":"function_call","id":"${id}","call_id":"call_${index}","name":"${name}","arguments":"${json}","status":"${status}"}`

/** The events of a message with one text that came in pieces. */
export const textItem = (output: number, pieces: readonly string[], status = 'completed'): [string, string][] => {
  const id = `msg_abc123_${output}`
  const place = `"item_id":"${id}","output_index":${output},"content_index":0`
  const said = pieces.join('')
  return [
    ['response.output_item.added', `"output_index":${output},"item":${message(id, 'in_progress')}`],
    ['response.content_part.added', `${place},"part":${textPart('')}`],
    ...pieces.map((piece): [string, string] => ['response.output_text.delta', `${place},"delta":"${piece}","logprobs":[]`]),
    ['response.output_text.done', `${place},"text":"${said}","logprobs":[]`],
    ['response.content_part.done', `${place},"part":${textPart(said)}`],
    ['response.output_item.done', `"output_index":${output},"item":${message(id, status, textPart(said))}`],
  ]
}

/** The events of a tool call whose arguments came in pieces, given as they are written inside a JSON string. */
export const callEvents = (output: number, index: number, name: string, pieces: readonly string[]): [string, string][] => {
  const id = `fc_abc123_${output}`
  const place = `"item_id":"${id}","output_index":${output}`
  return [
    ['response.output_item.added', `"output_index":${output},"item":${callItem(id, 'in_progress', index, name, '')}`],
    ...pieces.map((piece): [string, string] => ['response.function_call_arguments.delta', `${place},"delta":"${piece}"`]),
    ['response.function_call_arguments.done', `${place},"name":"${name}","arguments":"${pieces.join('')}"`],
    ['response.output_item.done', `"output_index":${output},"item":${callItem(id, 'completed', index, name, pieces.join(''))}`],
  ]
}

export const completed = (...output: string[]): [string, string] => ['response.completed', response('completed', { output })]
