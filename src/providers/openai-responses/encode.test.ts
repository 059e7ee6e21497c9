import { describe, expect, test } from 'bun:test'

import type { Call } from '../../canonical/call.ts'
import type { Message, Part, Prompt } from '../../canonical/prompt.ts'
import { sealProof, type ReasoningProof } from '../../canonical/reasoning.ts'
import type { Settings, SettingValues } from '../../canonical/settings.ts'
import type { Warning } from '../../canonical/warning.ts'
import { JsonBody } from '../../lib/json-body.ts'
import type { JsonObject } from '../../lib/json.ts'
import { SETTING_FATES } from '../loss-table.ts'
import type { Attempt, Target } from '../provider.ts'
import { SERVICE_FIELDS } from '../service-fields.ts'
import { encodePrompt, encodeResponsesRequest } from './encode.ts'

const target = (upstreamModel = 'gpt-5.4'): Target => ({
  provider: 'openai',
  providerName: 'OpenAI',
  baseUrl: 'https://openai.example/v1',
  apiKey: 'k',
  modelId: 'openai/gpt-5.4',
  upstreamModel,
  maxCompletionTokens: null,
})

const promptOf = (more: Partial<Prompt>): Prompt => ({
  messages: [],
  tools: [],
  toolChoice: { type: 'auto' },
  outputFormat: { type: 'text' },
  settings: {},
  otherFields: [],
  ...more,
})

interface Encoded {
  readonly sent: JsonObject
  readonly text: string
  readonly warnings: readonly Warning[]
  /** The fields of the warnings. */
  readonly lost: readonly string[]
}

const send = (call: Pick<Call, 'dialect' | 'body' | 'stream' | 'prompt'>, model?: string): Encoded => {
  const warnings: Warning[] = []
  const attempt: Attempt = {
    call: { models: [], maxOutputTokens: null, sessionId: null, user: null, passHeaders: {}, ...call },
    target: target(model),
    number: 0,
    warn: (warning) => warnings.push(warning),
    connection: new AbortController(),
  }
  const text = encodeResponsesRequest(attempt)
  return { sent: JSON.parse(text) as JsonObject, text, warnings, lost: warnings.map(({ field }) => field) }
}

const encode = (more: Partial<Prompt>, { model, stream = false }: { model?: string; stream?: boolean } = {}): Encoded =>
  send({ dialect: 'chat', body: JsonBody.read('{}'), stream, prompt: () => promptOf(more) }, model)

const set = <Name extends keyof SettingValues>(name: Name, value: SettingValues[Name], field: string = name): Settings =>
  ({ [name]: { value, field } }) as Settings

const user = (...parts: readonly Part[]): Message => ({ role: 'user', parts, at: 'messages[0]' })
const assistant = (...parts: readonly Part[]): Message => ({ role: 'assistant', parts, at: 'messages[1]' })
const text = (said: string): Part => ({ type: 'text', text: said })

const proof: ReasoningProof = { format: 'openai-responses-v1', kind: 'encrypted', data: 'gAAA+/=', id: 'rs_1' }

