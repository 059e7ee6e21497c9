/** An answer whose parts the client's dialect cannot express is never silently an empty success. */
import { describe, expect, test } from 'bun:test'

import { CLIENT_DIALECTS } from '../../src/canonical/call.ts'
import { readStream, streamEvents } from '../support/client-stream.ts'
import type { UpstreamDialect } from '../support/recordings.ts'
import { OWN_DIALECT, question, replay, type Reply } from '../support/replay.ts'
import { chunk, reported, USAGE, whole } from '../support/upstream-replies.ts'

const usage = { input_tokens: 3, output_tokens: 2 }
const SEARCHED = { type: 'file_search_call', id: 'fs_1', status: 'completed', queries: ['x'], results: null }
const RESPONSE = { id: 'resp_1', object: 'response', created_at: 1, model: 'm', status: 'completed', output: [SEARCHED], usage: null }
const MESSAGE = { id: 'm', type: 'message', role: 'assistant', model: 'm', content: [], stop_reason: null, stop_sequence: null, usage }
const UPLOAD = { type: 'container_upload', file_id: 'file_1' }
const CODE = {
  candidates: [{ content: { role: 'model', parts: [{ executableCode: { language: 'PYTHON', code: '1' } }] }, finishReason: 'STOP' }],
}
const SOUND = [{ type: 'audio_url', audio_url: { url: 'https://a.example/a.mp3' } }]

/** Answers that consist only of parts specific to the provider, in each dialect, streamed and whole. */
const ONLY: readonly (readonly [UpstreamDialect, kind: string, stream: Reply, whole: Reply])[] = [
  [
    'openai-responses',
    'file_search_call',
    reported(
      'openai-responses',
      { type: 'response.created', response: { ...RESPONSE, status: 'in_progress', output: [] }, sequence_number: 0 },
      { type: 'response.output_item.added', output_index: 0, item: SEARCHED, sequence_number: 1 },
      { type: 'response.output_item.done', output_index: 0, item: SEARCHED, sequence_number: 2 },
      { type: 'response.completed', response: RESPONSE, sequence_number: 3 },
    ),
    whole(RESPONSE),
  ],
  [
    'anthropic',
    'container_upload',
    reported(
      'anthropic',
      { type: 'message_start', message: MESSAGE },
      { type: 'content_block_start', index: 0, content_block: UPLOAD },
      { type: 'content_block_stop', index: 0 },
      { type: 'message_delta', delta: { stop_reason: 'end_turn', stop_sequence: null }, usage },
      { type: 'message_stop' },
    ),
    whole({ ...MESSAGE, content: [UPLOAD], stop_reason: 'end_turn' }),
  ],
  ['google', 'executableCode', reported('google', CODE), whole(CODE)],
  [
    'openai-chat',
    'audio_url',
    reported('openai-chat', chunk({ role: 'assistant', content: SOUND }), chunk({}, 'stop')),
    whole({
      id: 'c',
      object: 'chat.completion',
      created: 1,
      model: 'm',
      choices: [{ index: 0, message: { role: 'assistant', content: SOUND }, finish_reason: 'stop' }],
      usage: USAGE,
    }),
  ],
]

const METADATA = { 'x-service-metadata': 'enabled' }

for (const [dialect, kind, streamed, atOnce] of ONLY) {
  describe(`${dialect}: ${kind}`, () => {
    for (const client of CLIENT_DIALECTS.filter((each) => OWN_DIALECT[each] !== dialect)) {
      test.each([true, false])(`${client}: the answer warns of it, stream: %p`, async (stream) => {
        const upstreams = [{ dialect, reply: stream ? streamed : atOnce }]
        const { headers, text } = await replay({ client, upstreams, body: question(client, stream), headers: METADATA })
        expect(headers.get('x-service-warnings')).toBe('1')
        if (stream) expect(readStream(client, text)).toEqual({ end: 'normal', faults: [] })
        const last = stream ? streamEvents(text).at(-1)?.data : JSON.parse(text)
        const metadata = last.service_metadata ?? last.response?.service_metadata
        expect(metadata.warnings).toEqual([
          {
            code: 'untranslated_output',
            field: 'output',
            message: `The answer holds a part of type ${kind}, which could not be translated; it was left out.`,
          },
        ])
      })

      test(`${client}: a strict request gets the answer too: it is too late to refuse it`, async () => {
        const { text } = await replay({
          client,
          upstreams: [{ dialect, reply: atOnce }],
          body: { ...question(client, false), strict: true },
        })
        expect((JSON.parse(text) as { error?: unknown }).error ?? null).toBeNull()
      })
    }
  })
}
