/**
 * Checks the table of parts, tools and formats (src/providers/losses/loss-table.ts, docs/translation.md) against what is really sent: nothing is
 * lost silently.
 */
import { describe, expect, test } from 'bun:test'

import type { ClientDialect } from '../../src/canonical/call.ts'
import { sealProof, type ReasoningFormat } from '../../src/canonical/reasoning.ts'
import { PART_OUTCOMES } from '../../src/providers/losses/loss-table.ts'
import { recording, UPSTREAM_DIALECTS, type UpstreamDialect } from '../support/recordings.ts'
import { MODEL, OWN_DIALECT, replay } from '../support/replay.ts'

/** A model of each dialect that supports as much of it as any. */
const MODELS: Readonly<Record<UpstreamDialect, string>> = {
  'openai-chat': 'gpt-4.1',
  'openai-responses': 'gpt-5.4',
  anthropic: 'claude-sonnet-4-5',
  google: 'gemini-3-flash',
  bedrock: 'anthropic.claude-sonnet-4-5-20250929-v1:0',
}

/** Models of Bedrock that support what Claude does not. */
const OTHER_MODELS: Readonly<Partial<Record<string, string>>> = {
  audio: 'amazon.nova-2-omni-v1:0',
  'video as data': 'amazon.nova-2-omni-v1:0',
}

const PNG = 'iVBORw0KGgo='
const URL = 'https://a.example'
const user = (...content: readonly object[]): object => ({ role: 'user', content })
const asked = { role: 'user', content: 'Hi' }

interface Case {
  readonly client: ClientDialect
  readonly body: object
  /** The text to look for in the upstream's request, unless it is lost. */
  readonly mark: string
}

const inChat = (mark: string, body: object): Case => ({ client: 'chat', mark, body })
const inResponses = (mark: string, body: object): Case => ({ client: 'responses', mark, body })
const inMessages = (mark: string, body: object): Case => ({ client: 'messages', mark, body: { max_tokens: 5000, ...body } })
const ofUser = (mark: string, part: object): Case[] => [inChat(mark, { messages: [user({ type: 'text', text: 'Hi' }, part)] })]

/** A turn that called `look`, its result, and further contents of its messages. */
const looked = (mark: string, result: object, more: object = {}): Case =>
  inMessages(mark, {
    messages: [
      asked,
      { role: 'assistant', content: [{ type: 'tool_use', id: 'toolu_1', name: 'look', input: { at: 'Oslo-7' } }] },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'toolu_1', content: 'fog', ...result }] },
    ],
    tools: [{ name: 'look', input_schema: { type: 'object', properties: {} } }],
    ...more,
  })

const FORMATS: Readonly<Partial<Record<UpstreamDialect, ReasoningFormat>>> = {
  'openai-responses': 'openai-responses-v1',
  anthropic: 'anthropic-claude-v1',
  google: 'google-gemini-v1',
  bedrock: 'anthropic-claude-v1',
}

/** From a Responses client, whose field takes the proofs of all formats. */
const thought = (format: ReasoningFormat): Case =>
  inResponses('cHJvb2Y', {
    input: [
      asked,
      {
        type: 'reasoning',
        id: 'rs_1',
        summary: [{ type: 'summary_text', text: 'Hm.' }],
        encrypted_content: sealProof({
          format,
          kind: format === 'openai-responses-v1' ? 'encrypted' : 'signature',
          data: 'cHJvb2Y',
          text: 'Hm.',
          model: MODEL,
        }),
      },
      { role: 'assistant', content: 'So.' },
      asked,
    ],
  })

const SCHEMA = { type: 'object', properties: { weather_7: { type: 'string' } }, required: ['weather_7'], additionalProperties: false }
const site = { url: `${URL}/source`, title: 'A', start_index: 0, end_index: 2 }

/** If the dialect has no setting for JSON, the prompt asks the model for it. */
const jsonWord = (dialect: UpstreamDialect): string => (dialect === 'anthropic' || dialect === 'bedrock' ? 'one JSON object' : 'json')