describe('a translated request', () => {
  test('names the model, streams as asked, and is never stored', () => {
    expect(encode({ messages: [user(text('Hi'))] }, { stream: true }).sent).toEqual({
      model: 'gpt-5.4',
      input: [{ type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Hi' }] }],
      include: ['reasoning.encrypted_content'],
      stream: true,
      store: false,
    })
  })

  test('keeps a whole tool loop in its order: thinking before what it led to, results as they came', () => {
    const { sent, warnings } = encode({
      messages: [
        { role: 'system', parts: [text('Be brief.')] },
        { role: 'developer', parts: [text('Use metric units.')] },
        user(text('Weather?'), { type: 'image', url: 'https://example.com/a.png' }),
        assistant(
          { type: 'reasoning', text: 'Two cities.', summary: true, proof },
          text('Looking.'),
          { type: 'tool-call', id: 'call_1', name: 'weather', arguments: '{"city":"Oslo"}' },
          { type: 'tool-call', id: 'call_2', name: 'weather', arguments: '{"city": "Rome"}' },
        ),
        user(
          { type: 'tool-result', callId: 'call_1', text: '3 °C' },
          {
            type: 'tool-result',
            callId: 'call_2',
            text: '',
            media: [{ type: 'image', url: 'data:image/png;base64,AA==', detail: 'high' }],
          },
          text('And now?'),
        ),
        { role: 'system', parts: [text('Hurry.')] },
      ],
    })
    expect(warnings).toEqual([])
    expect(sent['instructions']).toBe('Be brief.')
    expect(sent['input']).toEqual([
      { type: 'message', role: 'developer', content: [{ type: 'input_text', text: 'Use metric units.' }] },
      {
        type: 'message',
        role: 'user',
        content: [
          { type: 'input_text', text: 'Weather?' },
          { type: 'input_image', image_url: 'https://example.com/a.png', detail: 'auto' },
        ],
      },
      { type: 'reasoning', id: 'rs_1', summary: [{ type: 'summary_text', text: 'Two cities.' }], encrypted_content: 'gAAA+/=' },
      { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Looking.' }] },
      { type: 'function_call', call_id: 'call_1', name: 'weather', arguments: '{"city":"Oslo"}' },
      { type: 'function_call', call_id: 'call_2', name: 'weather', arguments: '{"city": "Rome"}' },
      { type: 'function_call_output', call_id: 'call_1', output: '3 °C' },
      {
        type: 'function_call_output',
        call_id: 'call_2',
        output: [{ type: 'input_image', image_url: 'data:image/png;base64,AA==', detail: 'high' }],
      },
      { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'And now?' }] },
      { type: 'message', role: 'system', content: [{ type: 'input_text', text: 'Hurry.' }] },
    ])
  })

  test.each<[string, readonly Message[]]>([
    ['stands alone', [{ role: 'system', parts: [text('a')] }]],
    ['has a name', [{ role: 'system', parts: [text('a')], name: 'ops' }, user(text('b'))]],
    ['has several parts', [{ role: 'system', parts: [text('a'), text('b')] }, user(text('c'))]],
    ['is a developer’s', [{ role: 'developer', parts: [text('a')] }, user(text('b'))]],
    ['comes later', [user(text('b')), { role: 'system', parts: [text('a')] }]],
  ])('keeps a system message as an item where it %s', (_, messages) => {
    const { sent } = encode({ messages })
    expect(sent['instructions']).toBeUndefined()
    expect((sent['input'] as readonly unknown[]).length).toBe(messages.length)
  })

  test.each<[string, Part, JsonObject]>([
    ['a refusal', { type: 'refusal', text: 'No.' }, { type: 'refusal', refusal: 'No.' }],
    [
      'text with its sources',
      { type: 'text', text: 'x', annotations: [{ url: 'https://a.example', title: null, content: null, start: 0, end: 1 }] },
      {
        type: 'output_text',
        text: 'x',
        annotations: [{ type: 'url_citation', url: 'https://a.example', title: '', start_index: 0, end_index: 1 }],
      },
    ],
  ])('says %s as the assistant', (_, part, content) => {
    expect(encode({ messages: [assistant(part)] }).sent['input']).toEqual([{ type: 'message', role: 'assistant', content: [content] }])
  })

  test.each<[string, Part & { type: 'file' }, JsonObject]>([
    [
      'data under its name',
      { type: 'file', url: 'data:text/plain;base64,AA==', filename: 'a.txt' },
      { type: 'input_file', filename: 'a.txt', file_data: 'data:text/plain;base64,AA==' },
    ],
    [
      'data without a name under one of its kind',
      { type: 'file', url: 'data:application/pdf;base64,AA==', filename: null },
      { type: 'input_file', filename: 'file.pdf', file_data: 'data:application/pdf;base64,AA==' },
    ],
    [
      'an address without a name beside it',
      { type: 'file', url: 'https://a.example/a.pdf', filename: 'a.pdf' },
      { type: 'input_file', file_url: 'https://a.example/a.pdf' },
    ],
  ])('sends a file: %s', (_, part, content) => {
    expect(encode({ messages: [user(part)] }).sent['input']).toEqual([{ type: 'message', role: 'user', content: [content] }])
  })

  test('shortens the id of a call that is too long, alike in the call and its result', () => {
    const id = `toolu_${'x'.repeat(80)}`
    const [call, result] = encode({
      messages: [assistant({ type: 'tool-call', id, name: 'f', arguments: '{}' }), user({ type: 'tool-result', callId: id, text: '' })],
    }).sent['input'] as readonly JsonObject[]
    expect(call?.['call_id']).toMatch(/^call_[0-9a-f]{59}$/)
    expect(result).toEqual({ type: 'function_call_output', call_id: call?.['call_id'] ?? null, output: '' })
  })

  test.each<[string, Part, string]>([
    ['audio', { type: 'audio', data: 'AA==', format: 'wav' }, 'messages[0]'],
    ['video', { type: 'video', url: 'https://a.example/v.mp4' }, 'messages[0]'],
    ['an unknown part', { type: 'unknown', kind: 'hologram', at: 'messages[0].content[1]' }, 'messages[0].content[1]'],
  ])('tells of %s that it cannot carry', (_, part, field) => {
    const { sent, lost } = encode({ messages: [user(text('a'), part)] })
    expect(lost).toEqual([field])
    expect(sent['input']).toEqual([{ type: 'message', role: 'user', content: [{ type: 'input_text', text: 'a' }] }])
  })

  test('tells of names, failed tools and pictures that the assistant made', () => {
    const { lost } = encode({
      messages: [
        { ...user(text('a')), name: 'Ann' },
        assistant({ type: 'image', url: 'data:image/png;base64,AA==' }),
        { ...user({ type: 'tool-result', callId: 'c', text: 'boom', isError: true }), at: 'messages[2]' },
      ],
    })
    expect(lost).toEqual(['messages[0].name', 'messages[1]', 'messages[2]'])
  })

  test('marks the cache where the model knows marks, else tells of them once', () => {
    const messages = [user({ ...text('a'), cache: {} } as Part, { ...text('b'), cache: { ttl: '1h' } } as Part)]
    expect(encode({ messages }).lost).toEqual(['messages[0]'])
    const { sent, lost } = encode({ messages }, { model: 'gpt-5.6-sol' })
    expect(lost).toEqual([])
    expect(JSON.stringify(sent['input'])).toContain('{"type":"input_text","text":"a","prompt_cache_breakpoint":{"mode":"explicit"}}')
  })
})

describe('thinking', () => {
  const turn = (thought: Partial<ReasoningProof> | null): readonly Message[] => [
    assistant({ type: 'reasoning', text: 'Hm.', ...(thought === null ? {} : { proof: { ...proof, ...thought } }) }, text('Yes.')),
    user(text('Sure?')),
  ]

  test.each<[string, Partial<ReasoningProof> | null, string]>([
    ['of another provider', { format: 'anthropic-claude-v1', kind: 'signature' }, 'gpt-5.4'],
    ['of another model', { model: 'openai/gpt-5' }, 'gpt-5.4'],
    ['without a proof', null, 'gpt-5.4'],
    ['for a model that does not think', {}, 'gpt-4.1'],
  ])('%s is left out, with a warning, and its text goes nowhere', (_, thought, model) => {
    const { text, lost } = encode({ messages: turn(thought) }, { model })
    expect(lost).toEqual(['messages[1]'])
    expect(text).not.toContain('Hm.')
    expect(text).not.toContain('gAAA')
  })

  test.each<[string, Partial<ReasoningProof>, unknown]>([
    ['of the same model goes back byte by byte', { model: 'openai/gpt-5.4' }, 'rs_1'],
    ['goes back without an id that the provider would refuse', { id: `rs_${'x'.repeat(400)}` }, undefined],
  ])('%s', (_, thought, id) => {
    const { sent, lost } = encode({ messages: turn(thought) })
    const [item] = sent['input'] as readonly JsonObject[]
    expect(lost).toEqual([])
    expect([item?.['id'], item?.['encrypted_content']]).toEqual([id, 'gAAA+/='])
  })

  test('that led to nothing in its turn is left out, with a warning', () => {
    const { sent, lost } = encode({ messages: [assistant({ type: 'reasoning', text: '', proof }), user(text('Go on.'))] })
    expect(lost).toEqual(['messages[1]'])
    expect(sent['input']).toEqual([{ type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Go on.' }] }])
  })

  test.each<[string, Partial<Prompt>, boolean]>([
    ['o3', {}, true],
    ['openai/gpt-5-mini', {}, true],
    ['gpt-4o', {}, false],
    ['ft:gpt-4.1:acme', { settings: set('reasoning', { effort: 'high' }) }, false],
    ['gpt-5-chat-latest', {}, false],
    ['local-model', {}, false],
    ['local-model', { settings: set('reasoning', { effort: 'high' }) }, true],
    ['local-model', { settings: set('reasoning', { enabled: false }) }, false],
    ['local-model', { messages: turn({}) }, true],
  ])('of %s given %j is asked for in encrypted form: %p', (model, prompt, asked) => {
    expect(encode(prompt, { model }).sent['include']).toEqual(asked ? ['reasoning.encrypted_content'] : (undefined as never))
  })

  test.each<[string, SettingValues['reasoning'], JsonObject | undefined, Warning['code'][]]>([
    ['gpt-5.4', { effort: 'high' }, { effort: 'high' }, []],
    ['gpt-5.4', { effort: 'xhigh', summary: 'detailed' }, { effort: 'xhigh', summary: 'detailed' }, []],
    ['gpt-5.4', { enabled: true }, { effort: 'medium', summary: 'auto' }, []],
    ['gpt-5.4', { enabled: true, exclude: true }, { effort: 'medium' }, []],
    ['o3', { enabled: true }, { summary: 'auto' }, []],
    ['o3', { exclude: true }, undefined, []],
    ['gpt-5.4', { maxTokens: 1024 }, { effort: 'low', summary: 'auto' }, ['mapped_field']],
    ['gpt-5.4', { maxTokens: 4096 }, { effort: 'medium', summary: 'auto' }, ['mapped_field']],
    ['gpt-5.4', { maxTokens: 32_000, exclude: true }, { effort: 'high' }, ['mapped_field']],
    ['gpt-5.4', { maxTokens: 1024, effort: 'high' }, { effort: 'high', summary: 'auto' }, []],
    ['gpt-5.4', { enabled: false }, { effort: 'none' }, []],
    ['gpt-5.4', { maxTokens: 0 }, { effort: 'none' }, []],
    ['gpt-5', { enabled: false }, { effort: 'minimal' }, ['mapped_field']],
    ['gpt-5.3-codex', { effort: 'none' }, { effort: 'low' }, ['mapped_field']],
    ['o4-mini', { enabled: false }, { effort: 'low' }, ['mapped_field']],
    ['gpt-4o', { enabled: false }, undefined, []],
    ['gpt-4o', { effort: 'low' }, undefined, ['unsupported_field']],
  ])('on %s, %j is asked for as %j', (model, reasoning, sent, codes) => {
    const encoded = encode({ settings: set('reasoning', reasoning) }, { model })
    expect(encoded.sent['reasoning']).toEqual(sent as never)
    expect(encoded.warnings.map(({ code }) => code)).toEqual(codes)
  })
})

describe('settings', () => {
  const EVERY: SettingValues = {
    temperature: 0,
    topP: 0.5,
    topK: 1,
    topA: 1,
    minP: 0,
    frequencyPenalty: 0,
    presencePenalty: 0,
    repetitionPenalty: 1,
    seed: 1,
    maxOutputTokens: 100,
    stop: ['x'],
    logitBias: {},
    logprobs: true,
    topLogprobs: 0,
    candidates: 1,
    reasoning: { effort: 'low' },
    verbosity: 'low',
    serviceTier: 'flex',
    user: 'u',
    metadata: { a: 'b' },
    parallelToolCalls: false,
    outputModalities: ['text'],
    audioOutput: {},
    prediction: {},
    promptCacheKey: 'k',
    cacheControl: {},
    truncation: 'auto',
    include: ['file_search_call.results'],
    contextManagement: {},
    webSearchOptions: {},
    safeguards: [],
    imageConfig: {},
    promptCacheOptions: { mode: 'explicit' },
  }

  test('that the loss table keeps or maps are read, and no others', () => {
    const read = new Set<string>()
    const prompt = promptOf({})
    encodePrompt(
      {
        prompt,
        lose: () => undefined,
        setting: (name) => {
          read.add(name)
          return EVERY[name]
        },
      },
      { target: target(), warn: () => undefined },
    )
    const carried = Object.entries(SETTING_FATES).flatMap(([name, fates]) =>
      ['kept', 'mapped'].includes(fates['openai-responses']) ? [name] : [],
    )
    expect([...read].toSorted()).toEqual(carried.toSorted())
  })

  test('arrive under the names of the dialect, zero and empty ones too', () => {
    const { candidates: _, ...others } = EVERY
    const settings = Object.fromEntries(Object.entries(others).map(([name, value]) => [name, { value, field: name }])) as Settings
    const { sent, lost } = encode({ settings })
    expect(sent).toEqual({
      model: 'gpt-5.4',
      input: [],
      tools: [{ type: 'web_search' }],
      temperature: 0,
      top_p: 0.5,
      max_output_tokens: 100,
      top_logprobs: 0,
      reasoning: { effort: 'low' },
      text: { verbosity: 'low' },
      include: ['file_search_call.results', 'reasoning.encrypted_content', 'message.output_text.logprobs'],
      parallel_tool_calls: false,
      service_tier: 'flex',
      metadata: { a: 'b' },
      safety_identifier: 'u',
      prompt_cache_key: 'k',
      prompt_cache_options: { mode: 'explicit' },
      truncation: 'auto',
      stream: false,
      store: false,
    })
    expect(lost).toContain('stop')
  })

  test('400: more than one answer', () => {
    expect(() => encode({ settings: set('candidates', 2, 'n') })).toThrow(/^n: OpenAI/)
  })

  test.each<[Settings, JsonObject, string[]]>([
    [set('maxOutputTokens', 1, 'max_tokens'), { max_output_tokens: 16 }, ['mapped_field max_tokens']],
    [set('maxOutputTokens', 16, 'max_tokens'), { max_output_tokens: 16 }, []],
    [set('verbosity', 'max'), { text: { verbosity: 'high' } }, ['mapped_field verbosity']],
    [set('serviceTier', 'fast', 'speed'), { service_tier: 'priority' }, ['mapped_field speed']],
    [set('user', 'u'.repeat(64)), { safety_identifier: 'u'.repeat(64) }, []],
    [set('user', 'u'.repeat(65)), { user: 'u'.repeat(65) }, []],
    [
      set('metadata', { a: 'b', c: 1, d: 'x'.repeat(513) }),
      { metadata: { a: 'b' } },
      ['unsupported_field metadata.c', 'unsupported_field metadata.d'],
    ],
    [set('topLogprobs', 3), { top_logprobs: 3, include: ['message.output_text.logprobs'] }, []],
  ])('%j becomes %j', (settings, expected, told) => {
    const { sent, warnings } = encode({ settings }, { model: 'gpt-4.1' })
    const { model: _, input: __, stream: ___, store: ____, ...others } = sent
    expect(others).toEqual(expected)
    expect(warnings.map(({ code, field }) => `${code} ${field}`)).toEqual(told)
  })

  test('what has no word in the middle is told', () => {
    expect(encode({ otherFields: ['functions'] }).lost).toEqual(['functions'])
  })

  test.each<[Prompt['outputFormat'], JsonObject | undefined]>([
    [{ type: 'text' }, undefined],
    [{ type: 'json' }, { format: { type: 'json_object' } }],
    [
      { type: 'json-schema', name: 'a', schema: { type: 'object' } },
      { format: { type: 'json_schema', name: 'a', schema: { type: 'object' } } },
    ],
    [
      { type: 'json-schema', name: 'a', schema: {}, strict: false, description: 'd' },
      { format: { type: 'json_schema', name: 'a', description: 'd', schema: {}, strict: false } },
    ],
  ])('the format %j is %j', (outputFormat, expected) => {
    expect(encode({ outputFormat }).sent['text']).toEqual(expected as never)
  })
})

describe('tools', () => {
  test('are never made strict by silence', () => {
    const { sent } = encode({
      tools: [
        { type: 'function', name: 'a', description: null, parameters: { type: 'object' } },
        { type: 'function', name: 'b', description: 'B', parameters: {}, strict: true },
      ],
    })
    expect(sent['tools']).toEqual([
      { type: 'function', name: 'a', parameters: { type: 'object' }, strict: false },
      { type: 'function', name: 'b', description: 'B', parameters: {}, strict: true },
    ])
  })

  test.each<[Prompt['toolChoice'], unknown]>([
    [{ type: 'auto' }, undefined],
    [{ type: 'none' }, 'none'],
    [{ type: 'required' }, 'required'],
    [
      { type: 'tool', name: 'f' },
      { type: 'function', name: 'f' },
    ],
  ])('the choice %j is %j', (toolChoice, expected) => {
    const { sent } = encode({ toolChoice, tools: [{ type: 'function', name: 'f', description: null, parameters: {} }] })
    expect(sent['tool_choice']).toEqual(expected as never)
  })

  test.each<[string, unknown, JsonObject, string[]]>([
    [
      'web_search_20250305',
      {
        type: 'web_search_20250305',
        name: 'web_search',
        max_uses: 3,
        allowed_domains: ['a.example'],
        user_location: { type: 'approximate', city: 'Oslo', country: null },
      },
      { type: 'web_search', filters: { allowed_domains: ['a.example'] }, user_location: { type: 'approximate', city: 'Oslo' } },
      ['tools[0].max_uses'],
    ],
    [
      'service:web_search',
      { type: 'service:web_search', parameters: { search_context_size: 'high', engine: 'exa' } },
      { type: 'web_search', search_context_size: 'high' },
      ['tools[0].parameters.engine'],
    ],
    ['web_search_preview', { type: 'web_search_preview' }, { type: 'web_search' }, []],
  ])('the web search %s is this provider’s', (kind, raw, expected, told) => {
    const { sent, lost } = encode({ tools: [{ type: 'provider', kind, at: 'tools[0]', raw }] })
    expect([sent['tools'], lost]).toEqual([[expected], told])
  })

  test.each(['bash_20250124', 'service:datetime', 'service:web_fetch', 'custom'])('%s is told as lost', (kind) => {
    const { sent, lost } = encode({ tools: [{ type: 'provider', kind, at: 'tools[0]', raw: {} }] })
    expect([sent['tools'], lost]).toEqual([undefined as never, ['tools[0]']])
  })

  test('the place of a search is read as chat wraps it', () => {
    const options = { search_context_size: 'low', user_location: { type: 'approximate', approximate: { city: 'Bonn' } } }
    expect(encode({ settings: set('webSearchOptions', options) }).sent['tools']).toEqual([
      { type: 'web_search', search_context_size: 'low', user_location: { type: 'approximate', city: 'Bonn' } },
    ])
  })
})

describe('a request of the same dialect', () => {
  const own = (json: string, model?: string): Encoded => {
    const body = JsonBody.read(json)
    const prompt = (): Prompt => {
      throw new Error('It is not to be parsed.')
    }
    return send({ dialect: 'responses', body, stream: body.get('stream') === true, prompt }, model)
  }

  test.each<[string, string, string]>([
    [
      'keeps every other byte: order, white space, number forms, escapes, unknown fields',
      '{ "temperature":1.0 ,"model": "a/b","x":{"a" :[1e2 ]}, "input" : [ {"role":"user", "content":"H\\u0069"} ], "stream":true, "store":false }',
      '{ "temperature":1.0 ,"model": "gpt-5.4","x":{"a" :[1e2 ]}, "input" : [ {"role":"user", "content":"H\\u0069"} ], "stream":true, "store":false }',
    ],
    ['is never stored', '{"model":"a/b","input":"Hi"}', '{"model":"gpt-5.4","input":"Hi","stream":false,"store":false}'],
    [
      'loses what addresses this service',
      '{"model":"a/b","models":["c/d"],"input":"Hi","provider":{},"stream":false,"store":false}',
      '{"model":"gpt-5.4","input":"Hi","stream":false,"store":false}',
    ],
    [
      'asks for nothing more in the answer',
      '{"model":"a/b","input":"Hi","stream":false,"store":false,"include":[]}',
      '{"model":"gpt-5.4","input":"Hi","stream":false,"store":false,"include":[]}',
    ],
    [
      'keeps the dialect’s own reasoning',
      '{"model":"a/b","stream":false,"store":false,"reasoning":{ "effort":"low","context":"auto" }}',
      '{"model":"gpt-5.4","stream":false,"store":false,"reasoning":{ "effort":"low","context":"auto" }}',
    ],
    [
      'says our members of reasoning in the dialect’s words',
      '{"model":"a/b","stream":false,"store":false,"reasoning":{"max_tokens":2000,"context":"auto"}}',
      '{"model":"gpt-5.4","stream":false,"store":false,"reasoning":{"context":"auto","effort":"low","summary":"auto"}}',
    ],
  ])('%s', (_, given, sent) => {
    expect(own(given).text).toBe(sent)
  })

  test('no field of the service ever leaves', () => {
    const body = `{"model":"a/b","stream":false,"store":false,${SERVICE_FIELDS.map((name) => `"${name}":1`).join(',')}}`
    expect(Object.keys(own(body).sent)).toEqual(['model', 'stream', 'store'])
  })

  const history = (...items: readonly object[]): string =>
    JSON.stringify({ model: 'a/b', input: [...items, { role: 'user', content: 'Hi' }], stream: false, store: false })

  test.each<[string, object, string | undefined]>([
    [
      'sealed by another provider',
      { type: 'reasoning', id: 'rs_9', summary: [], encrypted_content: sealProof({ ...proof, format: 'google-gemini-v1' }) },
      undefined,
    ],
    [
      'sealed by another model',
      { type: 'reasoning', id: 'rs_9', summary: [], encrypted_content: sealProof({ ...proof, model: 'openai/o3' }) },
      undefined,
    ],
    [
      'in full, which this model never shows',
      { type: 'reasoning', id: 'rs_9', summary: [], content: [{ type: 'reasoning_text', text: 'Hm.' }] },
      undefined,
    ],
  ])('loses thinking %s, with a warning', (_, item) => {
    const { sent, lost } = own(history({ role: 'user', content: 'a' }, item))
    expect(lost).toEqual(['input[1]'])
    expect(sent['input']).toEqual([
      { role: 'user', content: 'a' },
      { role: 'user', content: 'Hi' },
    ])
  })

  test('opens a seal of this provider’s own thinking', () => {
    const { sent, lost } = own(history({ type: 'reasoning', id: 'rs_9', summary: [], encrypted_content: sealProof(proof) }))
    expect(lost).toEqual([])
    expect((sent['input'] as readonly unknown[])[0]).toEqual({ type: 'reasoning', summary: [], id: 'rs_1', encrypted_content: 'gAAA+/=' })
  })

  test.each<[string, object, string]>([
    ['its own encrypted thinking', { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'gAAA' }, 'gpt-5.4'],
    ['what only begins like a seal', { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'pb1.x' }, 'gpt-5.4'],
    [
      'thinking in full for a model that may show it',
      { type: 'reasoning', id: 'rs_1', summary: [], content: [{ type: 'reasoning_text', text: 'Hm.' }] },
      'local-model',
    ],
  ])('keeps %s byte by byte', (_, item, model) => {
    const given = history(item)
    expect(own(given, model).text).toBe(given.replace('"a/b"', JSON.stringify(model)))
  })
})
