import { frames, HEAD, streamed } from '../../../test/support/answers.ts'
import type { ModelEvent } from '../../canonical/event.ts'
import type { AnswerHead, StreamRenderer } from '../format.ts'
import { inWholeTexts } from '../with-texts.ts'
import { openStream as openWritten } from './render-stream.ts'

export const openStream = (head: AnswerHead): StreamRenderer => inWholeTexts(openWritten(head))

export const ENVELOPE = '{"id":"gen-abc123","object":"chat.completion.chunk","created":1700000000,"model":"acme/one","provider":"Acme",'
export const USAGE =
  '{"prompt_tokens":17,"completion_tokens":8,"total_tokens":25,' +
  '"prompt_tokens_details":{"cached_tokens":4,"cache_write_tokens":3,"audio_tokens":0},' +
  '"completion_tokens_details":{"reasoning_tokens":3,"audio_tokens":0,"image_tokens":0},' +
  '"cost":0.0015,"is_byok":false,"cost_details":{"upstream_inference_cost":0.0012,' +
  '"upstream_inference_prompt_cost":0.0002,"upstream_inference_completions_cost":0.001}}'

export const delta = (members: string): string => `data: ${ENVELOPE}"choices":[{"index":0,"delta":{${members}},"finish_reason":null}]}\n\n`
export const ended = (reason: string, native = 'null', members = ''): string =>
  `data: ${ENVELOPE}"choices":[{"index":0,"delta":{${members}},"finish_reason":"${reason}","native_finish_reason":${native}}]}\n\n`
export const details = (...each: readonly string[]): string => `"reasoning_details":[${each.map((members) => `{${members}}`).join(',')}]`
export const UNPROVEN = details('"type":"reasoning.text","text":"","format":"unknown","index":0')
export const LAST = `data: ${ENVELOPE}"choices":[],"usage":${USAGE}}\n\ndata: [DONE]\n\n`

export const render = (...events: readonly ModelEvent[]): string => streamed(openStream(HEAD), frames(...events))