const CASES: Readonly<Record<string, (dialect: UpstreamDialect) => readonly Case[]>> = {
  text: () => [
    inChat('Grüezi', { messages: [user({ type: 'text', text: 'Grüezi' })] }),
    inMessages('Grüezi', { messages: [{ role: 'user', content: 'Grüezi' }] }),
  ],
  'system message between turns': () => [
    inChat('Be brief', { messages: [asked, { role: 'assistant', content: 'Yes?' }, { role: 'system', content: 'Be brief' }, asked] }),
  ],
  'name of a speaker': () => [inChat('Ann-7', { messages: [{ ...asked, name: 'Ann-7' }] })],
  'image as data': () => [
    ...ofUser(PNG, { type: 'image_url', image_url: { url: `data:image/png;base64,${PNG}` } }),
    inMessages(PNG, { messages: [user({ type: 'image', source: { type: 'base64', media_type: 'image/png', data: PNG } })] }),
    inResponses(PNG, { input: [user({ type: 'input_image', image_url: `data:image/png;base64,${PNG}` })] }),
  ],
  'image by its URL': () => [
    ...ofUser(`${URL}/i.png`, { type: 'image_url', image_url: { url: `${URL}/i.png` } }),
    inMessages(`${URL}/i.png`, {
      messages: [user({ type: 'text', text: 'Hi' }, { type: 'image', source: { type: 'url', url: `${URL}/i.png` } })],
    }),
    inResponses(`${URL}/i.png`, { input: [user({ type: 'input_text', text: 'Hi' }, { type: 'input_image', image_url: `${URL}/i.png` })] }),
  ],
  'file as data': () => [
    ...ofUser('JVBERi0=', { type: 'file', file: { file_data: 'data:application/pdf;base64,JVBERi0=' } }),
    inMessages('JVBERi0=', {
      messages: [user({ type: 'document', source: { type: 'base64', media_type: 'application/pdf', data: 'JVBERi0=' } })],
    }),
    inResponses('JVBERi0=', { input: [user({ type: 'input_file', file_data: 'JVBERi0=' })] }),
  ],
  'file by its URL': (dialect) =>
    // OpenAI's own Chat Completions takes only inline data; other vendors of the dialect take URLs too.
    [
      inMessages(`${URL}/a.pdf`, {
        messages: [user({ type: 'text', text: 'Hi' }, { type: 'document', source: { type: 'url', url: `${URL}/a.pdf` } })],
      }),
      ...(dialect === 'openai-responses'
        ? []
        : [
            inResponses(`${URL}/a.pdf`, {
              input: [user({ type: 'input_text', text: 'Hi' }, { type: 'input_file', file_url: `${URL}/a.pdf` })],
            }),
          ]),
    ],
  'name of a file': () => [
    ...ofUser('Report-7', { type: 'file', file: { file_data: 'data:application/pdf;base64,JVBERi0=', filename: 'Report-7.pdf' } }),
    inMessages('Report-7', {
      messages: [
        user({ type: 'document', title: 'Report-7', source: { type: 'base64', media_type: 'application/pdf', data: 'JVBERi0=' } }),
      ],
    }),
    inResponses('Report-7', { input: [user({ type: 'input_file', file_data: 'JVBERi0=', filename: 'Report-7.pdf' })] }),
  ],
  audio: () => [
    ...ofUser('UklGRg==', { type: 'input_audio', input_audio: { data: 'UklGRg==', format: 'wav' } }),
    inResponses('UklGRg==', {
      input: [user({ type: 'input_text', text: 'Hi' }, { type: 'input_audio', input_audio: { data: 'UklGRg==', format: 'wav' } })],
    }),
  ],
  'video as data': () => [
    ...ofUser('AAAAIGZ0', { type: 'video_url', video_url: { url: 'data:video/mp4;base64,AAAAIGZ0' } }),
    inResponses('AAAAIGZ0', {
      input: [user({ type: 'input_text', text: 'Hi' }, { type: 'input_video', video_url: 'data:video/mp4;base64,AAAAIGZ0' })],
    }),
  ],
  refusal: () => [
    inChat('I will not', { messages: [asked, { role: 'assistant', content: null, refusal: 'I will not' }, asked] }),
    inResponses('I will not', { input: [asked, { role: 'assistant', content: [{ type: 'refusal', refusal: 'I will not' }] }, asked] }),
  ],
  'sources of an earlier answer': () => [
    inChat(`${URL}/source`, {
      messages: [asked, { role: 'assistant', content: 'It rains.', annotations: [{ type: 'url_citation', url_citation: site }] }, asked],
    }),
    inResponses(`${URL}/source`, {
      input: [
        asked,
        { role: 'assistant', content: [{ type: 'output_text', text: 'It rains.', annotations: [{ type: 'url_citation', ...site }] }] },
        asked,
      ],
    }),
  ],
  'thinking of the same model': (dialect) => [thought(FORMATS[dialect] ?? 'anthropic-claude-v1')],
  "another model's thinking": (dialect) => [thought(FORMATS[dialect] === 'google-gemini-v1' ? 'anthropic-claude-v1' : 'google-gemini-v1')],
  'tool call and its result': () => [looked('Oslo-7', {}), looked('fog', {})],
  'picture from a tool': () => [
    looked(PNG, {
      content: [
        { type: 'text', text: 'fog' },
        { type: 'image', source: { type: 'base64', media_type: 'image/png', data: PNG } },
      ],
    }),
  ],
  'mark of a failed tool': () => [looked('error', { is_error: true })],
  'cache mark': () => [
    inMessages('cache', { messages: [user({ type: 'text', text: 'Hi', cache_control: { type: 'ephemeral' } })] }),
    inChat('cache', { messages: [user({ type: 'text', text: 'Hi', cache_control: { type: 'ephemeral' } })] }),
  ],
  'file by its id': () => [
    inMessages('file_7', {
      messages: [user({ type: 'text', text: 'Hi' }, { type: 'document', source: { type: 'file', file_id: 'file_7' } })],
    }),
    inMessages('file_7', { messages: [user({ type: 'image', source: { type: 'file', file_id: 'file_7' } })] }),
    inResponses('file_7', { input: [user({ type: 'input_text', text: 'Hi' }, { type: 'input_file', file_id: 'file_7' })] }),
    inResponses('file_7', { input: [user({ type: 'input_image', file_id: 'file_7', detail: 'auto' })] }),
    ...ofUser('file_7', { type: 'file', file: { file_id: 'file_7' } }),
  ],
  'part of an unknown type': () => [
    inMessages('hologram', { messages: [user({ type: 'text', text: 'Hi' }, { type: 'hologram', hologram: 'x' })] }),
    inResponses('hologram', { input: [user({ type: 'input_text', text: 'Hi' }, { type: 'hologram', hologram: 'x' })] }),
  ],
  'function tool': () => [
    inChat('look_7', { messages: [asked], tools: [{ type: 'function', function: { name: 'look_7', parameters: SCHEMA } }] }),
    inMessages('look_7', { messages: [asked], tools: [{ name: 'look_7', input_schema: SCHEMA }] }),
    inResponses('look_7', { input: 'Hi', tools: [{ type: 'function', name: 'look_7', parameters: SCHEMA, strict: false }] }),
  ],
  'custom tool': () => [
    inChat('patch_7', { messages: [asked], tools: [{ type: 'custom', custom: { name: 'patch_7' } }] }),
    inResponses('patch_7', { input: 'Hi', tools: [{ type: 'custom', name: 'patch_7' }] }),
  ],
  'web search tool': (dialect) => [
    inResponses(dialect === 'google' ? 'googleSearch' : 'web_search', { input: 'Hi', tools: [{ type: 'web_search' }] }),
    inMessages(dialect === 'google' ? 'googleSearch' : 'web_search', {
      messages: [asked],
      tools: [{ type: 'web_search_20250305', name: 'web_search' }],
    }),
  ],
  'tool that vendors alone have': () => [
    inResponses('code_interpreter', { input: 'Hi', tools: [{ type: 'code_interpreter', container: { type: 'auto' } }] }),
    inMessages('text_editor', { messages: [asked], tools: [{ type: 'text_editor_20250124', name: 'str_replace_editor' }] }),
  ],
  'tool of an unknown type': () => [
    inResponses('hologram', { input: 'Hi', tools: [{ type: 'hologram' }] }),
    inMessages('hologram', { messages: [asked], tools: [{ type: 'hologram_20990101', name: 'hologram' }] }),
  ],
  'JSON without a schema': (dialect) => [
    inChat(jsonWord(dialect), { messages: [asked], response_format: { type: 'json_object' } }),
    inResponses(jsonWord(dialect), { input: 'Hi', text: { format: { type: 'json_object' } } }),
  ],
  'JSON with a schema': () => [
    inChat('weather_7', { messages: [asked], response_format: { type: 'json_schema', json_schema: { name: 'a', schema: SCHEMA } } }),
    inMessages('weather_7', { messages: [asked], output_config: { format: { type: 'json_schema', schema: SCHEMA } } }),
    inResponses('weather_7', { input: 'Hi', text: { format: { type: 'json_schema', name: 'a', schema: SCHEMA } } }),
  ],
}

