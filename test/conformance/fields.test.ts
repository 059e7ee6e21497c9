/**
 * Checks the table of request fields (src/providers/losses/loss-table.ts, docs/translation.md) against what is really sent: nothing is lost
 * silently.
 */
import { describe, expect, test } from 'bun:test'

import { CLIENT_DIALECTS, type ClientDialect } from '../../src/canonical/call.ts'
import { SETTING_SAMPLES } from '../../src/canonical/setting-samples.test-kit.ts'
import { fieldOutcomes } from '../../src/providers/losses/loss-table.ts'
import type { RequestField } from '../../src/request-fields/field.ts'
import { REQUEST_FIELDS, settingFields } from '../../src/request-fields/request-fields.ts'
import { recording, UPSTREAM_DIALECTS, type UpstreamDialect } from '../support/recordings.ts'
import { MODEL, question, replay } from '../support/replay.ts'

/** Models that support as much of their dialect as any. */
const MODELS: Readonly<Record<UpstreamDialect, string>> = {
  'openai-chat': 'local-model',
  'openai-responses': 'gpt-5.4',
  anthropic: 'claude-opus-4-6',
  google: 'gemini-3-flash',
  bedrock: 'anthropic.claude-sonnet-4-5-20250929-v1:0',
}

const IN_ALL = {
  models: [MODEL],
  provider: { allow_fallbacks: true },
  route: 'fallback',
  plugins: [],
  session_id: 's-1',
  strict: false,
  sandbox: { tokens: 3 },
  api_base: 'http://elsewhere.test',
  base_url: 'http://elsewhere.test',
  api_key: 'k',
  user_config: { model_list: [] },
  extra_headers: { authorization: 'k' },
  extra_body: { model: 'other' },
  context_window_fallbacks: [{ one: ['other'] }],
  content_policy_fallbacks: [{ one: ['other'] }],
  router_settings_override: { fallbacks: [{ one: ['other'] }] },
  custom_llm_provider: 'other',
  litellm_credential_name: 'other',
  trace: { trace_id: 't-1' },
  stop_server_tools_when: [{ type: 'step_count_is', step_count: 1 }],
  // More than the tools of the request, so that those are not withheld.
  deferred_tools: { profile: 'universal', protocol: 'v1', validation: 'runtime', search: { type: 'bm25' }, min_deferred_tools: 99 },
}
const IN_OPENAI = {
  prompt_cache_retention: '24h',
  moderation: { model: 'omni-moderation-latest' },
  reasoning: { effort: 'high' },
  debug: { echo_upstream_body: true },
}

/** The fields that only express a setting. */
const settingSamples = (client: ClientDialect): Readonly<Record<string, unknown>> =>
  Object.fromEntries([...settingFields(client)].flatMap(([name, fields]) => fields.map((field) => [field, SETTING_SAMPLES[name]])))

/** A value with an effect for each field. */
const SAMPLES: Readonly<Record<ClientDialect, Readonly<Record<string, unknown>>>> = {
  chat: {
    ...settingSamples('chat'),
    ...IN_ALL,
    ...IN_OPENAI,
    messages: [{ role: 'user', content: 'Another question' }],
    tools: [{ type: 'function', function: { name: 'other', parameters: { type: 'object', properties: {} } } }],
    tool_choice: 'required',
    stream_options: { include_usage: false },
    max_tokens: 77,
    best_of: 2,
    functions: [{ name: 'old', parameters: { type: 'object', properties: {} } }],
    function_call: { name: 'get_weather' },
    response_format: {
      type: 'json_schema',
      json_schema: { name: 'a', schema: { type: 'object', properties: {}, additionalProperties: false } },
    },
    structured_outputs: true,
    reasoning_effort: 'high',
    include_reasoning: false,
    max_tool_calls: 3,
    transforms: ['middle-out'],
    usage: { include: true },
    previous_response_id: 'resp_1',
    prompt: { id: 'p' },
  },
  responses: {
    ...settingSamples('responses'),
    ...IN_ALL,
    ...IN_OPENAI,
    input: 'Another question',
    instructions: 'Be brief.',
    tools: [{ type: 'function', name: 'other', parameters: { type: 'object', properties: {} } }],
    tool_choice: 'required',
    stream_options: { include_obfuscation: false },
    text: {
      format: { type: 'json_schema', name: 'a', schema: { type: 'object', properties: {}, additionalProperties: false } },
      verbosity: 'low',
    },
    include: ['file_search_call.results', 'message.output_text.logprobs'],
    context_management: [{ type: 'compaction', compact_threshold: 100_000 }],
    image: { context_compression: 'enabled' },
    access_programs: { cyber: 'standard' },
    max_tool_calls: 3,
    store: false,
    background: true,
    previous_response_id: 'resp_1',
    conversation: 'conv_1',
    prompt: { id: 'p' },
  },
  messages: {
    ...settingSamples('messages'),
    ...IN_ALL,
    messages: [{ role: 'user', content: 'Another question' }],
    system: 'Be brief.',
    tools: [{ name: 'other', input_schema: { type: 'object', properties: {} } }],
    tool_choice: { type: 'any', disable_parallel_tool_use: true },
    fallbacks: [{ model: MODEL }],
    max_tokens: 77,
    max_tool_calls: 3,
    thinking: { type: 'enabled', budget_tokens: 2048 },
    output_config: {
      effort: 'high',
      format: { type: 'json_schema', schema: { type: 'object', properties: {}, additionalProperties: false } },
    },
    speed: 'fast',
    output_format: { type: 'json_schema', schema: { type: 'object', properties: {}, additionalProperties: false } },
    metadata: { user_id: 'user-9' },
    compaction: { type: 'summarize' },
    inference_geo: 'us',
    thread: { type: 'create' },
    context_management: { edits: [{ type: 'clear_tool_uses_20250919' }] },
    safeguards: [{ type: 'x' }],
    container: { skills: [{ type: 'anthropic', skill_id: 'pptx' }] },
    mcp_servers: [{ type: 'url', url: 'https://mcp.example', name: 'x' }],
    previous_response_id: 'resp_1',
    prompt: { id: 'p' },
  },
}