test('every kind of the table is tried here', () => {
  expect(Object.keys(CASES)).toEqual(Object.keys(PART_OUTCOMES))
})

for (const [kind, outcomes] of Object.entries(PART_OUTCOMES)) {
  describe(kind, () => {
    for (const dialect of UPSTREAM_DIALECTS) {
      for (const { client, body, mark } of (CASES[kind]?.(dialect) ?? []).filter((each) => OWN_DIALECT[each.client] !== dialect)) {
        test.each([true, false])(`${client} → ${dialect}: ${outcomes[dialect]}, stream: %p`, async (stream) => {
          const { bytes } = recording(dialect, 'length', stream)
          const reply = { type: stream ? 'text/event-stream' : 'application/json', pieces: [bytes] } as const
          const model = dialect === 'bedrock' ? (OTHER_MODELS[kind] ?? MODELS.bedrock) : MODELS[dialect]
          const asking = replay({ client, upstreams: [{ dialect, reply, model }], body: { model: MODEL, stream, ...body } })
          if (kind === 'tool that vendors alone have') return expect(asking).rejects.toThrow('tools[0]')
          const { status, sent, headers, text } = await asking
          if (outcomes[dialect] === 'refused') {
            expect([status, sent]).toEqual([400, []])
            expect(text).toMatch(/(?:messages|input)\[0\]/)
            return
          }
          if (sent[0] === undefined) throw new Error(`Nothing was sent: ${text}`)
          const warnings = Number(headers.get('x-service-warnings') ?? 0)
          expect(sent[0].body.includes(mark)).toBe(outcomes[dialect] !== 'dropped')
          if (outcomes[dialect] === 'dropped') expect(warnings).toBeGreaterThan(0)
          if (outcomes[dialect] === 'kept') expect(warnings).toBe(0)
        })
      }
    }
  })
}