/** Covered by other tests: `model` and `stream` are in every request, and a preset needs a storage. */
const ELSEWHERE: ReadonlySet<string> = new Set(['model', 'stream', 'preset'])

/**
 * Fields that some vendors of the dialect accept, but not the unknown server that these tests use; and Google's search, which cannot be
 * combined with the functions in the request.
 */
const BY_VENDOR: ReadonlySet<string> = new Set(['cache_control', 'web_search_options'])

/** They ask for the default behaviour: nothing is stored, usage is reported, and thinking that nobody asked for is not shown. */
const SAYS_NOTHING: ReadonlySet<string> = new Set(['store', 'stream_options', 'include_reasoning'])

interface Sent {
  /** The status of the response, or of the error in its body. */
  readonly status: number
  readonly body: Record<string, unknown> | null
  readonly warned: readonly string[]
}

const send = async (client: ClientDialect, dialect: UpstreamDialect, more: Readonly<Record<string, unknown>>): Promise<Sent> => {
  const reply = { type: 'application/json', pieces: [recording(dialect, 'length', false).bytes] } as const
  const { status, sent, text } = await replay({
    client,
    upstreams: [{ dialect, reply, model: MODELS[dialect] }],
    body: { ...question(client, false), ...(client === 'messages' ? { max_tokens: 5000 } : {}), ...more },
    // A tier is passed on only if its price is known.
    priorityPrices: { prompt: 2, completion: 4 },
    headers: { 'x-service-metadata': 'enabled' },
  }).catch((error: { status?: number }) => ({ status: error.status ?? 0, sent: [], text: '{}' }))
  const answer = JSON.parse(text) as {
    error?: { code?: number | 'invalid_prompt' } | null
    service_metadata?: { warnings?: { field: string }[] }
  }
  const code = answer.error?.code
  return {
    status: code === 'invalid_prompt' ? 400 : (code ?? status),
    body: sent[0] === undefined ? null : (JSON.parse(sent[0].body) as Record<string, unknown>),
    warned: (answer.service_metadata?.warnings ?? []).map(({ field }) => field),
  }
}

const names = (warned: readonly string[], field: string): boolean =>
  warned.some((path) => path === field || path.startsWith(`${field}.`) || path.startsWith(`${field}[`))

for (const client of CLIENT_DIALECTS) {
  test(`${client}: every field of the interface has a sample here`, () => {
    const fields = Object.keys(REQUEST_FIELDS[client])
    expect(fields.filter((field) => !(field in SAMPLES[client]) && !ELSEWHERE.has(field))).toEqual([])
  })

  for (const dialect of UPSTREAM_DIALECTS) {
    describe(`${client} → ${dialect}`, () => {
      for (const [field, value] of Object.entries(SAMPLES[client])) {
        const outcomes = fieldOutcomes(client, field, dialect)
        test(`${field}: ${outcomes.join(', ')}`, async () => {
          const [plain, { status, body, warned }] = await Promise.all([
            send(client, dialect, {}),
            send(client, dialect, { [field]: value }),
          ])
          expect(plain.warned).toEqual([])
          if (outcomes.includes('refused')) {
            expect(body).toBeNull()
            expect(status).toBe(400)
            return
          }
          if (outcomes.includes('bytes')) {
            expect(body?.[field]).toEqual(value)
            expect(warned).toEqual([])
          } else if (outcomes.includes('service')) {
            expect(body).toEqual(plain.body)
            const row: RequestField | undefined = REQUEST_FIELDS[client][field]
            expect(warned).toEqual(row?.warning === undefined ? [] : [field])
          } else {
            const reported = names(warned, field)
            // The field is reported, or it changed what is sent: nothing is lost silently.
            if (!SAYS_NOTHING.has(field)) expect(reported || JSON.stringify(body) !== JSON.stringify(plain.body)).toBe(true)
            if (outcomes.includes('dropped')) expect(reported).toBe(true)
            else if (!SAYS_NOTHING.has(field) && !BY_VENDOR.has(field)) expect(body).not.toEqual(plain.body)
            if (outcomes.every((outcome) => outcome === 'dropped')) expect(body).toEqual(plain.body)
            if (outcomes.every((outcome) => outcome === 'kept')) expect(warned).toEqual([])
          }
        })
      }
    })
  }
}
